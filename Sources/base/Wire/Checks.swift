package import CofferCore

// Rules over all parameters of a method together. The generated readers call `check` at their end.

extension VaultEraseParameters {
    func check() throws(CofferError) {
        guard isWhatever == (vaultID != nil) else { return }
        throw CofferError(
            .param,
            "exactly one of 'vaultID' and 'whatever' says which vault is meant",
            hint: "name the vault, or give 'whatever' for one that can't be read"
        )
    }
}

extension FileStatParameters {
    func check() throws(CofferError) { try checkFile(name, handle) }
}

extension FileSetAttributesParameters {
    func check() throws(CofferError) { try checkFile(name, handle) }
}

extension FileGetExtendedAttributeParameters {
    func check() throws(CofferError) {
        try checkFile(name, handle)
        try checkAttribute(attribute)
    }
}

extension FileListExtendedAttributesParameters {
    func check() throws(CofferError) { try checkFile(name, handle) }
}

extension FileRemoveExtendedAttributeParameters {
    func check() throws(CofferError) {
        try checkFile(name, handle)
        try checkAttribute(attribute)
    }
}

extension FileSetExtendedAttributeParameters {
    func check() throws(CofferError) {
        try checkFile(name, handle)
        try checkAttribute(attribute)
        if creates && replaces {
            throw CofferError(
                .param,
                "parameters 'create' and 'replace' were both given",
                hint: "with 'create' the attribute must not exist, with 'replace' it must"
            )
        }
    }
}

extension FileRenameParameters {
    func check() throws(CofferError) {
        guard exchanges && replaces else { return }
        throw CofferError(
            .param,
            "parameters 'exchange' and 'replace' were both given",
            hint: "with 'exchange' both names stay, with 'replace' one of them"
        )
    }
}

extension FileSymlinkParameters {
    func check() throws(CofferError) {
        if (1...Limits.linkTargetBytes).contains(target.utf8.count) && !target.utf8.contains(0) { return }
        throw CofferError(
            .param,
            "parameter 'target': expected 1 to \(Limits.linkTargetBytes) bytes without NUL",
            reason: target.utf8.count > Limits.linkTargetBytes ? .nameTooLong : nil
        )
    }
}

extension MountServeParameters {
    func check() throws(CofferError) {
        if place.hasPrefix("/") && place.utf8.count <= Limits.nameBytes && !place.utf8.contains(0) { return }
        throw CofferError(
            .param,
            "parameter 'place': expected an absolute path of at most \(Limits.nameBytes) bytes without NUL",
            reason: place.utf8.count > Limits.nameBytes ? .nameTooLong : nil
        )
    }
}

private func checkAttribute(_ name: String) throws(CofferError) {
    if (1...Limits.extendedAttributeNameBytes).contains(name.utf8.count) && !name.utf8.contains(0) { return }
    throw CofferError(
        .param,
        "parameter 'attribute': expected 1 to \(Limits.extendedAttributeNameBytes) bytes without NUL",
        reason: name.utf8.count > Limits.extendedAttributeNameBytes ? .nameTooLong : nil
    )
}

/// Refuses a request that does not say once which file it is about.
private func checkFile(_ name: ItemName?, _ handle: Int64?) throws(CofferError) {
    guard (name == nil) == (handle == nil) else { return }
    throw CofferError(
        .param,
        "exactly one of 'name' and 'handle' says which file is meant",
        hint: "give 'handle' for a file that is open, and 'name' for any other"
    )
}

extension VaultQuarantineParameters {
    func check() throws(CofferError) {
        guard (store == nil) == (number == nil) else {
            throw CofferError(.param, "parameters 'store' and 'number' name one row together: give both, or neither")
        }
        if action == .acknowledge && (number != nil || cursor != nil) {
            throw CofferError(.param, "faults of the whole vault are acknowledged together: give 'action' alone")
        }
        if action == .discard && number == nil {
            throw CofferError(
                .param,
                "what is to be destroyed has to be named",
                hint: "give 'store' and 'number', as a list has them"
            )
        }
    }
}

