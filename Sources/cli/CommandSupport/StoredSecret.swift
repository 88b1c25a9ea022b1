package import CofferClient
package import CofferSecretFormats
internal import CofferTerminal
internal import Glibc

/// Whether a person types at standard input.
package var isTypedInput: Bool { isatty(STDIN_FILENO) == 1 }

/// A secret that was read, and what is known of its item: what a verb needs to change it.
package struct StoredSecret {
    let name: ItemName
    let info: ItemInfo
    package let content: Secret

    /// The fields.
    ///
    /// - Throws: `param` if it has none.
    package func fields() throws(CofferError) -> SecretFields {
        guard let fields = SecretFields(content) else {
            throw CofferError(
                .param,
                "\(name.quoted): \(CofferError.noFields.message)",
                hint: CofferError.noFields.hint
            )
        }
        return fields
    }

    /// The value of a field; the user name and the address of an internet password are attributes.
    ///
    /// - Throws: `itemNotFound` if there is none; the hint names those that exist.
    package func value(of field: String) throws(CofferError) -> Secret {
        let ownValue = try SecretFields(content)?.value(of: field)
        if let ownValue { return ownValue }
        if let text = info.attributes?.loginField(field) { return try Secret(exposed: text) }
        let fields = try fields()
        let names = fields.names.map { quotedForDisplay($0) }.joined(separator: ", ")
        throw CofferError(
            .itemNotFound,
            "\(name.quoted) has no field \(quotedForDisplay(field))",
            hint: "its fields are \(names)"
        )
    }
}

extension Session {
    /// Reads a secret.
    ///
    /// - Throws: `dataTooLarge` if it is larger than a secret.
    package func secret(_ name: ItemName, in group: String?) throws(CofferError) -> StoredSecret {
        // What is known of it comes first: a change in between is then a change of what was read.
        let info = try client.call(ItemShowParameters(name: name, group: group)).value
        guard info.byteCount <= Limits.secretBytes else {
            throw CofferError(
                .dataTooLarge,
                "\(name.quoted) has \(info.byteCount) bytes: a secret has at most \(Limits.secretBytes)",
                hint: "'coffer get' and 'coffer put' take content of any size"
            )
        }
        let returned = try call(ItemGetParameters(name: name, group: group))
        Output.warnOfExpiry(of: name, returned.value)
        return StoredSecret(name: name, info: info, content: returned.payload)
    }

