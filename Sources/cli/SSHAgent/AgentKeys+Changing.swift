internal import CofferClient
internal import CofferSecretFormats
internal import CofferCore
internal import CofferMemory
internal import CofferSystem

// Adding and removing keys.

extension AgentKeys {
    /// Stores a key, which never leaves the daemon again.
    ///
    /// - Parameters:
    ///   - key: The key, which is consumed.
    ///   - publicKey: Its public half.
    ///   - label: The label of the item.
    ///   - comment: The comment, with which the key is listed.
    ///   - accessibility: When it can be used; `nil` for the default.
    ///   - user: Further user-defined attributes.
    ///   - expiry: The time after which it is not used.
    /// - Returns: The reference of the item.
    @discardableResult
    func store(
        _ key: consuming KeyInput,
        _ publicKey: SSHPublicKey,
        label: String,
        comment: String,
        accessibility: Accessibility? = nil,
        user: [AttributeName: String] = [:],
        expiry: Int64? = nil
    ) throws(CofferError) -> ItemID {
        var attributes: [KeychainAttribute: AttributeValue] = [.label: .text(label), .isExtractable: .bool(false)]
        attributes[.expiryDate] = expiry.map { .date($0) }
        var marks = user
        try key.describe(&attributes, &marks)
        marks[AgentAttribute.format.name] = AgentAttribute.format.value
        marks[AgentAttribute.comment] = comment
        marks[AgentAttribute.publicKey] = publicKey.text
        let params = KeychainAddParameters(.key, attributes, user: marks, accessibility: accessibility)
        return try client.call(params, payload: Secret(key.takeBytes())).value.reference
    }

    /// Adds a key that `ssh-add` sends, or changes the constraints of one that it has added before.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - certificate: The certificate that it came with, encoded; `nil` leaves the one that the key has.
    ///   - constraints: The constraints.
    ///   - path: The bindings of the connection: what it may not see, it may not change.
    /// - Throws: `duplicateItem` if the vault has it already, and the constraints can't be those that are given.
    func add(
        _ key: consuming KeyInput,
        _ certificate: [UInt8]?,
        _ constraints: AgentConstraints,
        over path: [AgentBinding]
    ) throws(CofferError) {
        let publicKey = try key.sshPublicKey()
        _ = try purge()
        let expiry = constraints.lifetime.map { wallClockMilliseconds().nearestSum(Int64($0) * 1000) }
        guard let known = try list().first(where: { $0.publicKey == publicKey }) else {
            let comment = key.comment.flatMap { $0.isEmpty ? nil : $0 } ?? publicKey.fingerprint
            var user = [AgentAttribute.added.name: AgentAttribute.added.value]
            if constraints.isConfirmed { user[AgentAttribute.confirmed.name] = AgentAttribute.confirmed.value }
            user[AgentAttribute.certificate] = certificate.map { Base64.encode($0) }
            user[AgentAttribute.destinations] = constraints.destinations.map { Base64.encode($0.bytes) }
            try store(key, publicKey, label: comment, comment: comment, user: user, expiry: expiry)
            return
        }
        guard known.isVisible(over: path) else { throw .noSuchKey }
        if known.isAdded { return try change(known, certificate, constraints, expiry) }
        guard constraints.isEmpty else {
            throw CofferError(
                .duplicateItem,
                "the vault keeps \(known.quoted) already, without these constraints",
                hint: "remove it first: 'coffer keychain delete --reference \(known.reference.hexadecimal)'"
            )
        }
        var change = KeychainChange()
        change.user[AgentAttribute.certificate] = certificate.map { Base64.encode($0) }
        try apply(change, to: known)
    }

    private func change(
        _ key: AgentKey,
        _ certificate: [UInt8]?,
        _ constraints: AgentConstraints,
        _ expiry: Int64?
    ) throws(CofferError) {
        var change = KeychainChange()
        change.user[AgentAttribute.certificate] = certificate.map { Base64.encode($0) }
        if let expiry {
            change.attributes[.expiryDate] = .date(expiry)
        } else if key.expiry != nil {
            change.removedAttributes = [.expiryDate]
        }
        if constraints.isConfirmed {
            change.user[AgentAttribute.confirmed.name] = AgentAttribute.confirmed.value
        } else if key.isConfirmed {
            change.removedUser = [AgentAttribute.confirmed.name]
        }
        if let destinations = constraints.destinations {
            change.user[AgentAttribute.destinations] = Base64.encode(destinations.bytes)
        } else if key.destinations != nil {
            change.removedUser.insert(AgentAttribute.destinations)
        }
        try apply(change, to: key)
    }

    private func apply(_ change: KeychainChange, to key: AgentKey) throws(CofferError) {
        if change.isEmpty { return }
        try client.call(KeychainUpdateParameters(KeychainQuery(reference: key.reference, itemClass: .key), change))
    }

    // MARK: Removing

    /// Removes a key that `ssh-add` has added.
    ///
    /// - Throws: `missingEntitlement` for any other.
    func remove(_ key: AgentKey) throws(CofferError) {
        guard key.isAdded else {
            throw CofferError(
                .missingEntitlement,
                "\(key.quoted) was not added by ssh-add, and is not removed by it",
                hint: "'coffer keychain delete --reference \(key.reference.hexadecimal)' removes it"
            )
        }
        try client.call(KeychainDeleteParameters(KeychainQuery(reference: key.reference, itemClass: .key)))
    }

    /// Removes the certificate of a key, which `ssh-add` has added; another client may have added the key.
    func removeCertificate(of key: AgentKey) throws(CofferError) {
        guard key.certificate != nil else { return }
        var change = KeychainChange()
        change.removedUser = [AgentAttribute.certificate]
        try apply(change, to: key)
    }

    /// Removes the keys and the certificates that `ssh-add` has added, and those only.
    ///
    /// - Parameter path: The bindings of the connection: what it may not see, it may not remove.
    /// - Returns: How many keys are left.
    func removeAdded(over path: [AgentBinding]) throws(CofferError) -> Int {
        let keys = try list().filter { $0.isVisible(over: path) }
        for key in keys { try key.isAdded ? remove(key) : removeCertificate(of: key) }
        return keys.count { !$0.isAdded }
    }

    /// Removes the keys that `ssh-add` has added for a time that has passed.
    ///
    /// - Returns: When the next such time ends, in milliseconds since 1970; `nil` if there is none.
    func purge() throws(CofferError) -> Int64? {
        let now = wallClockMilliseconds()
        let timed = try all().filter { $0.isAdded && $0.expiry != nil }
        for key in timed where key.expiry ?? now <= now { try remove(key) }
        return timed.compactMap(\.expiry).filter { $0 > now }.min()
    }
}
