internal import CofferBus
internal import CofferClient
internal import CofferCrypto
internal import CofferSystem

extension SecretService {
    /// Carries out a method of the service.
    ///
    /// - Returns: Whether there is one.
    func carryOutService(_ call: BusMessage, _ member: String) throws -> Bool {
        switch member {
        case "OpenSession": try openSession(call)
        case "CreateCollection": try createCollection(call)
        case "SearchItems":
            let found = try holdings.search(try call.texts(), in: nil)
            let (readable, locked) = (found.filter(holdings.isReadable), found.filter { !holdings.isReadable($0) })
            try bus.answer(call) { (writer) throws(SystemError) in
                try writer.objectPaths(readable.map(\.path))
                try writer.objectPaths(locked.map(\.path))
            }
        case "Unlock": try unlock(call)
        case "Lock": try lock(call)
        case "GetSecrets": try getSecrets(call)
        case "ReadAlias":
            let collection = try holdings.collection(aliased: try call.text())
            try bus.answer(call) { (writer) throws(SystemError) in
                try writer.objectPath(collection.map { ObjectPath.collection($0.name).path } ?? ObjectPath.none)
            }
        case "SetAlias": try setAlias(call)
        default: return false
        }
        return true
    }

    private func openSession(_ call: BusMessage) throws {
        let algorithm = try call.text()
        // A plain session has an empty text here.
        let hasKey = call.variantType == "ay"
        if hasKey { try call.enterVariant(of: "ay") }
        let key = Secret(hasKey ? try call.secret(upTo: 2 * OakleyExchange.keyBytes) : nil)
        let (session, publicKey) = try TransferSession.open(algorithm, with: key, for: call.sender ?? "")
        let path = add(session)
        try bus.answer(call) { (writer) throws(SystemError) in
            try writer.openVariant(of: publicKey == nil ? "s" : "ay")
            if let publicKey { try unsafe writer.bytes(publicKey.span.bytes) } else { try writer.text("") }
            try writer.close()
            try writer.objectPath(path)
        }
    }

    private func createCollection(_ call: BusMessage) throws {
        let properties = try call.properties(of: Introspection.Interface.collection)
        let alias = try call.text()
        let label = properties.label ?? ""
        let holdings = holdings
        let make = { () throws(CofferError) -> PropertyValue in
            .objectPath(ObjectPath.collection(try holdings.makeCollection(labelled: label, alias: alias)).path)
        }
        var (made, prompt) = (ObjectPath.none, ObjectPath.none)
        if holdings.isLocked {
            prompt = addPrompt(for: call, unfulfilled: .objectPath(ObjectPath.none), fulfill: make)
        } else if case .objectPath(let path) = try make() {
            made = path
        }
        try bus.answer(call) { (writer) throws(SystemError) in
            try writer.objectPath(made)
            try writer.objectPath(prompt)
        }
    }

    private func setAlias(_ call: BusMessage) throws {
        let alias = try call.text()
        let path = try call.objectPath()
        if path == ObjectPath.none {
            try holdings.setAlias(alias, to: nil)
        } else {
            guard case .collection(let name) = ObjectPath(path) else {
                throw CofferError(.itemNotFound, "there is no collection \(quotedForDisplay(path))")
            }
            try holdings.setAlias(alias, to: try holdings.collection(name))
        }
        try bus.answer(call)
    }

    // MARK: Locking

    private func isLocked(_ path: String) -> Bool {
        switch ObjectPath(path) {
        case .collection(let name): holdings.isLocked(name)
        case .alias(let alias): (try? holdings.collection(aliased: alias)).map { holdings.isLocked($0.name) } ?? false
        case .item(let key): !holdings.isReadable(key) && holdings.isLocked(key.collection)
        default: false
        }
    }

