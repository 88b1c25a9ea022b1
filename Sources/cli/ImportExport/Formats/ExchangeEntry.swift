package import CofferClient

/// One entry of another password manager.
package struct ExchangeEntry: Sendable {
    /// A named value.
    package struct Field: Sendable {
        package let name: String
        package let value: Secret

        package init(_ name: String, _ value: Secret) {
            self.name = name
            self.value = value
        }
    }

    /// A file that is attached to an entry.
    package struct Attachment: Sendable {
        package let name: String
        package let content: Secret

        package init(name: String, content: Secret) {
            self.name = name
            self.content = content
        }
    }

    /// The server that a credential of git or docker is for, with its user.
    package struct Server: Sendable {
        package let url: String
        package let account: String
        package let domain: String

        package init(url: String, account: String, domain: String = "") {
            self.url = url
            self.account = account
            self.domain = domain
        }
    }

    /// In milliseconds since 1970.
    package struct Dates: Sendable {
        package var created: Int64?
        package var modified: Int64?
        package var expires: Int64?
    }

    /// What the entry is, for a person.
    package enum Kind: String, Sendable {
        case login, note, card, identity, key, credential, variable, secret
    }

    /// Where the file has it, such as `line 3`.
    package var place: String
    package var kind = Kind.login
    /// The folders above it, the outermost first.
    package var folder: [String] = []
    /// The title; empty if it has none.
    package var title = ""
    /// The values, in their order, in which those of a login come first.
    ///
    /// No name occurs twice.
    package private(set) var fields: [Field] = []
    /// A text of its own, of any number of lines.
    package var notes: Secret?
    /// The whole secret, if it is stored as it is; then there are no fields.
    package var whole: Secret?
    package var tags: [String] = []
    package var attachments: [Attachment] = []
    /// For a credential that git or docker will ask for; then only the field `password` is stored.
    package var server: Server?
    package var dates = Dates()
    /// What of it is not stored.
    package internal(set) var omissions: [Omission] = []

    package static let password = "password"
    package static let username = "username"
    package static let url = "url"
    package static let otp = "otp"

    package init(place: String) { self.place = place }

    /// The value of a field; `nil` if there is none.
    package subscript(name: String) -> Secret? { fields.first { $0.name == name }?.value }

    /// Whether it has nothing to store.
    package var isEmpty: Bool { fields.isEmpty && notes == nil && (whole?.count ?? 0) == 0 && attachments.isEmpty }

    /// Appends a value, unless it is empty.
    ///
    /// The name becomes one that a field can have, and another one if it is taken.
    ///
    /// - Throws: `dataTooLarge` if the entry has more fields, or a field more bytes, than an import takes.
    package mutating func add(_ name: String, _ value: Secret?) throws(CofferError) {
        guard let value, value.count > 0 else { return }
        guard fields.count < Limits.importFields else {
            throw .tooLarge("\(place) has more than \(Limits.importFields) fields")
        }
        try requireSize(of: value, name)
        fields.append(Field(freeName(FieldName.storable(name)), value))
    }

    /// Appends a value of a JSON text, and what is inside of it as fields of their own.
    mutating func add(_ name: String, all item: JSONItem, depth: Int = 0) throws(CofferError) {
        guard depth <= Limits.jsonDepth else { throw .malformed("\(place): values are nested too deeply") }
        for (key, value) in item.members { try add("\(name) \(key)", all: value, depth: depth + 1) }
        for value in item.elements { try add(name, all: value, depth: depth + 1) }
        try add(name, try item.secret())
    }

    /// Takes a text of its own, unless it is empty.
    package mutating func setNotes(_ text: Secret?) throws(CofferError) {
        guard let text, text.count > 0 else { return }
        try requireSize(of: text, "notes")
        notes = text
    }

    private func requireSize(of value: Secret, _ name: String) throws(CofferError) {
        guard value.count <= Limits.importFieldBytes else {
            throw .tooLarge(
                "\(place): the field \(quotedForDisplay(name)) has \(value.count) bytes, more than \(Limits.importFieldBytes)"
            )
        }
    }

    private func freeName(_ name: String) -> String {
        if self[name] == nil { return name }
        var number = 2
        while self["\(name) \(number)"] != nil { number += 1 }
        return "\(name) \(number)"
    }
}

/// The names of fields.
enum FieldName {
    /// A name that the forms of a secret can have: it begins with a letter, and has letters, digits, spaces, `.`, `-` and `_`.
    static func storable(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            let kept = scalar.isASCII ? scalar.isFieldCharacter : !scalar.isUnseen && !scalar.properties.isWhitespace
            let piece = kept ? String(scalar) : " "
            if piece == " " && (result.isEmpty || result.last == " ") { continue }
            if result.utf8.count + piece.utf8.count > Limits.fieldNameBytes { break }
            result += piece
        }
        while result.last == " " { result.removeLast() }
        guard let first = result.unicodeScalars.first else { return "field" }
        let begins = !first.isASCII || first == "_" || first.properties.isAlphabetic
        return begins ? result : "_\(result)"
    }
}

extension Unicode.Scalar {
    fileprivate var isFieldCharacter: Bool {
        properties.isAlphabetic || properties.numericType != nil || self == "." || self == "-" || self == "_"
            || self == " "
    }
}

/// What a reader has found.
package struct ExchangeList: Sendable {
    package var entries: [ExchangeEntry] = []
    /// Remarks about the whole file, for a person.
    package var remarks: [String] = []
    /// What is not stored, or not as it is in the file.
    package internal(set) var omissions: [Omission] = []
    /// Why the first entry that can't be read can't.
    var firstFault: CofferError?
    /// Whether the file was encrypted under a password.
    package var wasEncrypted = false

    package init() {}

    /// Appends an entry, unless it has nothing to store, which is noted.
    ///
    /// - Throws: `dataTooLarge` if there are more than an import takes.
    package mutating func append(_ entry: ExchangeEntry) throws(CofferError) {
        omissions += entry.omissions
        guard !entry.isEmpty else {
            if !entry.omissions.contains(where: \.isItem) {
                try leaveOut(entry, because: "it has nothing but its name")
            }
            return
        }
        guard entries.count < Limits.importEntries else {
            throw .tooLarge("\(entry.place): there are more than \(Limits.importEntries) entries")
        }
        entries.append(entry)
    }
}
