internal import CofferCore

/// A first look at opened metadata for a query by parts of texts, which has to scan every item: most do not match, and are
/// not built.
struct MetadataGlance {
    fileprivate struct Condition {
        let code: UInt8
        let part: [UInt8]
        let isPrefix: Bool
    }

    private let conditions: [Condition]

    /// - Returns: `nil` for a query that it can't decide.
    init?(_ query: ItemQuery) {
        conditions =
            query.prefixes.map { Condition(code: $0.key.code, part: Array($0.value.utf8), isPrefix: true) }
            + query.substrings.map { Condition(code: $0.key.code, part: Array($0.value.utf8), isPrefix: false) }
        // An item without an attribute matches an empty part of it.
        if conditions.isEmpty || conditions.contains(where: \.part.isEmpty) { return nil }
    }

    /// Whether metadata is that of an item that does not match.
    ///
    /// - Returns: `false` as well for metadata of an unknown form: decoding it tells what is wrong.
    func rulesOut(_ bytes: RawSpan) -> Bool {
        var cursor = Cursor()
        guard cursor.number(1, in: bytes) == ItemMetadata.version,
            ItemClass(code: UInt8(truncatingIfNeeded: cursor.number(1, in: bytes))) != nil
        else { return false }
        // Whether it is synchronizable.
        cursor.skip(1, in: bytes)
        // The group and the kind, and the limit of former values.
        cursor.skipText(in: bytes)
        cursor.skipText(in: bytes)
        cursor.skip(1, in: bytes)
        // An access control has forms that are no value.
        guard cursor.number(1, in: bytes) == 0 else { return false }
        // The decision.
        cursor.skipText(in: bytes)
        // The dates, the size and the tag of the secret, and the count of moves.
        cursor.skip(2 * 8 + 4 + ItemMetadata.secretTagBytes + 4, in: bytes)
        guard let metCount = conditionsMet(by: bytes, &cursor) else { return false }
        for _ in 0..<2 * cursor.number(1, in: bytes) { cursor.skipText(in: bytes) }
        return cursor.isSound && cursor.place == bytes.byteCount && metCount < conditions.count
    }

    /// The number of conditions that the attributes meet; `nil` if one of them has an unknown form.
    private func conditionsMet(by bytes: RawSpan, _ cursor: inout Cursor) -> Int? {
        var metCount = 0
        var seen: UInt64 = 0
        for _ in 0..<cursor.number(1, in: bytes) {
            let code = UInt8(truncatingIfNeeded: cursor.number(1, in: bytes))
            guard let attribute = KeychainAttribute(code: code), seen & 1 << UInt64(code) == 0 else { return nil }
            seen |= 1 << UInt64(code)
            if attribute.form == .text {
                let text = bytes.extracting(cursor.text(in: bytes))
                for condition in conditions where condition.code == code && condition.isMet(by: text) { metCount += 1 }
            } else {
                let count = cursor.number(2, in: bytes)
                cursor.skip(count, in: bytes)
                switch attribute.form {
                case .bool: if count != 1 { return nil }
                case .integer, .date: if count < 8 { return nil }
                case .bytes, .text: break
                }
            }
        }
        return metCount
    }
}

extension MetadataGlance.Condition {
    func isMet(by text: RawSpan) -> Bool {
        guard part.count <= text.byteCount else { return false }
        let lastStart = isPrefix ? 0 : text.byteCount - part.count
        return (0...lastStart).contains { start in
            part.indices.allSatisfy { part[$0] == text.byte(start + $0) }
        }
    }
}

/// A place in metadata.
///
/// The bytes are an argument, because a span can't be stored.
private struct Cursor {
    private(set) var place = 0
    /// Whether nothing was read behind the end, and all texts are well-formed.
    private(set) var isSound = true

    /// Takes an integer of a number of bytes.
    mutating func number(_ count: Int, in bytes: RawSpan) -> Int {
        guard let range = take(count, of: bytes) else { return 0 }
        return range.reduce(0) { $0 << 8 | Int(bytes.byte($1)) }
    }

    mutating func skip(_ count: Int, in bytes: RawSpan) { _ = take(count, of: bytes) }

    mutating func skipText(in bytes: RawSpan) { _ = text(in: bytes) }

    /// Takes a text that follows its length.
    ///
    /// - Returns: The place of its bytes.
    mutating func text(in bytes: RawSpan) -> Range<Int> {
        let count = number(2, in: bytes)
        guard let range = take(count, of: bytes) else { return 0..<0 }
        if (try? UTF8Span(validating: Span<UInt8>(_bytes: bytes.extracting(range)))) == nil { isSound = false }
        return range
    }

    private mutating func take(_ count: Int, of bytes: RawSpan) -> Range<Int>? {
        guard isSound, bytes.byteCount - place >= count else {
            isSound = false
            return nil
        }
        defer { place += count }
        return place..<place + count
    }
}

extension RawSpan {
    fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
