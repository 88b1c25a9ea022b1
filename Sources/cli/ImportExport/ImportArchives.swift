internal import CofferClient
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Sources that another program unpacks, decrypts or queries.
extension ImportSource {
    /// An archive of 1Password, unpacked by bsdtar into memory: nothing of it is written to a disk.
    static func onePUX(_ path: String) throws(CofferError) -> ExchangeList {
        let subject = quotedForDisplay(path)
        // bsdtar would take a name with a colon or a hyphen for something else.
        let path = path.hasPrefix("/") ? path : "./\(path)"
        guard let start = try? content(ofFile: path), start.isZip else {
            // Says why it can't be read, if it can't.
            _ = try ImportFormat.onePUX.entries(of: try content(ofFile: path))
            return ExchangeList()
        }
        let tool = ("bsdtar", "libarchive-tools")
        let listing = try output(of: tool, ["-tf", path], limit: Limits.importFieldBytes, subject)
        let files = (listing.exposeText() ?? "").split(separator: "\n").map(String.init)
        for name in files where !name.isInside {
            throw CofferError(
                .param,
                "the archive has a file \(quotedForDisplay(name)), which is outside of it: it is not one of 1Password's",
                hint: "export it anew"
            )
        }
        func extract(_ name: String) throws(CofferError) -> Secret {
            try output(
                of: tool,
                ["-xOf", path, "--", name],
                limit: Limits.importFileBytes,
                "\(subject): \(quotedForDisplay(name))"
            )
        }
        guard files.contains("export.data") else {
            throw CofferError(.param, "the archive has no file 'export.data', which one of 1Password has")
        }
        return try OnePUXReader.entries(of: try extract("export.data"), files: files, extract)
    }

    /// A database of KeePass, which keepassxc-cli decrypts with its passphrase.
    ///
    /// - Parameters:
    ///   - passphrase: Given by a descriptor; `nil` to ask on the terminal.
    ///   - keyFile: The key file of the database, if it has one.
    static func keepass(_ path: String, _ passphrase: Secret?, keyFile: String?) throws(CofferError) -> ExchangeList {
        var typed = passphrase
        if typed == nil {
            typed = Secret(
                try SecretInput.ask("Passphrase of \(quotedForDisplay(path)): ", limit: Limits.passcodeBytes)
            )
        }
        let line = try SecretLine.with(typed ?? Secret(nil))
        func argument(_ path: String) -> String { path.hasPrefix("-") ? "./\(path)" : path }
        // So that a file that is missing is told from a wrong passphrase.
        for file in [path, keyFile].compactMap({ $0 }) { _ = try SecretInput.open(file) }
        let key = keyFile.map { ["--key-file", argument($0)] } ?? []
        do throws(CofferError) {
            let xml = try output(
                of: ("keepassxc-cli", "keepassxc"),
                ["export", "--format", "xml"] + key + [argument(path)],
                input: line,
                limit: Limits.importFileBytes,
                quotedForDisplay(path)
            )
            return try ImportFormat.keepassXML.entries(of: xml, inflate: inflate)
        } catch {
            guard error.code == .io,
                ["nvalid credentials", "HMAC mismatch", "file may be corrupt"].contains(where: {
                    error.message.contains($0)
                })
            else { throw error }
            let subject =
                keyFile == nil ? "the passphrase does not open" : "the passphrase and the key file do not open"
            throw CofferError(
                .authFailed,
                "\(subject) the database",
                hint: keyFile == nil ? "if the database has a key file, too, name it by --key-file" : nil
            )
        }
    }

    /// Decompresses data in the format of gzip.
    ///
    /// - Throws: `dataTooLarge` before memory is allocated for more than an import takes.
    static func inflate(_ content: Secret) throws(CofferError) -> Secret {
        let count = content.withBytes { bytes -> Int? in
            guard bytes.byteCount >= 18 else { return nil }
            // The last four bytes are the length, so that a bomb has to lie in it.
            return (1...4).reduce(0) {
                $0 << 8 | Int(unsafe bytes.unsafeLoad(fromByteOffset: bytes.byteCount - $1, as: UInt8.self))
            }
        }
        guard content.isGzip, let count else { throw CofferError(.param, "it is not what gzip makes") }
        guard count <= Limits.importFileBytes else { throw .importTooLarge("the attached file") }
        do {
            let memory = try AnonymousMemory("coffer import")
            try content.write(to: memory.number)
            let file = "/proc/\(getpid())/fd/\(memory.number)"
            return try output(of: ("gzip", "gzip"), ["-dc", file], limit: count, to: "inflate", "the attached file")
        } catch let error as SystemError {
            throw error.cofferError("can't inflate the attached file")
        } catch let error as CofferError {
            throw error
        } catch {
            throw CofferError(.internal, "can't inflate the attached file")
        }
    }
}

extension Secret {
    /// Whether it begins as an archive of zip does.
    fileprivate var isZip: Bool { begins(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// Whether it begins as data in the format of gzip does.
    fileprivate var isGzip: Bool { begins(with: [0x1F, 0x8B]) }

    private func begins(with start: [UInt8]) -> Bool {
        withBytes { bytes in
            bytes.byteCount > start.count
                && start.enumerated().allSatisfy {
                    unsafe bytes.unsafeLoad(fromByteOffset: $0.offset, as: UInt8.self) == $0.element
                }
        }
    }
}

extension String {
    /// Whether a path in an archive stays below the directory into which it would be unpacked.
    fileprivate var isInside: Bool {
        !hasPrefix("/") && !contains("\\") && !split(separator: "/").contains("..")
            && !unicodeScalars.contains { $0.value < 32 }
    }
}
