internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferTerminal

/// Where parcels go: opened below `received/`, or waiting below `received/waiting/` until the vault is unlocked.
struct Mailbox {
    private static let place = "received"
    private static let waiting = "received/waiting"

    let key: RecipientKey
    let group: String?

    /// An item that was taken in.
    struct Received {
        let name: ItemName
        let description: ParcelDescription
    }

    /// What became of a parcel.
    enum Outcome {
        case received(Received)
        /// The vault is locked, and it waits under this name.
        case waiting(ItemName)
    }

    /// Opens a parcel and stores its item, or keeps it until the vault is unlocked.
    func take(_ parcel: Parcel, as target: ItemName?, _ subject: String) throws(CofferError) -> Outcome {
        do throws(CofferError) {
            return .received(try store(parcel, as: target, subject))
        } catch {
            guard error.code == .interactionNotAllowed, target == nil else { throw error }
        }
        return .waiting(try keep(parcel))
    }

    /// Opens a parcel and stores its item.
    ///
    /// - Parameter target: Its name; by default the one that it had, below ``place``: who has sent it does not decide what
    ///   it takes the place of.
    /// - Throws: `duplicateItem` if the name is taken; as ``RecipientKey/open(_:_:)``.
    func store(_ parcel: Parcel, as target: ItemName?, _ subject: String) throws(CofferError) -> Received {
        let (said, content) = try key.open(parcel, subject)
        let name = if let target { target } else { try ItemName("\(Self.place)/\(said.name.path)") }
        var wishes = PlacementOptions()
        wishes.group = group
        wishes.kind = said.kind
        if content.count <= Limits.secretBytes && !(said.attributes.isEmpty && said.user.isEmpty) {
            wishes.store = .keychain
        }
        let params = ItemPutParameters(
            name: name,
            wishes: wishes,
            attributes: wishes.store == .keychain ? said.attributes : [:],
            user: wishes.store == .keychain ? said.user : [:],
            isIfAbsent: true
        )
        do throws(CofferError) {
            _ = try key.session.call(params, payload: content)
        } catch  where error.code == .duplicateItem {
            throw CofferError(
                .duplicateItem,
                "there is an item \(name.quoted) already, and it stays as it is",
                hint: "'coffer receive --as NAME' stores the new one under another name"
            )
        }
        return Received(name: name, description: said)
    }

    /// Stores a parcel as it is, in every state of the vault: it is protected as a deposit is.
    func keep(_ parcel: Parcel) throws(CofferError) -> ItemName {
        let bytes = parcel.bytes
        let name = try ItemName("\(Self.waiting)/\(hexadecimal(parcel.ephemeralKey.prefix(16)))")
        var wishes = PlacementOptions()
        wishes.group = group
        if bytes.count <= Limits.secretBytes {
            wishes.accessibility = .whenUnlockedDeposit
        } else {
            wishes.protectionClass = .completeUnlessOpen
        }
        let params = ItemPutParameters(name: name, wishes: wishes, isIfAbsent: true)
        do throws(CofferError) {
            _ = try key.session.call(params, payload: try unsafe Secret(copying: bytes.span.bytes))
        } catch  where error.code == .duplicateItem {
            // It waits already.
        }
        return name
    }

    /// Takes in all that waits.
    ///
    /// - Parameter show: Called for each item.
    func open(_ show: (Received) -> Void) throws {
        var names: [String] = []
        try forEachPage { (after: String?) throws(CofferError) in
            let params = ItemListParameters(prefix: Self.waiting + "/", after: after, group: group)
            let page = try key.session.client.call(params).value
            names += page.items.map(\.name)
            return page.next
        }
        try forEachGoingOn(names) { (path) throws(CofferError) in
            let name = try ItemName(path)
            let content = try key.session.call(ItemGetParameters(name: name, group: group)).payload
            let parcel = try Parcel(content.exposeBytes(), name.quoted)
            do throws(CofferError) { show(try store(parcel, as: nil, name.quoted)) } catch {
                guard error.code == .duplicateItem else { throw error }
                throw CofferError(
                    error.code,
                    error.message,
                    hint: "'coffer get \(path) | coffer receive - --as NAME' stores the new one under another name"
                )
            }
            _ = try key.session.call(ItemRemoveParameters(name: name, group: group))
        }
    }
}

extension CofferError {
    static func tooLargeForParcel(_ name: ItemName) -> CofferError {
        CofferError(
            .dataTooLarge,
            "\(name.quoted) is too large to be sent: a parcel holds up to \(Limits.parcelContentBytes) bytes",
            hint: "encrypt a large file to a key, and send the key"
        )
    }
}
