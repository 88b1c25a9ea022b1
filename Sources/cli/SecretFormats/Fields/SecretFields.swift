package import CofferClient
internal import CofferCore

/// The named fields of a secret: of a JSON object, of lines such as `KEY=value` and `key: value`, or of a password with
/// such lines below it.
///
/// Names are ordinary text, values stay in locked memory. Which form a text has is decided by the places of
/// ``FieldPlaces``; where a text could be two, it is the one that shows less of it as names.
package struct SecretFields {
    /// The form of the text.
    package enum Form: String {
        case json
        /// Lines `KEY=value`, as of a shell.
        case dotenv
        /// Lines `key: value`.
        case lines
        /// A first line that is the field `password`, above lines `key: value`.
        case password
    }

    private struct Entry {
        let name: String
        /// The value, with its quotes, without the spaces around it.
        let value: Range<Int>
    }

    /// The name that the first line has.
    package static let password = "password"

    /// The form.
    package let form: Form
    private let content: Secret
    private let entries: [Entry]
    private let places: FieldPlaces

    /// Finds the fields of a secret.
    ///
    /// - Returns: `nil` if the secret has no fields.
    package init?(_ content: Secret) {
        let found = content.withBytes { bytes in
            FieldPlaces(bytes).flatMap { places in
                Form(places, bytes).map { ($0, places, Self.entries(of: $0, places, bytes)) }
            }
        }
        guard let (form, places, entries) = found else { return nil }
        self.content = content
        self.form = form
        self.places = places
        self.entries = entries
    }

    /// The names, in the order of the text, each of them once.
    package var names: [String] {
        entries.reduce(into: []) { names, entry in
            if !names.contains(entry.name) { names.append(entry.name) }
        }
    }

    // MARK: Reading

    /// The value of a field; of several with one name the last, as for a shell.
    ///
    /// - Parameter name: The name; in JSON also a path such as `database.user`.
    /// - Returns: `nil` if there is none.
    /// - Throws: `param` if the value can't be read, such as one whose quotes do not end.
    package func value(of name: String) throws(CofferError) -> Secret? {
        guard let range = range(of: name) else { return nil }
        let isLine = form == .lines || isFirstLine(range)
        return try content.withBytes { (bytes) throws(CofferError) in
            let raw = bytes.extracting(range)
            let first = range.isEmpty ? 0 : raw.byte(at: 0)
            if form == .json && first == .quote { return try FieldText.unescapedJSON(raw, of: name) }
            if form == .dotenv && !isLine { return try FieldText.unquoted(raw, of: name) }
            return try Secret(copying: raw)
        }
    }

    /// The values of the fields `url`, `url 2` and so on.
    ///
    /// - Throws: As ``value(of:)``.
    package func addresses() throws(CofferError) -> [String] {
        var addresses: [String] = []
        for name in names where name == "url" || name.hasPrefix("url ") && name.dropFirst(4).allSatisfy(\.isNumber) {
            if let address = try value(of: name)?.exposeText(), !address.isEmpty { addresses.append(address) }
        }
        return addresses
    }

    private func isFirstLine(_ range: Range<Int>) -> Bool { form == .password && range == entries.first?.value }

    private func range(of name: String) -> Range<Int>? {
        if form == .password && name == Self.password { return entries.first?.value }
        if let entry = entries.last(where: { $0.name == name }) { return entry.value }
        guard form == .json else { return nil }
        return content.withBytes { Self.nested(name, entries, in: $0) }
    }

    /// The value of a member of a member, whose names are joined by dots.
    private static func nested(_ name: String, _ entries: [Entry], in bytes: RawSpan) -> Range<Int>? {
        for entry in entries where name.hasPrefix(entry.name + ".") {
            let inner = bytes.extracting(entry.value)
            guard let places = FieldPlaces(inner), places.isObject else { continue }
            let members = self.entries(of: .json, places, inner)
            let rest = String(name.dropFirst(entry.name.count + 1))
            let range = members.last { $0.name == rest }?.value ?? nested(rest, members, in: inner)
            if let range {
                return (range.lowerBound + entry.value.lowerBound)..<(range.upperBound + entry.value.lowerBound)
            }
        }
        return nil
    }

    private static func entries(of form: Form, _ places: FieldPlaces, _ bytes: RawSpan) -> [Entry] {
        func entry(_ field: FieldPlaces.Field, isShell: Bool = false) -> Entry {
            let name = bytes.text(field.name)
            let isExported = isShell && name.hasPrefix("export ")
            return Entry(
                name: (isExported ? String(name.dropFirst(7)) : name).trimmingBlanks,
                value: bytes.trimmed(field.value)
            )
        }
        if form == .json { return places.members.map { entry($0) } }
        let separator: UInt8 = form == .dotenv ? .equals : .colon
        let lines = form == .password ? places.lines.dropFirst() : places.lines[...]
        let found = lines.compactMap { line -> Entry? in
            guard case .field(let field) = line.content, field.separator == separator || form == .lines else {
                return nil
            }
            return entry(field, isShell: form == .dotenv)
        }
        guard form == .password else { return found }
        return [Entry(name: password, value: bytes.withoutReturn(places.lines.first?.range ?? 0..<0))] + found
    }

    /// The lines below a password that are no fields, without the last line end; `nil` if there are none.
    ///
    /// - Throws: `internal` if memory for secrets can't be locked.
    package func wordsBelow() throws(CofferError) -> Secret? {
        let lines = places.lines.dropFirst().filter { line in
            if case .field(let field) = line.content { field.separator != .colon } else { true }
        }
        guard form == .password, !lines.isEmpty else { return nil }
        return try content.withBytes { (bytes) throws(CofferError) in
            try Secret(capacity: lines.reduce(lines.count) { $0 + $1.range.count }) { (output) throws(CofferError) in
                for (index, line) in lines.enumerated() {
                    if index > 0 { output.append(10) }
                    output.append(bytes.extracting(line.range))
                }
            }
        }
    }

    // MARK: Changing

    /// The secret with another value of a field, which is added if there is none; all else stays byte for byte.
    ///
    /// - Throws: `param` if the form can't hold the value or the name.
    package func setting(_ name: String, to value: Secret) throws(CofferError) -> Secret {
        let changed: Secret
        if let range = range(of: name) {
            let value = try encoded(value, over: range)
            changed = try replacing(form == .dotenv ? try withoutComment(range, of: name) : range, by: value)
        } else {
            changed = try adding(name, value)
        }
        // Whatever the value is, it has to be read again as it was given, and no other field may have changed.
        guard let fields = SecretFields(changed), fields.form == form,
            let stored = try? fields.value(of: name), stored.isEqual(to: value), fields.names.count >= names.count
        else { throw .notStorable(name, in: form) }
        return changed
    }

    /// A secret of one field.
    package static func new(_ name: String, _ value: Secret) throws(CofferError) -> Secret {
        if name == password { return value }
        let empty = Secret(nil)
        return try SecretFields(bare: empty).setting(name, to: value)
    }

    /// A password without other fields.
    private init(bare content: Secret) throws(CofferError) {
        guard let places = content.withBytes({ FieldPlaces($0) }) else { throw .noFields }
        self.content = content
        self.places = places
        form = .password
        entries = [Entry(name: Self.password, value: 0..<0)]
    }

    private func encoded(_ value: Secret, over range: Range<Int>?) throws(CofferError) -> Secret {
        let former = content.withBytes { bytes in range.map { $0.isEmpty ? 0 : bytes.byte(at: $0.lowerBound) } }
        switch form {
        case .json:
            // A number stays one if the new value is a number, and so does a truth value.
            let isPlain = former.map { $0 != .quote && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") } ?? false
            return isPlain && value.withBytes(FieldText.isJSONLiteral) ? value : try FieldText.escapedJSON(value)
        case .dotenv: return try FieldText.quoted(value, as: former)
        case .lines, .password: return value
        }
    }

    private func withoutComment(_ range: Range<Int>, of name: String) throws(CofferError) -> Range<Int> {
        try content.withBytes { (bytes) throws(CofferError) in
            let value = try FieldText.shellValue(bytes.extracting(range), of: name)
            return range.lowerBound..<(range.lowerBound + value.upperBound)
        }
    }

    private func replacing(_ range: Range<Int>, by piece: Secret) throws(CofferError) -> Secret {
        try content.withBytes { (bytes) throws(CofferError) in
            try Secret(capacity: bytes.byteCount + piece.count + 1) { (output) throws(CofferError) in
                output.append(bytes.extracting(0..<range.lowerBound))
                // A field without a value has no space behind its colon.
                let before = range.lowerBound > 0 ? bytes.byte(at: range.lowerBound - 1) : 0
                if form != .json && before == .colon && piece.count > 0 { output.append(.space) }
                piece.withBytes { output.append($0) }
                output.append(bytes.extracting(range.upperBound..<bytes.byteCount))
            }
        }
    }

    private func adding(_ name: String, _ value: Secret) throws(CofferError) -> Secret {
        let piece = try encoded(value, over: nil)
        if form == .json { return try addingMember(try FieldText.escapedJSON(Secret(exposed: name)), piece) }
        return try content.withBytes { (bytes) throws(CofferError) in
            let hasReturns = bytes.contains([13, 10])
            let isUnfinished = bytes.byteCount == 0 ? form == .password : bytes.byte(at: bytes.byteCount - 1) != 10
            let capacity = bytes.byteCount + name.utf8.count + piece.count + 8
            return try Secret(capacity: capacity) { (output) throws(CofferError) in
                let end: [UInt8] = hasReturns ? [13, 10] : [10]
                output.append(bytes)
                if isUnfinished { output.append(end) }
                output.append(Array(name.utf8) + (form == .dotenv ? [.equals] : [.colon, .space]))
                piece.withBytes { output.append($0) }
                if !isUnfinished { output.append(end) }
            }
        }
    }

    /// The object with one more member, which begins as the last one does.
    private func addingMember(_ name: Secret, _ value: Secret) throws(CofferError) -> Secret {
        guard let last = places.members.last, let end = entries.last?.value.upperBound else {
            let member = try Secret(capacity: name.count + value.count + 4) { (output) throws(CofferError) in
                output.append(UInt8(ascii: "{"))
                name.withBytes { output.append($0) }
                output.append([.colon, .space])
                value.withBytes { output.append($0) }
                output.append(UInt8(ascii: "}"))
            }
            return try replacing(content.withBytes { $0.trimmed($0.textStart..<$0.byteCount) }, by: member)
        }
        return try content.withBytes { (bytes) throws(CofferError) in
            var start = last.name.lowerBound - 1
            while start > 0 && bytes.byte(at: start - 1).isSpace { start -= 1 }
            let lead = bytes.extracting(start..<(last.name.lowerBound - 1))
            let isSpaced = bytes.byte(at: last.value.lowerBound).isSpace
            let capacity = bytes.byteCount + lead.byteCount + name.count + value.count + 4
            return try Secret(capacity: capacity) { (output) throws(CofferError) in
                output.append(bytes.extracting(0..<end))
                output.append(.comma)
                // Nothing stands before the only member, which says nothing about a second one.
                if isSpaced && lead.byteCount == 0 && places.members.count == 1 { output.append(.space) }
                output.append(lead)
                name.withBytes { output.append($0) }
                output.append(.colon)
                if isSpaced { output.append(.space) }
                value.withBytes { output.append($0) }
                output.append(bytes.extracting(end..<bytes.byteCount))
            }
        }
    }
}

extension SecretFields.Form {
    /// The form of a text; `nil` if it has no fields.
    fileprivate init?(_ places: FieldPlaces, _ bytes: RawSpan) {
        if places.isObject || bytes.isEmptyObject {
            self = .json
            return
        }
        // One line is a password, whatever is in it: its beginning is no name to be shown.
        let isOneLine = places.lines.dropFirst().allSatisfy { bytes.trimmed($0.range).isEmpty }
        guard let first = places.lines.first, !isOneLine else {
            guard !places.lines.isEmpty else { return nil }
            self = .password
            return
        }
        let below = places.lines.dropFirst().compactMap(\.separator)
        switch first.separator {
        case .some(.colon): self = .lines
        case .some where below.contains(.equals) || below.isEmpty: self = .dotenv
        case .some: self = .password
        case .none:
            // Under a comment, the first other line decides.
            let isAside = first.isAside && !bytes.trimmed(first.range).isEmpty
            let isWords = !first.isAside
            let decisive = places.lines.first { !$0.isAside }?.separator
            if below.contains(.colon) && (isWords || !isAside && decisive == .colon) {
                self = .password
            } else if first.isAside, let decisive {
                self = decisive == .colon ? .lines : .dotenv
            } else {
                return nil
            }
        }
    }
}

extension RawSpan {
    /// Whether it is a JSON object without members.
    fileprivate var isEmptyObject: Bool {
        let all = trimmed(textStart..<byteCount)
        return all.count >= 2 && byte(at: all.lowerBound) == UInt8(ascii: "{")
            && byte(at: all.upperBound - 1) == UInt8(ascii: "}") && trimmed(all.dropFirst().dropLast()).isEmpty
    }
}

extension FieldPlaces.TextLine {
    /// The colon or the equals sign of a field.
    fileprivate var separator: UInt8? { if case .field(let field) = content { field.separator } else { nil } }
    fileprivate var isAside: Bool { if case .aside = content { true } else { false } }
}

extension CofferError {
    /// The error if a secret has no fields.
    package static var noFields: CofferError {
        CofferError(
            .param,
            "the secret has no fields",
            hint: "fields are members of a JSON object, lines KEY=value, or a password with lines 'key: value' below it"
        )
    }

    fileprivate static func notStorable(_ name: String, in form: SecretFields.Form) -> CofferError {
        let rule =
            switch form {
            case .json: "a value of JSON is text in UTF-8"
            case .dotenv: "a name has letters, digits and '_', and a value no control characters"
            case .lines, .password:
                "it is stored on one line, without spaces around it, and a name begins with a letter"
            }
        return CofferError(.param, "the field \(quotedForDisplay(name)) can't have that value: \(rule)")
    }
}
