package import CofferClient
internal import CofferMemory

/// A text with places for secrets: `{{ coffer "NAME" }}` and `{{ coffer "NAME" "FIELD" }}`.
///
/// All other text stays as it is, also in braces. A backslash before `{{ coffer` makes it text, and is left out; two stand for
/// one, before a secret.
package struct Template {
    /// A place for a secret.
    package struct Place {
        let range: Range<Int>
        package let line: Int
        package let reference: SecretReference
    }

    /// The places and the backslashes that are left out, in the order of the text.
    private enum Part {
        case secret(Place)
        case nothing(Range<Int>)
    }

    private let content: Secret
    private let parts: [Part]

    /// Its name in messages.
    let name: String

    /// Finds the places.
    ///
    /// - Parameters:
    ///   - content: The text, which may have secrets of its own.
    ///   - name: Its name in messages.
    /// - Throws: `param` with the line, if a place is malformed.
    package init(_ content: Secret, named name: String) throws(CofferError) {
        self.content = content
        self.name = name
        parts = try content.withBytes { (bytes) throws(CofferError) in try Self.parts(of: bytes, name) }
    }

    /// The places for secrets.
    package var places: [Place] {
        parts.compactMap { part in
            guard case .secret(let place) = part else { return nil }
            return place
        }
    }

    /// The text with the secrets.
    ///
    /// - Parameter values: Those of ``places``, in their order.
    package func text(with values: [Secret]) throws(CofferError) -> Secret {
        let capacity = values.reduce(content.count) { $0 + $1.count }
        if capacity == 0 { return Secret(nil) }
        return try content.withBytes { (bytes) throws(CofferError) in
            try Secret(capacity: capacity) { (output) throws(CofferError) in
                var (end, rest) = (0, values[...])
                for part in parts {
                    switch part {
                    case .nothing(let range):
                        output.append(bytes.extracting(end..<range.lowerBound))
                        end = range.upperBound
                    case .secret(let place):
                        output.append(bytes.extracting(end..<place.range.lowerBound))
                        rest.popFirst()?.withBytes { output.append($0) }
                        end = place.range.upperBound
                    }
                }
                output.append(bytes.extracting(end..<bytes.byteCount))
            }
        }
    }

    // MARK: Reading

    private static func parts(of bytes: RawSpan, _ name: String) throws(CofferError) -> [Part] {
        var scanner = Scanner()
        var parts: [Part] = []
        while scanner.place < bytes.byteCount {
            let start = scanner.place
            guard let opening = scanner.opening(in: bytes) else {
                scanner.skip(in: bytes)
                continue
            }
            let slashes = scanner.backslashes(in: bytes, before: start)
            if slashes > 0 { parts.append(.nothing((start - (slashes + 1) / 2)..<start)) }
            scanner.place = opening
            if !slashes.isMultiple(of: 2) { continue }
            let line = scanner.line
            do throws(CofferError) {
                let reference = try scanner.reference(in: bytes)
                parts.append(.secret(Place(range: start..<scanner.place, line: line, reference: reference)))
            } catch {
                throw error.prefixed("\(quotedForDisplay(name)), line \(line): ")
            }
        }
        return parts
    }

    private struct Scanner {
        var place = 0
        private(set) var line = 1

        /// Passes a byte.
        mutating func skip(in bytes: RawSpan) {
            if bytes.byte(at: place) == 10 { line += 1 }
            place += 1
        }

        /// The place behind `{{ coffer`, if that is next, as a word.
        func opening(in bytes: RawSpan) -> Int? {
            guard bytes.has("{{", at: place) else { return nil }
            var next = place + 2
            while bytes.isBlank(next) { next += 1 }
            guard bytes.has("coffer", at: next) else { return nil }
            next += 6
            let ends: [UInt8] = [.space, 9, 10, 13, .quote, UInt8(ascii: "}")]
            let isWord = next == bytes.byteCount || ends.contains(bytes.byte(at: next))
            return isWord ? next : nil
        }

        func backslashes(in bytes: RawSpan, before end: Int) -> Int {
            var count = 0
            while count < end && bytes.byte(at: end - count - 1) == .backslash { count += 1 }
            return count
        }

        /// Reads the name, the field and the closing braces.
        mutating func reference(in bytes: RawSpan) throws(CofferError) -> SecretReference {
            guard let name = try quoted(in: bytes) else { throw Self.malformed("a name in double quotes is missing") }
            let field = try quoted(in: bytes)
            skipBlanks(in: bytes)
            guard bytes.has("}}", at: place) else { throw Self.malformed("'}}' is missing") }
            place += 2
            if let field, field.isEmpty { throw Self.malformed("the name of the field is empty") }
            return SecretReference(try ItemName(argument: name), field: field)
        }

        /// Reads a text in quotes, if one is next, in which a backslash stands before a quote or a backslash.
        private mutating func quoted(in bytes: RawSpan) throws(CofferError) -> String? {
            skipBlanks(in: bytes)
            guard place < bytes.byteCount, bytes.byte(at: place) == .quote else { return nil }
            var text: [UInt8] = []
            place += 1
            while place < bytes.byteCount, bytes.byte(at: place) != 10 {
                var byte = bytes.byte(at: place)
                place += 1
                if byte == .quote { return String(decoding: text, as: UTF8.self) }
                if byte == .backslash && place < bytes.byteCount {
                    byte = bytes.byte(at: place)
                    place += 1
                    guard byte == .quote || byte == .backslash else {
                        throw Self.malformed("a backslash in quotes stands before a quote or a backslash")
                    }
                }
                text.append(byte)
            }
            throw Self.malformed("the quotes do not end on their line")
        }

        private mutating func skipBlanks(in bytes: RawSpan) {
            while bytes.isBlank(place) { place += 1 }
        }

        private static func malformed(_ reason: String) -> CofferError {
            CofferError(
                .param,
                "malformed '{{ coffer …': \(reason)",
                hint: #"write {{ coffer "NAME" }} or {{ coffer "NAME" "FIELD" }}, and \{{ coffer for the text itself"#
            )
        }
    }
}

extension RawSpan {
    /// Whether a space or a tabulator is at a place, which may be the end.
    fileprivate func isBlank(_ place: Int) -> Bool {
        place < byteCount && (byte(at: place) == .space || byte(at: place) == 9)
    }

    /// Whether a text begins at a place, which may be the end.
    fileprivate func has(_ text: String, at place: Int) -> Bool {
        place + text.utf8.count <= byteCount && has(text.utf8, at: place..<(place + text.utf8.count))
    }
}

extension CofferError {
    /// The same error, at a place that its message names first.
    package func prefixed(_ place: String) -> CofferError {
        var error = self
        error.message = place + message
        return error
    }
}
