internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferProvision
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

extension CredentialKeychain {
    /// The item with the same address and user, if there is one.
    func item(_ address: ServerAddress, account: String, domain: String) throws(CofferError) -> KeychainItemInfo? {
        var attributes = address.attributes
        attributes[.account] = .text(account)
        attributes[.securityDomain] = .text(domain)
        attributes[.authenticationType] = .text("")
        return try items(for: address, attributes).first
    }
}

/// The vault that an import stores into.
struct ImportVault {
    let session: Session
    let group: String?

    var keychain: CredentialKeychain {
        CredentialKeychain(session: session, group: group, program: "coffer import", canAsk: false)
    }

    /// What is to be done with an item.
    ///
    /// - Returns: `nil` if a different one has its name.
    /// - Throws: `interactionNotAllowed` if the one that has its name can't be read now.
    func action(for item: ImportPlan.Item) throws(CofferError) -> ImportAction? {
        guard let stored = try content(of: item) else { return .store }
        return stored ? .skip : nil
    }

    /// Whether what is stored for an item is the same; `nil` if there is nothing.
    private func content(of item: ImportPlan.Item) throws(CofferError) -> Bool? {
        switch item.target {
        case .server(let address, let account, let domain):
            guard let found = try keychain.item(address, account: account, domain: domain) else { return nil }
            return try keychain.secret(of: found).isEqual(to: item.content)
        case .name(let name):
            guard let info = try info(name) else { return nil }
            guard info.byteCount == item.content.count else { return false }
            return try session.content(name, info).isEqual(to: item.content)
        }
    }

    private func info(_ name: ItemName) throws(CofferError) -> ItemInfo? {
        do throws(CofferError) {
            return try session.client.call(ItemShowParameters(name: name, group: group)).value
        } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }
}

extension Session {
    /// The whole content of an item, which may be a file.
    ///
    /// - Throws: `dataTooLarge` if it is larger than what an import or an export takes.
    func content(_ name: ItemName, _ info: ItemInfo) throws(CofferError) -> Secret {
        let params = ItemGetParameters(name: name, group: info.group)
        if info.byteCount <= Limits.secretBytes { return try call(params).payload }
        guard info.byteCount <= Limits.importFileBytes else {
            throw CofferError(.dataTooLarge, "\(name.quoted) has more than \(Limits.importFileBytes) bytes")
        }
        do {
            let memory = try AnonymousMemory("coffer import")
            let returned = try satisfy { () throws(CofferError) in try client.call(params, passing: memory.number) }
            if returned.value.delivery == .payload { return returned.payload }
            try memory.rewind()
            return try ImportSource.content(of: memory.number, "\(name.quoted)")
        } catch let error as SystemError {
            throw error.cofferError("can't read \(name.quoted)")
        } catch let error as CofferError {
            throw error
        } catch {
            throw CofferError(.internal, "can't read \(name.quoted)")
        }
    }
}
