internal import CofferClient
internal import CofferSecretFormats

/// The secret that an entry becomes.
///
/// It is the form that `coffer login add` and pass have: the password, below it lines `key: value`, and below them the notes.
/// What that form can't hold without loss becomes a JSON object with the same names.
enum EntryContent {
    /// The name of the notes among the members of a JSON object.
    static let notes = "notes"

    /// The secret of an entry.
    static func secret(of entry: ExchangeEntry) throws(CofferError) -> Secret {
        if let whole = entry.whole { return whole }
        if entry.fields.isEmpty { return entry.notes ?? Secret(nil) }
        if entry.fields.count == 1, entry.notes == nil, let password = entry[ExchangeEntry.password] { return password }
        let lines = try lines(of: entry)
        return try holds(lines, entry) ? lines : try object(of: entry)
    }

    private static func lines(of entry: ExchangeEntry) throws(CofferError) -> Secret {
        let below = entry.fields.filter { $0.name != ExchangeEntry.password }
        let notes = entry.notes
        let size = entry.fields.reduce(notes.map { $0.count + 1 } ?? 0) { $0 + $1.name.utf8.count + $1.value.count + 3 }
        return try Secret(capacity: size + 1) { (output) throws(CofferError) in
            entry[ExchangeEntry.password]?.withBytes { output.append($0) }
            output.append(10)
            for field in below {
                output.append(Array("\(field.name): ".utf8))
                field.value.withBytes { output.append($0) }
                output.append(10)
            }
            notes?.withBytes { output.append($0) }
            if notes != nil { output.append(10) }
        }
    }

    /// Whether lines are read as the fields that they were made of, and no others.
    private static func holds(_ lines: Secret, _ entry: ExchangeEntry) throws(CofferError) -> Bool {
        guard let fields = SecretFields(lines), fields.form == .password else { return false }
        let expected = entry.fields.map(\.name).filter { $0 != ExchangeEntry.password }
        guard fields.names.count == expected.count + 1, fields.names.dropFirst().elementsEqual(expected) else {
            return false
        }
        for name in fields.names {
            guard let value = try fields.value(of: name), value.isEqual(to: entry[name] ?? Secret(nil)) else {
                return false
            }
        }
        return true
    }

    private static func object(of entry: ExchangeEntry) throws(CofferError) -> Secret {
        var members = entry.fields.map { (name: $0.name, value: $0.value) }
        if let text = entry.notes { members.append((notes, text)) }
        return try JSONText.object(members)
    }
}
