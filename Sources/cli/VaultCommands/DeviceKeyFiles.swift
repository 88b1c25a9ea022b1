internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferTerminal

/// The files of the device key of the machine's vault.
struct DeviceKeyFiles {
    /// The file name of the unsealed key in the state directory.
    private static let plainName = "device.key"

    /// The vault's state directory.
    var state = "/var/lib/coffer"
    /// The path of the sealed key, where the package's unit finds it.
    var sealed = "/etc/credstore.encrypted/coffer.device-key"

    /// The unsealed key; `nil` if it does not exist.
    func plainKey() throws(CofferError) -> SecretBytes? {
        let directory = try directory()
        let found: OwnedDescriptor?
        do { found = try directory.openIfPresent(Self.plainName) } catch {
            throw error.cofferError("can't read the device key")
        }
        guard let file = found else { return nil }
        let key = try SecretInput.readAll(from: file.number, limit: SealedKey.keyBytes + 1, "the device key")
        guard key.count == SealedKey.keyBytes else {
            throw CofferError(.decode, "'\(Self.plainName)' has not exactly \(SealedKey.keyBytes) bytes")
        }
        return key
    }

    /// Seals the key to the machine, opens it again, and only then destroys the plain file.
    ///
    /// - Parameters:
    ///   - wanted: What it takes to open it.
    ///   - keepsPlain: Whether the plain key stays.
    /// - Returns: What it takes to open it, decided.
    /// - Throws: `itemNotFound` if there is no plain key; `duplicateItem` if another vault's key is sealed there.
    func seal(to wanted: SealedKey.Holder, keepsPlain: Bool = false) throws(CofferError) -> SealedKey.Holder {
        guard let key = try plainKey() else {
            throw CofferError(
                .itemNotFound,
                "there is no plain device key in \(quotedForDisplay(state))",
                hint: "'coffer device-key check' says how it is held"
            )
        }
        if let other = try SealedKey(at: sealed), try !other.opened().isEqual(to: key) {
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(sealed)) is the key of another vault",
                hint: "name another file with --sealed, or move that one away"
            )
        }
        let holder = wanted == .auto ? SealedKey.hasChip ? .hostAndChip : .host : wanted
        try write(try SealedKey(key, to: holder))
        // Only the file on the disk counts.
        guard let written = try SealedKey(at: sealed), try written.opened().isEqual(to: key) else {
            throw CofferError(.io, "what was written to \(quotedForDisplay(sealed)) is not what was sealed")
        }
        if !keepsPlain { try destroyPlainKey() }
        return holder
    }

    private func directory() throws(CofferError) -> Directory {
        do { return try Directory(openingPath: state) } catch {
            throw error.cofferError("can't open the state directory \(quotedForDisplay(state))")
        }
    }

    private func write(_ key: SealedKey) throws(CofferError) {
        let parts = sealed.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        do throws(SystemError) {
            let directory = try Directory(makingPath: parts.count > 1 ? folder + "/" : ".")
            try unsafe directory.replace(String(parts.last ?? ""), with: key.bytes.span.bytes)
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(sealed))")
        }
    }

    private func destroyPlainKey() throws(CofferError) {
        let directory = try directory()
        do throws(SystemError) {
            try directory.shredLeftovers(of: Self.plainName)
            try directory.shred(Self.plainName)
        } catch {
            throw error.cofferError("the key is sealed, and the plain one could not be destroyed")
        }
    }
}

extension SealedKey.Holder {
    /// What it takes to open the key.
    var words: String {
        switch self {
        case .auto, .host: "this machine's disk, without a TPM: a stolen disk opens the vault"
        case .tpm2: "this machine's chip"
        case .hostAndChip: "this machine's chip and its disk"
        }
    }
}
