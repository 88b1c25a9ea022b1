internal import ArgumentParser
package import CofferClient
package import CofferSecretFormats
internal import CofferMemory
package import CofferCommandSupport
internal import CofferTerminal

/// The options of the credential helpers, which a configuration may give before the operation.
struct CredentialHelperOptions: ParsableArguments {
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    /// Connects.
    ///
    /// - Parameters:
    ///   - program: The program that asks for credentials, for a prompt.
    ///   - mayAsk: Whether that program allows a prompt on the terminal.
    func connect(for program: Line, mayAsk: Bool = true) throws(CofferError) -> CredentialKeychain {
        CredentialKeychain(
            session: Session(client: try connection.connect(), given: [:]),
            group: access.group,
            program: program,
            canAsk: mayAsk && (try? SecretInput.openTerminal(orElse: "")) != nil
        )
    }
}

/// The keychain as credential helpers use it: a person at the terminal can unlock the vault meanwhile.
package struct CredentialKeychain {
    let session: Session
    /// The access group; `nil` for the caller's first.
    let group: String?
    /// The program that asks for credentials.
    let program: Line
    /// Whether there is a terminal to ask on.
    let canAsk: Bool

    package init(session: Session, group: String?, program: Line, canAsk: Bool) {
        self.session = session
        self.group = group
        self.program = program
        self.canAsk = canAsk
    }

    // MARK: Requests

    /// Sends a request; if the vault is locked, again after it was unlocked.
    @discardableResult
    func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        do throws(CofferError) {
            return try send(params, payload)
        } catch {
            guard error.code == .interactionNotAllowed, canAsk else { throw error }
        }
        try unlock()
        return try send(params, payload)
    }

    private func send<Parameters: MethodParameters>(
        _ params: Parameters,
        _ payload: Secret?
    ) throws(CofferError) -> Returned<Parameters.Result> {
        // Without a terminal, an item that wants an authentication is refused.
        canAsk ? try session.call(params, payload: payload) : try session.client.call(params, payload: payload)
    }

    private func unlock() throws(CofferError) {
        for attempt in 1...Limits.helperPasscodeAttempts {
            let passcode = try SecretInput.ask(
                "The vault is locked. Passcode, for \(program): ",
                limit: Limits.passcodeBytes
            )
            do throws(CofferError) {
                try session.client.call(VaultUnlockParameters(), payload: Secret(passcode))
                return
            } catch {
                guard error.code == .authFailed, attempt < Limits.helperPasscodeAttempts else { throw error }
                Output.report(error)
            }
        }
    }

    // MARK: Items

    /// A query for items of the group.
    package func query(_ itemClass: ItemClass, _ attributes: [KeychainAttribute: AttributeValue]) -> KeychainQuery {
        KeychainQuery(itemClass, attributes.merging(group.map { [.accessGroup: .text($0)] } ?? [:]) { $1 })
    }

    /// What is known of all items that a query finds, the most recently changed first.
    ///
    /// - Throws: `interactionNotAllowed` if there may be more before the first unlock.
    package func items(_ query: KeychainQuery) throws(CofferError) -> [KeychainItemInfo] {
        var found: [KeychainItemInfo] = []
        do throws(CofferError) {
            try forEachPage { (cursor: String?) throws(CofferError) in
                let page = try call(
                    KeychainFindParameters(
                        query,
                        limit: .all,
                        cursor: cursor,
                        order: .modificationDateDescending,
                        returns: [.attributes]
                    )
                ).value
                found += page.items
                guard page.sealedCount == 0 else { throw .sealedCredentials }
                return page.cursor
            }
        } catch {
            guard error.code == .itemNotFound else { throw error }
        }
        return found
    }

    /// The internet passwords for an address, however it is spelled, the most recently changed first.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - attributes: The attributes of the query. Without one for the path, those for any path are found.
    /// - Throws: `interactionNotAllowed` if there may be more before the first unlock.
    package func items(
        for address: ServerAddress,
        _ attributes: [KeychainAttribute: AttributeValue]
    ) throws(CofferError) -> [KeychainItemInfo] {
        for spelling in address.spellings {
            let exact = attributes.merging(spelling.attributes.filter { attributes[$0.key] != nil }) { $1 }
            let found = try items(query(.internetPassword, exact))
            if !found.isEmpty { return found }
        }
        let others = attributes.filter { address.attributes[$0.key] == nil }
        var found: [KeychainItemInfo] = []
        for item in try items(.internetPassword, mentioning: address) {
            let known = item.attributes ?? [:]
            var own = ServerAddress(known)
            if attributes[.path] == nil { own.path = address.path }
            guard own.means(address), others.allSatisfy({ (known[$0] ?? .empty($0.form)) == $1 }) else { continue }
            found += try items(KeychainQuery(.internetPassword, identifiedBy: known))
        }
        return found.sorted { $0.modificationDate > $1.modificationDate }
    }

    /// The items whose names or attributes contain the server of an address, which the daemon scans for.
    ///
    /// The search passes over items that are sealed until the first unlock, so that nobody is asked for a passcode in vain.
    func items(_ itemClass: ItemClass, mentioning address: ServerAddress) throws(CofferError) -> [ItemInfo] {
        var found: [ItemInfo] = []
        let server = address.withoutUser.server
        if server.isEmpty { return found }
        let groups = if let group { [group] } else { try send(EntitlementExplainParameters(), nil).value.groups }
        for group in groups {
            try forEachPage { (after: String?) throws(CofferError) in
                let params = ItemListParameters(text: server, itemClass: itemClass, after: after, group: group)
                let page = try send(params, nil).value
                for item in page.items {
                    guard let name = item.reference.flatMap({ QualifiedName.reference($0).itemName }) else { continue }
                    do throws(CofferError) {
                        found.append(try send(ItemShowParameters(name: name, group: group), nil).value)
                    } catch {
                        // Another client has removed it since.
                        guard error.code == .itemNotFound else { throw error }
                    }
                }
                return page.next
            }
        }
        return found
    }

    /// The secret of an item.
    package func secret(of item: KeychainItemInfo) throws(CofferError) -> Secret { try secret(item.query) }

    /// The secret of the item that a query finds.
    func secret(_ query: KeychainQuery) throws(CofferError) -> Secret {
        try call(KeychainFindParameters(query)).secrets().compactMap(\.self).first ?? Secret(nil)
    }

    /// Deletes an item, which another client may have deleted before.
    package func delete(_ item: KeychainItemInfo) throws(CofferError) {
        do throws(CofferError) {
            try call(KeychainDeleteParameters(item.query))
        } catch {
            guard error.code == .itemNotFound else { throw error }
        }
    }

    /// Adds an internet password.
    package func add(_ attributes: [KeychainAttribute: AttributeValue], _ content: Secret) throws(CofferError) {
        let all = query(.internetPassword, attributes).attributes
        Output.warn(try call(KeychainAddParameters(.internetPassword, all), payload: content).value.warnings)
    }

    /// Replaces the secret of an item, and attributes of it.
    package func replace(
        _ item: KeychainItemInfo,
        _ attributes: [KeychainAttribute: AttributeValue],
        removing removed: Set<KeychainAttribute> = [],
        with content: Secret
    ) throws(CofferError) {
        let change = KeychainChange(attributes: attributes, removedAttributes: removed)
        try call(KeychainUpdateParameters(item.query, change, replacingBy: content), payload: content)
    }
}

extension KeychainItemInfo {
    fileprivate var query: KeychainQuery { KeychainQuery(itemClass, identifiedBy: attributes ?? [:]) }

    /// When it last changed.
    var modificationDate: Int64 {
        if case .date(let date) = attributes?[.modificationDate] { date } else { 0 }
    }
}

extension CofferError {
    /// The error if items may match that only the first unlock opens.
    fileprivate static var sealedCredentials: CofferError {
        .locked("credentials", in: .beforeFirstUnlock, for: .read)
    }
}
