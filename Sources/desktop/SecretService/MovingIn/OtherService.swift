internal import CofferBus
internal import CofferClient
internal import CofferCrypto
internal import CofferSystem

/// A Secret Service of another program, as a client sees it.
struct OtherService {
    /// A collection of it.
    struct OtherCollection {
        let path: String
        let label: String
        let isLocked: Bool
        /// The paths of its items.
        let items: [String]
    }

    /// An item of it, without its secret.
    struct OtherItem {
        let path: String
        let label: String
        let attributes: [String: String]
        /// Milliseconds since 1970; `nil` if the service does not say.
        let created: Int64?
    }

    private let caller: ServiceCaller
    private let session: (path: String, transfer: TransferSession)

    /// Opens a session, in which secrets pass encrypted if the service can do that.
    init(_ caller: ServiceCaller) throws(CallFailure) {
        self.caller = caller
        let encrypted = try Self.encryptedSession(caller)
        session = if let encrypted { encrypted } else { try Self.plainSession(caller) }
    }

    private static func encryptedSession(
        _ caller: ServiceCaller
    ) throws(CallFailure) -> (path: String, transfer: TransferSession)? {
        let made: OakleyExchange?
        do throws(CryptoError) { made = try OakleyExchange() } catch { throw .ended(.noSecretMemory) }
        guard let exchange = made else { return nil }
        do throws(CallFailure) {
            return try caller.call("OpenSession", of: Introspection.Interface.service, at: ObjectPath.root) {
                (writer) throws(SystemError) in
                try writer.text(TransferSession.algorithm)
                try writer.openVariant(of: "ay")
                try unsafe writer.bytes(exchange.publicKey.span.bytes)
                try writer.close()
            } read: { message in
                try message.enterVariant(of: "ay")
                let key = Secret(try message.secret(upTo: 2 * OakleyExchange.keyBytes))
                try message.leave()
                let cipher = try key.withBytes { (bytes) throws(CryptoError) in try exchange.cipher(with: bytes) }
                return (try message.objectPath(), TransferSession(with: caller.owner, encryptedBy: cipher))
            }
        } catch {
            guard case .refused(let failure) = error, failure.name == BusFailure(bus: "NotSupported", "").name else {
                throw error
            }
            return nil
        }
    }

    private static func plainSession(
        _ caller: ServiceCaller
    ) throws(CallFailure) -> (path: String, transfer: TransferSession) {
        let path = try caller.call("OpenSession", of: Introspection.Interface.service, at: ObjectPath.root) {
            (writer) throws(SystemError) in
            try writer.text("plain")
            try writer.openVariant(of: "s")
            try writer.text("")
            try writer.close()
        } read: { message in
            try message.skip("v")
            return try message.objectPath()
        }
        return (path, TransferSession(plainWith: caller.owner))
    }

    // MARK: Objects

    private func properties(
        of interface: String,
        at path: String
    ) throws(CallFailure) -> [String: PropertyValue] {
        try caller.call("GetAll", of: Introspection.Interface.properties, at: path) { (writer) throws(SystemError) in
            try writer.text(interface)
        } read: { message in
            try message.properties()
        }
    }

    /// The paths of its collections.
    func collections() throws(CallFailure) -> [String] {
        let own = try properties(of: Introspection.Interface.service, at: ObjectPath.root)
        guard case .objectPaths(let paths)? = own["Collections"] else { throw .refused(.wrongAnswer) }
        return paths
    }

