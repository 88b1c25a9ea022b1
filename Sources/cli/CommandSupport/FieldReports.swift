package import CofferClient
package import CofferSecretFormats
internal import CofferTerminal

/// The names of the fields of a secret, with their values masked.
package struct FieldList: Printable {
    package let fields: SecretFields

    package init(fields: SecretFields) { self.fields = fields }

    var json: JSONObject {
        var object = JSONObject()
        object.set("form", .string(fields.form.rawValue))
        object.set("fields", .array(fields.names.map { .string($0) }))
        return object
    }

    // The mask has one length for all: that of a value says something about it.
    var text: [Line] {
        var table = Table([.init(title: "FIELD"), .init(title: "VALUE")])
        for name in fields.names { table.add(["\(name: name)", "••••••••"]) }
        return table.lines(for: nil)
    }
}

/// What became of an item whose secret, or one of whose fields, was stored.
package struct StoredReport: Printable {
    package let name: ItemName
    package var field: String?
    package var isReplaced = false
    /// Further members and what follows in the line for people.
    package var more: [(key: String, value: JSONValue)] = []
    var words = ""

    package init(
        name: ItemName,
        field: String? = nil,
        isReplaced: Bool = false,
        more: [(key: String, value: JSONValue)] = [],
        words: String = ""
    ) {
        self.name = name
        self.field = field
        self.isReplaced = isReplaced
        self.more = more
        self.words = words
    }

    var json: JSONObject {
        var object = JSONObject()
        object.set("name", .string(name.path))
        if let field { object.set("field", .string(field)) }
        object.set("replaced", .bool(isReplaced))
        for member in more { object.set(member.key, member.value) }
        return object
    }

    var text: [Line] {
        let verb: Line = isReplaced ? "replaced" : "stored"
        let what: Line = field.map { "\(verb) the field \(quotedForDisplay($0)) of " } ?? "\(verb) "
        return ["\(what)\(name.quoted)\(words)"]
    }
}

extension Session {
    /// Stores a value as a field of a secret, which is made if there is none.
    package func setField(
        _ field: String,
        of name: ItemName,
        to value: Secret,
        _ wishes: PlacementOptions,
        protecting protection: NewProtection = NewProtection()
    ) throws(CofferError) -> StoredReport {
        guard let stored = try secretIfPresent(name, in: wishes.group) else {
            try create(name, try SecretFields.new(field, value), wishes, protecting: protection)
            return StoredReport(name: name, field: field)
        }
        return try setField(field, of: stored, to: value, protecting: protection)
    }

    /// Stores a value as a field of a secret that was read.
    package func setField(
        _ field: String,
        of stored: StoredSecret,
        to value: Secret,
        protecting protection: NewProtection = NewProtection()
    ) throws(CofferError) -> StoredReport {
        let fields = try stored.fields()
        let isReplaced = (try? fields.value(of: field)) != nil
        try replace(stored, with: try fields.setting(field, to: value), protecting: protection)
        return StoredReport(name: stored.name, field: field, isReplaced: isReplaced)
    }
}
