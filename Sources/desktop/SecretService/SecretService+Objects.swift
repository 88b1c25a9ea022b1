internal import CofferBus
internal import CofferClient
internal import CofferCrypto
internal import CofferSystem

extension SecretService {
    /// Carries out a method of a collection.
    ///
    /// - Returns: Whether there is one.
    func carryOutCollection(_ call: BusMessage, _ member: String, _ name: String) throws -> Bool {
        switch member {
        case "Delete":
            try holdings.removeCollection(name)
            try bus.answer(call) { (writer) throws(SystemError) in try writer.objectPath(ObjectPath.none) }
        case "SearchItems":
            let found = try holdings.search(try call.texts(), in: name)
            try bus.answer(call) { (writer) throws(SystemError) in try writer.objectPaths(found.map(\.path)) }
        case "CreateItem": try createItem(call, in: name)
        default: return false
        }
        return true
    }

    private func createItem(_ call: BusMessage, in collection: String) throws {
        let properties = try call.properties(of: Introspection.Interface.item)
        let (secret, type) = try readSecret(call)
        let replaces = try call.flag()
        let item = NewItem(
            label: properties.label ?? "",
            attributes: properties.attributes ?? [:],
            contentType: type,
            secret: secret
        )
        let key = try holdings.add(item, to: collection, replaces: replaces)
        try bus.answer(call) { (writer) throws(SystemError) in
            try writer.objectPath(key.path)
            try writer.objectPath(ObjectPath.none)
        }
    }

    /// Carries out a method of an item.
    ///
    /// - Returns: Whether there is one.
    func carryOutItem(_ call: BusMessage, _ member: String, _ key: ItemKey) throws -> Bool {
        switch member {
        case "Delete":
            try holdings.remove(key)
            try bus.answer(call) { (writer) throws(SystemError) in try writer.objectPath(ObjectPath.none) }
        case "GetSecret":
            let path = try call.objectPath()
            let session = try session(at: path, of: call)
            try read(key, for: call) { [unowned self] call, secret in
                let (secret, type) = (try secret.get(), holdings.contentType(of: key))
                try bus.answer(call, isSecret: true) { (writer) throws(SystemError) in
                    try session.append(secret, type, in: path, to: writer)
                }
            }
        case "SetSecret":
            let (secret, type) = try readSecret(call)
            try holdings.setSecret(of: key, to: secret, contentType: type)
            try bus.answer(call)
        default: return false
        }
        return true
    }

    /// Reads a secret that a client passes in one of its sessions, and the type of its content.
    private func readSecret(_ call: BusMessage) throws -> (secret: Secret, contentType: String) {
        try call.enterStructure(of: "oayays")
        let session = try session(at: try call.objectPath(), of: call)
        let vector = Secret(try call.secret(upTo: SessionCipher.vectorBytes))
        // A ciphertext has up to a block more than its secret.
        let value = Secret(try call.secret(upTo: Limits.serviceSecretBytes + SessionCipher.vectorBytes))
        let type = try call.text()
        try call.leave()
        let secret = try session.opened(value, vector)
        guard secret.count <= Limits.serviceSecretBytes else { throw CofferError.tooLargeForBus }
        return (secret, type)
    }
}

extension BusMessage {
    /// Reads the properties that a client gives a new object.
    ///
    /// Those of other names are passed over: clients set properties of their own.
    func properties(of interface: String) throws(BusFailure) -> (label: String?, attributes: [String: String]?) {
        var label: String?
        var attributes: [String: String]?
        try enterArray(of: "{sv}")
        while !isAtEnd {
            try enterEntry(of: "sv")
            switch try text() {
            case "\(interface).Label":
                try enterVariant(of: "s")
                label = try text()
                try leave()
            case "\(interface).Attributes":
                try enterVariant(of: "a{ss}")
                attributes = try texts()
                try leave()
            default: try skip("v")
            }
            try leave()
        }
        try leave()
        return (label, attributes)
    }
}
