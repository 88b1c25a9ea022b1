internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferSystem
internal import CofferTerminal

/// A key that the agent offers.
struct AgentKey {
    let reference: ItemID
    let publicKey: SSHPublicKey
    /// The certificate that is listed beside the key, encoded; `nil` if there is none.
    let certificate: [UInt8]?
    let comment: String
    /// Whether `ssh-add` added it, so that `ssh-add` may remove it.
    let isAdded: Bool
    /// Whether a person confirms each use.
    let isConfirmed: Bool
    /// The hosts for which it may be used; `nil` for all.
    let destinations: AgentDestinations?
    /// The time after which it is not used, in milliseconds since 1970.
    let expiry: Int64?

    /// Whether a client may see it.
    ///
    /// - Parameter path: The bindings of the connection.
    func isVisible(over path: [AgentBinding]) -> Bool { destinations?.allow(path, user: nil) ?? true }

    /// The encoded key and its certificate, each of which a client may name it by.
    var blobs: [[UInt8]] { [publicKey.blob] + (certificate.map { [$0] } ?? []) }

    /// The name of the key in messages.
    var quoted: String { "\(quotedForDisplay(comment)) (\(publicKey.fingerprint))" }
}

/// The keys of the vault, over a connection that exists during one request.
struct AgentKeys {
    let client: BlockingClient

    init(_ client: BlockingClient) { self.client = client }

    // MARK: Listing

    /// The keys that are not past their time, in the order of adding.
    func list() throws(CofferError) -> [AgentKey] {
        let now = wallClockMilliseconds()
        return try all().filter { $0.expiry.map { $0 > now } ?? true }
    }

    /// All keys, those that are past their time included.
    func all() throws(CofferError) -> [AgentKey] {
        let marks = [AgentAttribute.format.name: AgentAttribute.format.value]
        let query = KeychainQuery(.key, [.keyClass: .text("private")], user: marks)
        var keys: [AgentKey] = []
        do throws(CofferError) {
            try forEachPage { (cursor: String?) throws(CofferError) -> String? in
                let params = KeychainFindParameters(query, limit: .all, cursor: cursor, returns: [.attributes])
                let page = try client.call(params).value
                keys += page.items.compactMap { key(of: $0) }
                return page.cursor
            }
        } catch { guard error.code == .itemNotFound else { throw error } }
        return keys
    }

    private func key(of item: KeychainItemInfo) -> AgentKey? {
        guard let publicKey = publicKey(of: item) else { return nil }
        let (attributes, user) = (item.attributes ?? [:], item.user ?? [:])
        let encoded = user[AgentAttribute.destinations]
        let destinations = encoded.flatMap { Base64.decode($0) }.flatMap { try? AgentDestinations($0) }
        // What can't be read can't be kept, so the key is not used at all.
        guard encoded == nil || destinations != nil else { return nil }
        var expiry: Int64?
        if case .date(let date) = attributes[.expiryDate] { expiry = date }
        var label = ""
        if case .text(let text) = attributes[.label] { label = text }
        return AgentKey(
            reference: item.reference,
            publicKey: publicKey,
            certificate: user[AgentAttribute.certificate].flatMap { Base64.decode($0) },
            comment: user[AgentAttribute.comment] ?? label,
            isAdded: user[AgentAttribute.added.name] == AgentAttribute.added.value,
            isConfirmed: user[AgentAttribute.confirmed.name] != nil,
            destinations: destinations,
            expiry: expiry
        )
    }

    /// The public key; without the attribute, only the daemon knows it, and only while it is not locked.
    private func publicKey(of item: KeychainItemInfo) -> SSHPublicKey? {
        if let key = item.user?[AgentAttribute.publicKey].flatMap({ SSHPublicKey(text: $0) }) { return key }
        let params = KeychainPublicKeyParameters(KeychainQuery(reference: item.reference, itemClass: .key))
        guard let key = try? client.call(params).value, let type = StoredKeyType(rawValue: key.keyType) else {
            return nil
        }
        return try? SSHPublicKey(type, key.bytes)
    }

    /// The key of an encoded public key, or of a certificate.
    ///
    /// - Throws: `itemNotFound` if there is none.
    func key(of blob: [UInt8]) throws(CofferError) -> AgentKey {
        guard let key = try list().first(where: { $0.blobs.contains(blob) }) else { throw .noSuchKey }
        return key
    }

    // MARK: Using

    /// Signs inside the daemon.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - key: The key.
    ///   - flags: Those of the request.
    /// - Returns: The signature in the format of SSH.
    func signature(of message: Secret, by key: AgentKey, flags: Int) throws(CofferError) -> [UInt8] {
        let form = try SignatureForm(key.publicKey, flags)
        let params = KeychainSignParameters(
            KeychainQuery(reference: key.reference, itemClass: .key),
            digest: form.digest
        )
        let signature = try client.call(params, payload: message).payload.ofSignatureSize().exposeBytes()
        var writer = SSHWriter()
        writer.string(form.algorithm)
        if key.publicKey.isECDSA {
            let numbers = try IntegerPair(der: signature)
            var inner = SSHWriter()
            inner.string(numbers.first)
            inner.string(numbers.second)
            writer.string(inner.bytes)
        } else {
            writer.string(signature)
        }
        return writer.bytes
    }
}

extension CofferError {
    static let noSuchKey = CofferError(.itemNotFound, "the vault has no such key")
}

/// The algorithm of a signature.
private struct SignatureForm {
    let algorithm: String
    let digest: SignatureDigest?

    init(_ key: SSHPublicKey, _ flags: Int) throws(CofferError) {
        switch key.isRSA {
        case false: (algorithm, digest) = (key.algorithm, nil)
        case true where flags & AgentMessage.SignFlags.rsaSHA512 != 0:
            (algorithm, digest) = ("rsa-sha2-512", .sha512)
        case true where flags & AgentMessage.SignFlags.rsaSHA256 != 0:
            (algorithm, digest) = ("rsa-sha2-256", .sha256)
        default:
            throw CofferError(
                .param,
                "a signature of RSA with SHA-1 ('ssh-rsa') was asked for, which is broken",
                hint: "use a server and a client that know 'rsa-sha2-256' or 'rsa-sha2-512'"
            )
        }
    }
}