    /// Reads a secret, if there is one under the name.
    package func secretIfPresent(_ name: ItemName, in group: String?) throws(CofferError) -> StoredSecret? {
        do throws(CofferError) {
            return try secret(name, in: group)
        } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Replaces a secret that was read, with its protection, unless it has changed since.
    ///
    /// In the keychain, the daemon compares and replaces in one step. A file is compared before it is replaced.
    ///
    /// - Parameters:
    ///   - stored: The secret.
    ///   - content: Its new content.
    ///   - protection: The protection that it gets with that.
    /// - Throws: `duplicateItem` if another client has changed it.
    package func replace(
        _ stored: StoredSecret,
        with content: Secret,
        protecting protection: NewProtection = NewProtection()
    ) throws(CofferError) {
        try showNewPassword(for: protection.accessControl)
        let info = stored.info
        guard var query = KeychainQuery(for: info), content.count <= Limits.secretBytes else {
            let now = try client.call(ItemShowParameters(name: stored.name, group: info.group)).value
            guard now.modified == info.modified else { throw .changed(stored.name) }
            return try put(stored.name, content, protection.changing(PlacementOptions(keeping: info)), protection)
        }
        query.attributes[.modificationDate] = .date(info.modified)
        do throws(CofferError) {
            var change = LoginWords(content).change(from: LoginWords(stored.content), of: info)
            change.accessibility = protection.readable?.accessibility
            change.accessControl = protection.accessControl
            let updated = try call(KeychainUpdateParameters(query, change, replacingBy: content), payload: content)
            Output.warn(updated.value.warnings)
        } catch {
            throw error.code == .itemNotFound ? .changed(stored.name) : error
        }
    }

    /// Stores a secret under a name that has none.
    ///
    /// - Throws: `duplicateItem` if another client has stored one meanwhile.
    package func create(
        _ name: ItemName,
        _ content: Secret,
        _ wishes: PlacementOptions,
        protecting protection: NewProtection = NewProtection()
    ) throws(CofferError) {
        try showNewPassword(for: protection.accessControl)
        do throws(CofferError) {
            try put(name, content, protection.changing(wishes), protection, isIfAbsent: true)
        } catch {
            throw error.code == .duplicateItem ? .changed(name) : error
        }
    }

    private func put(
        _ name: ItemName,
        _ content: Secret,
        _ wishes: PlacementOptions,
        _ protection: NewProtection,
        isIfAbsent: Bool = false
    ) throws(CofferError) {
        guard content.count > 0 else {
            throw CofferError(.param, "nothing was stored under \(name.quoted): it would be empty")
        }
        // Of what may become a file, nothing is noted before the answer says where it is.
        let isSecret = wishes.kind == .password || wishes.store == .keychain
        let words = LoginWords(content)
        let params = ItemPutParameters(
            name: name,
            wishes: wishes,
            user: isSecret ? words.attributes(beside: name.path.utf8.count) : [:],
            isIfAbsent: isIfAbsent,
            accessControl: protection.accessControl
        )
        let placement = try call(params, payload: content).value
        Output.warn(placement.warnings)
        if !isSecret { note(words, of: name, placement, in: wishes.group) }
    }

    /// Notes the user name and the addresses of a login that was stored, if it is in the keychain.
    ///
    /// It is stored in any case: a client that may not do this either stores what is found by its name.
    package func note(_ words: LoginWords, of name: ItemName, _ placement: Placement, in group: String?) {
        guard !words.attributes.isEmpty, placement.protection.store == .keychain,
            let info = try? client.call(ItemShowParameters(name: name, group: group)).value
        else { return }
        change(info, by: words.replacing(of: info))
    }

    /// A secret whose reading takes no authentication, before a change of it that its attributes follow.
    package func login(_ name: ItemName, in group: String?) -> StoredSecret? {
        guard let info = try? client.call(ItemShowParameters(name: name, group: group)).value,
            info.itemClass == .genericPassword, info.accessControl == nil,
            let content = try? client.call(ItemGetParameters(name: name, group: info.group)).payload
        else { return nil }
        return StoredSecret(name: name, info: info, content: content)
    }

    /// Brings the user name and the addresses of a login in step with its secret, which was replaced by a former value.
    ///
    /// - Parameter former: The item, and its secret before.
    package func note(_ former: StoredSecret) {
        let params = ItemGetParameters(name: former.name, group: former.info.group)
        guard let content = try? client.call(params).payload else { return }
        change(former.info, by: LoginWords(content).change(from: LoginWords(former.content), of: former.info))
    }

    private func change(_ item: ItemInfo, by change: KeychainChange) {
        guard !change.isEmpty, let query = KeychainQuery(for: item) else { return }
        _ = try? client.call(KeychainUpdateParameters(query, change))
    }
}

extension Output {
    /// Warns if what was read has expired.
    package static func warnOfExpiry(of name: ItemName, _ item: ItemGetResult) {
        guard item.isExpired, let date = item.expiryDate else { return }
        warn(["\(name.quoted) has expired: it was valid until \(Timestamp.text(date))"])
    }
}

extension PlacementOptions {
    /// A secret that is new.
    package init(newSecretIn group: String?, as accessibility: Accessibility? = nil) {
        self.init()
        kind = .password
        self.group = group
        self.accessibility = accessibility
    }

    /// The store and the protection of an item that is replaced.
    fileprivate init(keeping info: ItemInfo) {
        self.init()
        group = info.group
        guard case .file(let protection) = info.protection else { return }
        store = .file
        protectionClass = protection
    }
}

extension CofferError {
    fileprivate static func changed(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "\(name.quoted) was not changed: another client has changed it meanwhile",
            hint: "repeat the command"
        )
    }
}