extension KeychainQuery {
    func check() throws(CofferError) {
        if reference == nil && itemClass == nil {
            let names = ItemClass.allCases.quoted
            throw CofferError(.param, "parameter 'class' is missing: expected one of \(names), or a 'reference'")
        }
        let isAlone = attributes.isEmpty && user.isEmpty && prefix.isEmpty && contains.isEmpty && expiringBefore == nil
        if reference != nil && !isAlone {
            throw CofferError(
                .param,
                "parameter 'reference' names one item: only 'class' can stand beside it in a query"
            )
        }
    }
}

extension KeychainUpdateParameters {
    func check() throws(CofferError) { try query.requireCondition(isForAll, "change") }
}

extension KeychainDeleteParameters {
    func check() throws(CofferError) { try query.requireCondition(isForAll, "delete") }
}

extension KeychainQuery {
    /// Refuses a query that every item of its class meets, unless the client says that it means all of them.
    fileprivate func requireCondition(_ isForAll: Bool, _ verb: String) throws(CofferError) {
        if isForAll || hasCondition { return }
        throw CofferError(
            .param,
            "the query has no condition, and would \(verb) every item of class '\(itemClass?.rawValue ?? "")'",
            hint: "name an attribute, or give 'all' as true"
        )
    }
}

extension KeychainAddParameters {
    func check() throws(CofferError) {
        if itemClass == .identity {
            throw CofferError(
                .param,
                "an identity can't be added: it is a certificate joined with its private key",
                hint: "add the two of them"
            )
        }
        if generates != nil && itemClass != .key {
            throw CofferError(.param, "parameter 'generate' is for items of class 'key' only")
        }
    }
}

extension BackupBeginParameters {
    func check() throws(CofferError) {
        guard let since else { return }
        // A mistyped digest would have the client copy everything.
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        let count = 2 * Limits.snapshotDigestBytes
        if since.utf8.count == count && since.utf8.allSatisfy({ digits ~= $0 || letters ~= $0 }) { return }
        throw CofferError(.param, "parameter 'since': expected \(count) lower-case hexadecimal digits")
    }
}

extension KeychainFindParameters {
    func check() throws(CofferError) {
        if let cursor, cursor.utf8.count > Limits.cursorBytes {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page")
        }
    }
}

extension KeychainAgreeParameters {
    /// The size of a public key.
    private static var keyBytes: Int { 32 }

    func check() throws(CofferError) {
        if peer.count == Self.keyBytes { return }
        throw CofferError(.param, "parameter 'peer' has \(peer.count) bytes: expected \(Self.keyBytes) in base64")
    }
}

extension AccessAllowParameters {
    func check() throws(CofferError) {
        guard (pattern == nil) != (name == nil) else {
            throw CofferError(.param, "expected one of the parameters 'pattern' and 'name'")
        }
        if uses != nil && verbs != [.read] {
            throw CofferError(
                .param,
                "parameter 'uses': only reading is counted",
                hint: "omit 'uses', or name the verb 'read' alone"
            )
        }
        if let reason, reason.isEmpty || reason.utf8.count > Limits.accessRuleReasonBytes {
            throw CofferError(.param, "parameter 'reason': expected 1 to \(Limits.accessRuleReasonBytes) bytes")
        }
        try checkRule(client, pattern)
    }
}

extension AccessDenyParameters {
    func check() throws(CofferError) { try checkRule(client, pattern) }
}

/// Refuses a rule that could never apply.
private func checkRule(_ client: ClientPattern, _ pattern: NamePattern?) throws(CofferError) {
    try client.checkRuled()
    if let pattern, pattern.isOneName { _ = try ItemName(pattern.text) }
}

extension ItemProtectParameters {
    package init(name: ItemName, protection: Protection, group: String? = nil) {
        switch protection {
        case .file(let protectionClass): self.init(name: name, protectionClass: protectionClass, group: group)
        case .keychain(let accessibility): self.init(name: name, accessibility: accessibility, group: group)
        }
    }
}