    private func unlock(_ call: BusMessage) throws {
        let paths = try call.objectPaths()
        let locked = paths.filter { isLocked($0) }
        let lockedPaths = Set(locked)
        var prompt = ObjectPath.none
        if !locked.isEmpty {
            prompt = addPrompt(for: call, unfulfilled: .objectPaths([])) { () throws(CofferError) in
                .objectPaths(locked)
            }
        }
        try bus.answer(call) { (writer) throws(SystemError) in
            try writer.objectPaths(paths.filter { !lockedPaths.contains($0) })
            try writer.objectPath(prompt)
        }
    }

    private func lock(_ call: BusMessage) throws {
        let paths = try call.objectPaths().filter { path in
            switch ObjectPath(path) {
            case .collection(let name): name != Collection.session
            case .item(let key): key.collection != Collection.session
            case .alias: true
            default: false
            }
        }
        if locksVault && !paths.isEmpty { try holdings.lock() }
        try bus.answer(call) { (writer) throws(SystemError) in
            try writer.objectPaths(paths)
            try writer.objectPath(ObjectPath.none)
        }
    }

    // MARK: Secrets

    private func getSecrets(_ call: BusMessage) throws {
        let paths = try call.objectPaths()
        let sessionPath = try call.objectPath()
        let session = try session(at: sessionPath, of: call)
        var named: Set<ItemKey> = []
        let keys = paths.compactMap { path -> ItemKey? in
            if case .item(let key) = ObjectPath(path), named.insert(key).inserted { key } else { nil }
        }
        let answer = { [unowned self] (call: BusMessage, results: [(ItemKey, Result<Secret, CofferError>)]) throws in
            let secrets = try results.compactMap { key, result in try Self.unlessLeftOut(result).map { (key, $0) } }
            try bus.answer(call, isSecret: true) { (writer) throws(SystemError) in
                try writer.openArray(of: "{o(oayays)}")
                for (key, secret) in secrets {
                    try writer.openEntry(of: "o(oayays)")
                    try writer.objectPath(key.path)
                    try session.append(secret, holdings.contentType(of: key), in: sessionPath, to: writer)
                    try writer.close()
                }
                try writer.close()
            }
        }
        // libsecret looks a secret up so. Of several, a person is asked for none.
        if keys.count == 1, let key = keys.first {
            return try read(key, for: call) { call, result in try answer(call, [(key, result)]) }
        }
        var results: [(ItemKey, Result<Secret, CofferError>)] = []
        var byteCount = 0
        for key in keys {
            let result = Result { () throws(CofferError) in try holdings.secret(of: key) }
            if case .success(let secret) = result { byteCount += secret.count }
            guard byteCount <= Limits.serviceAnswerBytes else { throw CofferError.tooLargeForBus }
            results.append((key, result))
        }
        try answer(call, results)
    }

    /// A secret; `nil` if its item is locked or gone, or requires the passcode, and is left out.
    private static func unlessLeftOut(_ result: Result<Secret, CofferError>) throws(CofferError) -> Secret? {
        do throws(CofferError) { return try result.get() } catch {
            guard [.interactionNotAllowed, .interactionRequired, .itemNotFound].contains(error.code) else {
                throw error
            }
            return nil
        }
    }

    /// Reads the secret of an item, if need be when a person has given the passcode that its access control requires.
    ///
    /// - Parameter answer: Answers the call with the secret, or with why it could not be read.
    func read(
        _ key: ItemKey,
        for call: BusMessage,
        _ answer: @escaping (BusMessage, Result<Secret, CofferError>) throws -> Void
    ) throws {
        let result = Result { () throws(CofferError) in try holdings.secret(of: key) }
        // The connection for the passcode is the service's own, which reaches nothing of a program that is kept apart.
        guard listener == nil, case .failure(let error) = result, error.code == .interactionRequired,
            [.passcode, .passcodeOrApplicationPassword].contains(error.need)
        else { return try answer(call, result) }
        let held = HeldCall(call)
        try asker.read(key, for: call.sender) { [unowned self] result in
            try? refuseFailures(of: held.call, on: bus) { try answer(held.call, result) }
        }
    }
}
