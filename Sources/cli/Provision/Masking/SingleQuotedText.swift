internal import CofferClient
internal import CofferSecretFormats

/// A text between the single quotes of a shell, whose own single quotes are written as `'\''` or `'"'"'`.
enum SingleQuotedText {
    private static let forms = [Array(#"'\''"#.utf8), Array(#"'"'"'"#.utf8)]

    /// Whether a text has what is written in another way.
    static func canDiffer(_ text: Secret) -> Bool { text.withBytes { $0.contains([UInt8.apostrophe]) } }

    /// Compares the bytes from a place on with a text.
    static func match(_ wanted: RawSpan, _ bytes: RawSpan, _ start: Int) -> MaskPattern.Match {
        var place = start
        for index in 0..<wanted.byteCount {
            guard place < bytes.byteCount else { return .open }
            guard wanted.byte(at: index) == .apostrophe else {
                guard bytes.byte(at: place) == wanted.byte(at: index) else { return .none }
                place += 1
                continue
            }
            let rest = bytes.byteCount - place
            guard let form = forms.first(where: { bytes.has($0.prefix(rest), atPlace: place) }) else { return .none }
            guard form.count <= rest else { return .open }
            place += form.count
        }
        return MaskPattern.Match(end: place)
    }
}
