package import CofferCore

extension RoutingPolicy {
    private static let boundKeys = ["SmallBytes", "FileBytes", "StructuredBytes"]
    private static let defaultKeys = ["Name", "Client", "Class", "Accessible"]

    /// Reads the routing sections of a configuration file.
    ///
    /// - Parameter file: The file; other sections are ignored.
    /// - Throws: `param` with the number of the line that is wrong.
    package init(_ file: ConfigurationFile) throws(CofferError) {
        self.init()
        for section in file.sections {
            switch section.name {
            case "Routing": try takeBounds(section, file)
            case "Default": defaults.append(try Self.protectionDefault(section, file))
            default: continue
            }
        }
    }

    private mutating func takeBounds(
        _ section: ConfigurationFile.Section,
        _ file: ConfigurationFile
    ) throws(CofferError) {
        for entry in section.entries {
            switch entry.key {
            case "SmallBytes": bounds.smallBytes = try Self.bytes(entry, upTo: Limits.secretBytes, file)
            case "FileBytes": bounds.fileBytes = try Self.bytes(entry, upTo: Limits.secretBytes, file)
            case "StructuredBytes": bounds.structuredBytes = try Self.bytes(entry, upTo: Limits.structuredBytes, file)
            default: throw file.unknown(entry, in: section, known: Self.boundKeys)
            }
        }
    }

    private static func bytes(
        _ entry: ConfigurationFile.Entry,
        upTo maximum: Int,
        _ file: ConfigurationFile
    ) throws(CofferError) -> Int {
        try file.value(of: entry) { (text) throws(CofferError) in
            guard let count = Int(text), (0...maximum).contains(count) else {
                throw CofferError(.param, "expected a number of bytes from 0 to \(maximum)")
            }
            return count
        }
    }

    private static func protectionDefault(
        _ section: ConfigurationFile.Section,
        _ file: ConfigurationFile
    ) throws(CofferError) -> ProtectionDefault {
        var pattern: NamePattern?
        var client: ClientPattern?
        var protection: Protection?
        var seen: Set<String> = []
        for entry in section.entries {
            guard seen.insert(entry.key).inserted else { throw file.wrong(entry.line, "\(entry.key) is there twice") }
            switch entry.key {
            case "Name": pattern = try file.value(of: entry) { (text) throws(CofferError) in try NamePattern(text) }
            case "Client": client = try file.value(of: entry) { (text) throws(CofferError) in try ClientPattern(text) }
            case "Class", "Accessible":
                guard protection == nil else {
                    throw file.wrong(entry.line, "Class and Accessible are two ways to say one thing: give one of them")
                }
                protection = try file.value(of: entry) { (text) throws(CofferError) in
                    entry.key == "Class"
                        ? .file(try Self.choice(text)) : .keychain(try Self.choice(text))
                }
            default: throw file.unknown(entry, in: section, known: defaultKeys)
            }
        }
        guard let protection else {
            throw file.wrong(section.line, "a [Default] says what is so by default: Class or Accessible")
        }
        return ProtectionDefault(pattern: pattern, client: client, protection: protection)
    }

    private static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ text: String
    ) throws(CofferError) -> Value {
        if let value = Value(rawValue: text) { return value }
        throw CofferError(
            .param,
            "there is no \(quotedForDisplay(text))",
            hint: "there are " + Value.allCases.map(\.rawValue).joined(separator: ", ")
        )
    }
}
