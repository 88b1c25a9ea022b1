internal import CofferClient
internal import CofferExchange
internal import CofferSession
internal import CofferTerminal

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
    /// - Parameter passphrase: Given by a descriptor; `nil` to ask on the terminal.
    static func keepass(_ path: String, _ passphrase: Secret?) throws(CofferError) -> ExchangeList {
        var typed = passphrase
        if typed == nil {
            typed = Secret(
                try SecretInput.ask("Passphrase of \(quotedForDisplay(path)): ", limit: Limits.passcodeBytes)
            )
        }
        let line = try SecretLine.with(typed ?? Secret(nil))
        let xml = try output(
            of: ("keepassxc-cli", "keepassxc"),
            ["export", "--format", "xml", path.hasPrefix("-") ? "./\(path)" : path],
            input: line,
            limit: Limits.importFileBytes,
            quotedForDisplay(path)
        )
        return try ImportFormat.keepassXML.entries(of: xml)
    }

    /// The schemas under which programs store secrets: secret-tool finds items by an attribute only.
    private static let schemas = [
        "org.freedesktop.Secret.Generic", "org.gnome.keyring.Note", "org.gnome.keyring.NetworkPassword",
        "org.freedesktop.NetworkManager.Connection", "chrome_libsecret_os_crypt_password_v2",
    ]

    /// The items of the running Secret Service that have one of the usual schemas, by secret-tool.
    static func secretService() throws(CofferError) -> ExchangeList {
        var list = ExchangeList()
        for schema in schemas {
            let text = try output(
                of: ("secret-tool", "libsecret-tools"),
                ["search", "--all", "--unlock", "xdg:schema", schema],
                limit: Limits.importFieldBytes,
                "the Secret Service"
            )
            if text.count == 0 { continue }
            for entry in try ImportFormat.secretService.entries(of: text).entries { try list.append(entry) }
        }
        list.remarks.append("secret-tool prints no attributes, so items get only their label and their secret")
        return list
    }
}

extension Secret {
    /// Whether it begins as an archive of zip does.
    fileprivate var isZip: Bool {
        withBytes { bytes in
            bytes.byteCount > 4
                && [0x50, 0x4B, 0x03, 0x04].enumerated().allSatisfy {
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
