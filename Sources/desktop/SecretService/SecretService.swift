internal import CofferBus
internal import CofferClient
internal import CofferPrompter
internal import CofferSystem

/// The Secret Service on a bus: reads calls, has ``Holdings`` carry them out, answers, and tells of changes.
final class SecretService: BusServant {
    /// The name that programs look for.
    static let busName = "org.freedesktop.secrets"

    let bus: BusConnection
    let holdings: Holdings
    /// Whether a client's Lock locks the vault; otherwise the service only says that it is locked.
    let locksVault: Bool
    /// The only client that is told of changes, whose items they are; `nil` for all.
    let listener: String?
    let asker: Asker
    private var sessions: [Int: TransferSession] = [:]
    private var prompts: [Int: ServicePrompt] = [:]
    private var lastNumber = 0

    init(_ bus: BusConnection, _ holdings: Holdings, locksVault: Bool, _ asker: Asker, to listener: String? = nil) {
        self.bus = bus
        self.holdings = holdings
        self.locksVault = locksVault
        self.asker = asker
        self.listener = listener
    }

    // MARK: Calls

    func carryOut(_ call: BusMessage) throws {
        guard let path = call.path, let member = call.member else { throw BusFailure.wrongArguments }
        let interface = call.interface
        if member == "Introspect" && [nil, Introspection.Interface.introspectable].contains(interface) {
            return try introspect(path, call)
        }
        let object = try object(at: path)
        if interface == Introspection.Interface.properties { return try carryOut(call, member, onPropertiesOf: object) }
        let own = object.interface
        guard interface == nil || interface == own else {
            throw BusFailure(bus: "UnknownInterface", "the object \(path) has no interface \(interface ?? "")")
        }
        let isKnown =
            switch object {
            case .service: try carryOutService(call, member)
            case .collection(let name): try carryOutCollection(call, member, name)
            case .item(let key): try carryOutItem(call, member, key)
            case .session(let number): try carryOutSession(call, member, number)
            case .prompt(let number): try carryOutPrompt(call, member, number)
            case .alias: false
            }
        guard isKnown else { throw BusFailure.unknownMethod(call) }
    }

    /// The object at a path, for an alias its collection.
    ///
    /// - Throws: `UnknownObject` if there is none.
    private func object(at path: String) throws -> ObjectPath {
        let unknown = BusFailure.unknownObject(path)
        guard let object = ObjectPath(path) else { throw unknown }
        switch object {
        case .service: return object
        case .collection(let name):
            guard try holdings.has(collection: name) else { throw unknown }
        case .alias(let alias):
            guard let collection = try holdings.collection(aliased: alias) else { throw unknown }
            return .collection(collection.name)
        case .item(let key):
            guard try holdings.has(key) else { throw unknown }
        case .session(let number):
            guard sessions[number] != nil else { throw unknown }
        case .prompt(let number):
            guard prompts[number] != nil else { throw unknown }
        }
        return object
    }

    private func introspect(_ path: String, _ call: BusMessage) throws {
        let object = try? object(at: path)
        let document = Introspection.document(
            object.map { [$0.interface] } ?? [],
            children: try children(of: path, object)
        )
        try bus.answer(call) { (writer) throws(SystemError) in try writer.text(document) }
    }

    /// The last parts of the paths of what is below a path.
    private func children(of path: String, _ object: ObjectPath?) throws -> [String] {
        let paths: [String] =
            switch object {
            case .service: ["\(path)/aliases", "\(path)/collection"]
            case .collection(let name): try holdings.items(of: name).map(\.path)
            case nil where path == "\(ObjectPath.root)/collection":
                try holdings.collectionNames.map { ObjectPath.collection($0).path }
            case nil where path == "\(ObjectPath.root)/aliases":
                [ObjectPath.alias(Collection.usualAlias).path]
            case nil where ObjectPath.root.hasPrefix(path == "/" ? path : path + "/"):
                [ObjectPath.root.dropFirst(path == "/" ? 1 : path.count + 1).prefix { $0 != "/" }.description]
            default: []
            }
        return paths.map { path in path.split(separator: "/").last.map(String.init) ?? path }
    }

    // MARK: Sessions

    /// The session of a client.
    ///
    /// - Throws: `NoSession` if it has not opened it, or has closed it.
    func session(at path: String, of call: BusMessage) throws(BusFailure) -> TransferSession {
        guard case .session(let number) = ObjectPath(path), let session = sessions[number],
            session.owner == call.sender
        else {
            throw BusFailure(
                "org.freedesktop.Secret.Error.NoSession",
                "the client has no session \(quotedForDisplay(path))"
            )
        }
        return session
    }

