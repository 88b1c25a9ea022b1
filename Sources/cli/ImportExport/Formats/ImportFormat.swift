package import CofferClient

/// The formats that are imported.
package enum ImportFormat: String, CaseIterable, Sendable {
    case bitwarden
    case csv
    case pass
    case keepass
    case keepassXML = "keepass-xml"
    case onePUX = "1pux"
    case netrc
    case gitCredentials = "git-credentials"
    case docker
    case pgpass
    case dotenv
    case macosKeychain = "macos-keychain"
    case secretService = "secret-service"
    case cxf

    /// What it is, for the help and for `proto-docs/IMPORT.md`.
    package var summary: String {
        switch self {
        case .bitwarden: "Bitwarden's JSON, plain or encrypted under a password"
        case .csv: "CSV of Chrome, Firefox, Safari, LastPass, 1Password, KeePassXC, Bitwarden, Proton Pass and others"
        case .pass: "a tree of pass or gopass"
        case .keepass: "a KDBX file, by keepassxc-cli"
        case .keepassXML: "the XML of KeePass 2 and KeePassXC"
        case .onePUX: "1Password's 1PUX"
        case .netrc: "a file ~/.netrc"
        case .gitCredentials: "a file ~/.git-credentials"
        case .docker: "docker's config.json"
        case .pgpass: "a file ~/.pgpass"
        case .dotenv: "a file .env, each variable an item"
        case .macosKeychain: "the text of 'security dump-keychain -d'"
        case .secretService: "what the Secret Service of the session has, or the text of 'secret-tool search --all'"
        case .cxf: "the JSON of FIDO's Credential Exchange Format"
        }
    }

    /// Whether the source keeps the secrets in clear, so that it should be destroyed after the import.
    package var isPlaintext: Bool {
        switch self {
        case .pass, .keepass: false
        default: true
        }
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - content: The file.
    ///   - password: Asks for the password of a file that is encrypted under one.
    ///   - inflate: Decompresses data in the format of gzip, in which KeePass keeps attached files.
    /// - Throws: `param` with the line, and with the format that the file has if it is another one; `dataTooLarge`.
    package func entries(
        of content: Secret,
        password: () throws(CofferError) -> Secret = { () throws(CofferError) in throw .encrypted },
        inflate: @escaping (Secret) throws(CofferError) -> Secret = { (_) throws(CofferError) in
            throw .malformed("it is compressed")
        }
    ) throws(CofferError) -> ExchangeList {
        let list: ExchangeList
        do throws(CofferError) {
            list = try read(content, password, inflate).checked()
        } catch {
            guard error.code == .param, let other = otherFormat(of: content) else { throw error }
            throw .ofOtherFormat(other, error)
        }
        // Some lines of another format may happen to be lines of this one.
        if let fault = list.firstFault, list.omissions.count > list.entries.count, let other = otherFormat(of: content)
        {
            throw .ofOtherFormat(other, fault)
        }
        return list
    }

    /// The format that a file looks like; `nil` if that is this one, or none.
    private func otherFormat(of content: Secret) -> ImportFormat? {
        FormatGuess.format(of: content).flatMap { $0 == self ? nil : $0 }
    }

    private func read(
        _ content: Secret,
        _ password: () throws(CofferError) -> Secret,
        _ inflate: @escaping (Secret) throws(CofferError) -> Secret
    ) throws(CofferError) -> ExchangeList {
        switch self {
        case .bitwarden: try BitwardenReader.entries(of: content, password)
        case .csv: try CSVReader(content).entries()
        case .keepassXML: try KeePassReader.entries(of: content, inflate)
        case .netrc: try NetrcReader.entries(of: content)
        case .gitCredentials: try LineReaders.gitCredentials(content)
        case .docker: try DockerReader.entries(of: content)
        case .pgpass: try LineReaders.pgpass(content)
        case .dotenv: try LineReaders.dotenv(content)
        case .macosKeychain: try KeychainDumpReader.entries(of: content)
        case .secretService: try SecretServiceReader.entries(of: content)
        case .cxf: try CXFReader.entries(of: content)
        // What unpacks or decrypts these is a program, and not this room.
        case .pass, .keepass, .onePUX: throw .malformed("the file is not of the format \(rawValue)")
        }
    }
}

extension CofferError {
    fileprivate static func ofOtherFormat(_ format: ImportFormat, _ fault: CofferError) -> CofferError {
        CofferError(
            .param,
            "\(fault.message); it looks like the format \(format.rawValue)",
            hint: "try 'coffer import \(format.rawValue)'"
        )
    }

    /// The error for a file whose password is not known.
    package static var encrypted: CofferError { .malformed("the file is encrypted under a password") }
}