    /// The path of the collection that an alias stands for.
    func collection(aliased alias: String) throws(CallFailure) -> String? {
        do throws(CallFailure) {
            let path = try caller.call("ReadAlias", of: Introspection.Interface.service, at: ObjectPath.root) {
                (writer) throws(SystemError) in
                try writer.text(alias)
            } read: {
                try $0.objectPath()
            }
            return path == ObjectPath.none ? nil : path
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
    }

    func collection(at path: String) throws(CallFailure) -> OtherCollection {
        let own = try properties(of: Introspection.Interface.collection, at: path)
        guard case .objectPaths(let items)? = own["Items"] else { throw .refused(.wrongAnswer) }
        var (label, isLocked) = ("", false)
        if case .text(let text)? = own["Label"] { label = text }
        if case .flag(let flag)? = own["Locked"] { isLocked = flag }
        return OtherCollection(path: path, label: label, isLocked: isLocked, items: items)
    }

    func item(at path: String) throws(CallFailure) -> OtherItem {
        let own = try properties(of: Introspection.Interface.item, at: path)
        // Without it, the item would be found by no program.
        guard case .texts(let attributes)? = own["Attributes"] else { throw .refused(.wrongAnswer) }
        var (label, created): (String, Int64?) = ("", nil)
        if case .text(let text)? = own["Label"] { label = text }
        if case .time(let seconds)? = own["Created"], seconds > 0 {
            created = Int64(clamping: seconds).nearestProduct(1000)
        }
        return OtherItem(path: path, label: label, attributes: attributes, created: created)
    }

    /// Unlocks an object, by the prompt of the service.
    ///
    /// - Parameter willAsk: Called before a prompt is shown.
    /// - Returns: Whether it is unlocked.
    func unlock(_ path: String, willAsk: () -> Void) throws(CallFailure) -> Bool {
        let (unlocked, prompt) = try caller.call("Unlock", of: Introspection.Interface.service, at: ObjectPath.root) {
            (writer) throws(SystemError) in
            try writer.objectPaths([path])
        } read: {
            (try $0.objectPaths(), try $0.objectPath())
        }
        guard prompt != ObjectPath.none else { return unlocked.contains(path) }
        willAsk()
        return try caller.show(prompt)
    }

    // MARK: Secrets

    /// Passes the secrets of some items, with the types of their content, one by one.
    ///
    /// The service leaves out those that it does not give.
    func forEachSecret(
        of paths: [String],
        _ body: (String, Result<Secret, BusFailure>, String) throws(CofferError) -> Void
    ) throws(CallFailure) {
        try caller.call("GetSecrets", of: Introspection.Interface.service, at: ObjectPath.root) {
            (writer) throws(SystemError) in
            try writer.objectPaths(paths)
            try writer.objectPath(session.path)
        } read: { message in
            message.markSecret()
            try message.enterArray(of: "{o(oayays)}")
            while !message.isAtEnd {
                try message.enterEntry(of: "o(oayays)")
                let path = try message.objectPath()
                let (secret, type) = try readSecret(message)
                try message.leave()
                try body(path, secret, type)
            }
        }
    }

    /// The secret of an item, and the type of its content.
    func secret(of path: String) throws(CallFailure) -> (secret: Result<Secret, BusFailure>, contentType: String) {
        try caller.call("GetSecret", of: Introspection.Interface.item, at: path) { (writer) throws(SystemError) in
            try writer.objectPath(session.path)
        } read: { message in
            message.markSecret()
            return try readSecret(message)
        }
    }

    private func readSecret(
        _ message: BusMessage
    ) throws(BusFailure) -> (secret: Result<Secret, BusFailure>, contentType: String) {
        try message.enterStructure(of: "oayays")
        try message.skip("o")
        let vector = try Result(of: message, upTo: SessionCipher.vectorBytes)
        // A ciphertext has up to a block more than its secret.
        let value = try Result(of: message, upTo: Limits.serviceSecretBytes + SessionCipher.vectorBytes)
        let type = try message.text()
        try message.leave()
        let secret = Result { () throws(BusFailure) in
            let opened: Secret
            do { opened = try session.transfer.opened(try value.get(), try vector.get()) } catch let failure
                as BusFailure
            { throw failure } catch { throw BusFailure(bus: "Failed", "its secret can't be decrypted") }
            guard opened.count <= Limits.serviceSecretBytes else { throw BusFailure(.tooLargeForBus) }
            return opened
        }
        return (secret, type.isEmpty ? VaultItems.usualContentType : type)
    }
}

extension Result<Secret, BusFailure> {
    /// Reads bytes, which may be too many; then what follows them can be read still.
    fileprivate init(of message: BusMessage, upTo limit: Int) throws(BusFailure) {
        do throws(BusFailure) { self = .success(Secret(try message.secret(upTo: limit))) } catch {
            if error == .wrongArguments { throw error }
            let tooLarge = BusFailure(.tooLargeForBus)
            self = .failure(error.name == tooLarge.name ? tooLarge : error)
        }
    }
}

extension BusMessage {
    /// Reads properties with their names; those of types that the Secret Service does not have are passed over.
    fileprivate func properties() throws(BusFailure) -> [String: PropertyValue] {
        var properties: [String: PropertyValue] = [:]
        try enterArray(of: "{sv}")
        while !isAtEnd {
            try enterEntry(of: "sv")
            let name = try text()
            if let value = try PropertyValue(readFrom: self) { properties[name] = value }
            try leave()
        }
        try leave()
        return properties
    }
}
