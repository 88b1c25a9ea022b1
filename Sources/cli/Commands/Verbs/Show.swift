internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all that is known of an item, without its content."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Flag(help: "List the fields of the secret, with their values masked.")
    var fields = false

    @OptionGroup var source: SourceOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let name = try ItemName(argument: name)
        try source.reading(name, authentication) { try show(name) }
    }

    private func show(_ name: ItemName) throws(CofferError) {
        let params = ItemShowParameters(name: name, group: try source.group())
        let session = try source.connect(authentication)
        if fields {
            let stored = try session.secret(name, in: params.group)
            return format.show(FieldList(fields: try stored.fields()))
        }
        let client = session.client
        let item = try client.call(params).value
        if format.json { return Output.standardOutput.line(item.json) }
        let readers = try Readers.words(of: item, client)
        let certificate = try CertificateLines(of: item, named: params.name, client)
        Output.standardOutput.lines([Line](width: 16, item.fields(certificate) + [("who reads it", readers)]))
    }
}

extension ItemInfo {
    /// What is known of the item, by labels for people.
    fileprivate func fields(_ certificate: CertificateLines?) -> [(label: String, value: Line?)] {
        [
            ("name", "\(name: name)"),
            ("what", "\(kindWord)\(kind.map { " (\($0.rawValue))" } ?? "")"),
            ("readable", isLeftBehind ? .neverReadable : "\(protection.words)\(isReadable ? "" : ": not now" as Line)"),
            ("asks for", accessControl?.need(after: []).map { "\($0.words)" }),
        ]
            + (certificate?.lines ?? [])
            + ownAttributes
            + [
                ("size", byteCount == 1 ? "1 byte" : "\(byteCount) bytes"),
                ("former values", formerValueCount.map { "\($0)" }),
                ("created", "\(Timestamp.text(created))"),
                ("changed", "\(Timestamp.text(modified))"),
                ("expires", expiryDate.map { "\(Timestamp.text($0))\(isExpired ? " (it has expired)" : "")" }),
                ("group", "\(group)"),
                ("reference", reference.map { "\($0.hexadecimal)" }),
            ]
    }

    /// The attributes that no other line shows.
    private var ownAttributes: [(label: String, value: Line?)] {
        var own: [(label: String, value: Line?)] = []
        for (attribute, value) in (attributes ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if hasOwnLine(attribute) || value == .bool(false) { continue }
            own.append((attribute.words, value.words))
        }
        for (name, value) in (user ?? [:]).sorted(by: { $0.key < $1.key }) {
            own.append((escapedForDisplay(name.text), "\(name: value)"))
        }
        return own
    }

    private func hasOwnLine(_ attribute: KeychainAttribute) -> Bool {
        switch attribute {
        case .accessGroup, .accessible, .creationDate, .modificationDate, .expiryDate: true
        // Their lines are in words.
        case .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash: itemClass == .certificate
        // They are the name of a secret that has a path.
        case .service, .account: itemClass == .genericPassword && QualifiedName(argument: name) == nil
        default: false
        }
    }
}

extension QualifiedName {
    fileprivate init?(argument: String) {
        guard let name = try? ItemName(argument) else { return nil }
        self.init(name)
    }
}

extension KeychainAttribute {
    /// The name of the attribute in words, such as `key type`.
    var words: String {
        rawValue.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
    }
}

extension Line {
    /// When the secret of an item that was left behind can be read.
    fileprivate static var neverReadable: Line { "never: the device key that opens it is lost; remove it" }
}
