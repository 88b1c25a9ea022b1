internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

/// The pair to which other vaults send items: a private key in the keychain, which never leaves it, and the text of its
/// public half, which can be read in every state.
struct RecipientKey {
    /// The label of the private key.
    static let label = "coffer recipient"
    /// The name of the public half.
    static let name = "coffer/recipient"

    let session: Session
    let group: String?

    private var query: KeychainQuery {
        var attributes: [KeychainAttribute: AttributeValue] = [
            .label: .text(Self.label), .keyClass: .text("private"), .keyType: .text(KeyType.x25519.rawValue),
        ]
        if let group { attributes[.accessGroup] = .text(group) }
        return KeychainQuery(.key, attributes)
    }

    /// The recipient, which is made if there is none yet, or if its private key is gone.
    ///
    /// - Throws: `interactionNotAllowed` while the vault is locked, if it has to be made.
    func recipient() throws(CofferError) -> Recipient {
        let known = try known()
        let existing: [UInt8]?
        do throws(CofferError) {
            existing = try publicKey()
        } catch {
            guard let known, error.code == .interactionNotAllowed else { throw error }
            return known
        }
        let found = if let existing { existing } else { try made(instead: known) }
        let recipient = Recipient(publicKey: found)
        if recipient == known { return recipient }
        var wishes = PlacementOptions()
        wishes.accessibility = .always
        wishes.group = group
        let attributes: [KeychainAttribute: AttributeValue] = [.isInvisible: .bool(true)]
        let params = ItemPutParameters(name: try ItemName(Self.name), wishes: wishes, attributes: attributes)
        _ = try session.call(params, payload: try Secret(exposed: try recipient.text()))
        return recipient
    }

    /// The recipient, in every state of the vault; `nil` if there is none yet.
    func known() throws(CofferError) -> Recipient? {
        do throws(CofferError) {
            let content = try session.call(ItemGetParameters(name: try ItemName(Self.name), group: group)).payload
            guard let text = content.exposeText() else { return nil }
            return try Recipient(text)
        } catch  where error.code == .itemNotFound {
            return nil
        }
    }

    private func publicKey() throws(CofferError) -> [UInt8]? {
        do throws(CofferError) {
            return try session.call(KeychainPublicKeyParameters(query)).value.bytes
        } catch  where error.code == .itemNotFound {
            return nil
        }
    }

    /// Makes the pair.
    ///
    /// - Parameter former: The recipient whose private key is gone.
    private func made(instead former: Recipient?) throws(CofferError) -> [UInt8] {
        // Listings and patterns leave it out: what removes everything would make parcels unreadable.
        var attributes: [KeychainAttribute: AttributeValue] = [.label: .text(Self.label)]
        let user = [AttributeName(KeychainAttribute.isInvisible.rawValue): "true"]
        if let group { attributes[.accessGroup] = .text(group) }
        _ = try session.call(
            KeychainAddParameters(.key, attributes, user: user, accessibility: .whenUnlocked, generates: .x25519)
        )
        guard let key = try publicKey() else {
            throw CofferError(.internal, "the key that was made just now is missing")
        }
        if former != nil {
            Output.warn([
                "the private key of the former recipient was removed: what was sent to it can't be opened. This recipient is new"
            ])
        }
        return key
    }

    /// Opens a parcel.
    ///
    /// - Throws: `param` if it is for another vault or group; `interactionNotAllowed` while the vault is locked;
    ///   `itemNotFound` if the key of this vault was removed; `decode` if it was changed.
    func open(
        _ parcel: Parcel,
        _ subject: String
    ) throws(CofferError) -> (description: ParcelDescription, content: Secret) {
        if let known = try known(), known != parcel.recipient {
            throw CofferError(
                .param,
                "\(subject) is sealed to the recipient of another vault or group, or to a former one of this",
                hint: "'coffer receive --recipient' prints the recipient of this one"
            )
        }
        do throws(CofferError) {
            let shared = try session.call(KeychainAgreeParameters(query, peer: parcel.ephemeralKey)).payload
            return try parcel.open(sharing: shared, subject)
        } catch  where error.code == .itemNotFound {
            throw CofferError(
                .itemNotFound,
                "\(subject) can't be opened: the private key of this vault's recipient was removed",
                hint:
                    "if it is in the trash, run: coffer trash restore 'key:\(Self.label)'. Otherwise 'coffer receive --recipient' "
                    + "makes a new recipient, for the sender to send it again"
            )
        }
    }
}