    /// Keeps a session.
    ///
    /// - Returns: Its path.
    func add(_ session: TransferSession) -> String {
        // Programs that open one for each secret do not close them.
        let own = sessions.filter { $0.value.owner == session.owner }
        if own.count >= Limits.transferSessions, let oldest = own.keys.min() { sessions[oldest] = nil }
        lastNumber += 1
        sessions[lastNumber] = session
        return ObjectPath.session(lastNumber).path
    }

    private func carryOutSession(_ call: BusMessage, _ member: String, _ number: Int) throws -> Bool {
        guard member == "Close" else { return false }
        _ = try session(at: ObjectPath.session(number).path, of: call)
        sessions[number] = nil
        try bus.answer(call)
        return true
    }

    // MARK: Prompts

    /// Makes a prompt, which asks a person to unlock the vault when the client wants it.
    ///
    /// - Parameters:
    ///   - unfulfilled: Its result if the person does not.
    ///   - fulfill: Gives its result when the vault is unlocked.
    /// - Returns: Its path.
    func addPrompt(
        for call: BusMessage,
        unfulfilled: PropertyValue,
        fulfill: @escaping () throws(CofferError) -> PropertyValue
    ) -> String {
        let owner = call.sender ?? ""
        let own = prompts.filter { $0.value.owner == owner && !$0.value.isShown }
        if own.count >= Limits.servicePrompts, let oldest = own.keys.min() { prompts[oldest] = nil }
        lastNumber += 1
        prompts[lastNumber] = ServicePrompt(owner: owner, unfulfilled: unfulfilled, fulfill: fulfill)
        return ObjectPath.prompt(lastNumber).path
    }

    private func carryOutPrompt(_ call: BusMessage, _ member: String, _ number: Int) throws -> Bool {
        guard let prompt = prompts[number], prompt.owner == call.sender else {
            throw BusFailure(bus: "UnknownObject", "the prompt is another client's")
        }
        switch member {
        case "Prompt":
            let window = try call.text()
            try bus.answer(call)
            if prompt.isShown { return true }
            do {
                prompt.asking = try asker.ask(for: prompt.owner, window: window) { [weak self] outcome in
                    self?.end(number, outcome)
                }
            } catch {
                end(number, .refused)
            }
        case "Dismiss":
            try bus.answer(call)
            dismiss(number, prompt)
        default: return false
        }
        return true
    }

    private func dismiss(_ number: Int, _ prompt: ServicePrompt) {
        if let asking = prompt.asking { asker.dismiss(asking) } else { end(number, .refused) }
    }

    private func end(_ number: Int, _ outcome: UnlockOutcome) {
        guard let prompt = prompts.removeValue(forKey: number) else { return }
        var result: PropertyValue?
        if case .unlocked = outcome {
            try? holdings.readState()
            result = try? prompt.fulfill()
        }
        let path = ObjectPath.prompt(number).path
        try? bus.emit("Completed", of: Introspection.Interface.prompt, at: path, to: listener) {
            (writer) throws(SystemError) in
            try writer.flag(result == nil)
            try (result ?? prompt.unfulfilled).append(to: writer)
        }
    }

    /// Ends what a client has had, which has left the bus.
    func forget(_ client: String) {
        sessions = sessions.filter { $0.value.owner != client }
        prompts = prompts.filter { $0.value.owner != client }
    }
}

/// A prompt that a client has, and may show.
final class ServicePrompt {
    let owner: String
    let unfulfilled: PropertyValue
    let fulfill: () throws(CofferError) -> PropertyValue
    /// The question, once the client wants it asked.
    var asking: Asker.Asking?

    init(owner: String, unfulfilled: PropertyValue, fulfill: @escaping () throws(CofferError) -> PropertyValue) {
        (self.owner, self.unfulfilled, self.fulfill) = (owner, unfulfilled, fulfill)
    }

    var isShown: Bool { asking != nil }
}

extension ObjectPath {
    /// The interface that its methods and properties belong to.
    var interface: String {
        switch self {
        case .service: Introspection.Interface.service
        case .collection, .alias: Introspection.Interface.collection
        case .item: Introspection.Interface.item
        case .session: Introspection.Interface.session
        case .prompt: Introspection.Interface.prompt
        }
    }
}
