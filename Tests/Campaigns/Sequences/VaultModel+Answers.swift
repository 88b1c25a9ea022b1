import CofferCore
import CofferWire

/// The concurrent disturbances of a request.
struct Disturbance {
    /// Whether the disk is full at times.
    private(set) var isFull = false
    /// Whether a client locks or erases the vault, so that earlier requests may end as locked.
    private(set) var locks = false
    /// Whether a client erases the vault; until that ends, all other requests wait.
    private(set) var erases = false
    /// The number of requests that change each name.
    private(set) var changes: [String: Int] = [:]

    init() {}

    init(_ requests: [SentRequest], isFull: Bool) {
        self.isFull = isFull
        for request in requests {
            if case .lock = request.operation { locks = true }
            if case .erase = request.operation { (locks, erases) = (true, true) }
            for name in request.operation.changedNames { changes[name, default: 0] += 1 }
        }
    }

    mutating func formUnion(_ other: Disturbance) {
        (isFull, locks, erases) = (isFull || other.isFull, locks || other.locks, erases || other.erases)
        changes.merge(other.changes, uniquingKeysWith: max)
    }

    /// Whether it explains a refusal of any request.
    func explains(_ code: ErrorCode, of operation: Operation) -> Bool {
        switch code {
        case .diskFull: isFull && (operation.mayFill || erases)
        case .interactionNotAllowed: locks && operation.needsKey
        default: false
        }
    }
}

extension VaultModel {
    /// The possible states after a request with its answer; none if the answer is impossible.
    ///
    /// Without an answer, the request was executed.
    func following(_ request: SentRequest) -> [VaultModel] {
        if let grant = granted[request.number] {
            let fits = request.answer.map { $0.refusal == nil && grant.fits($0) } ?? true
            return fits ? [changed { $0.granted[request.number] = nil }] : []
        }
        if let code = refused[request.number] {
            let fits = request.answer?.refusal?.code == code
            return fits ? [changed { $0.refused[request.number] = nil }] : []
        }
        guard let code = request.answer?.refusal?.code else { return done(request) }
        let isRefused =
            (code == .userCanceled && request.isCanceled)
            || request.disturbance.explains(code, of: request.operation)
            || refuses(request, code)
        if !isRefused { return [] }
        if code == .diskFull && request.operation.mayBeHalfDone { return [self] + done(request) }
        return [changed { $0.bound[request.number] = nil }]
    }

    /// The models after a waiting opening was refused, before its answer is received.
    func refusing(_ request: SentRequest) -> [VaultModel] {
        let codes: [ErrorCode] = [.itemNotFound, .interactionNotAllowed, .notAvailable, .param]
        return codes.filter { refuses(request, $0) }.map { code in
            changed {
                $0.refused[request.number] = code
                $0.bound[request.number] = nil
            }
        }
    }

    /// Whether a lock may refuse requests for reasons that this model leaves to the tables of the semantics.
    private var mayLock: Bool { state != .unlocked }

    // MARK: Refusals

    private func refuses(_ request: SentRequest, _ code: ErrorCode) -> Bool {
        if state == .noVault { return refusesWithoutVault(request, code) }
        switch request.operation {
        case .put(let name, _, _, _):
            if code == .duplicateItem { return request.disturbance.changes[name, default: 0] > 1 }
            return code == .interactionNotAllowed && mayLock
        case .get(let name, let offset):
            guard let node = node(name) else { return code == .itemNotFound }
            if code == .param { return node.mayBeShorter(than: offset ?? 0) }
            if code == .notAvailable { return items[name].map(isSyncing) ?? false }
            return code == .interactionNotAllowed && !node.permits(.read, in: state)
        case .remove(let name):
            guard let node = node(name) else { return code == .itemNotFound }
            return code == .interactionNotAllowed && isSealedSecret(node)
        case .protect(let name, _, _):
            return items[name] == nil ? code == .itemNotFound : code == .interactionNotAllowed && mayLock
        case .move(let name, let target, let replaces, _):
            guard let node = node(name) else { return code == .itemNotFound }
            if node.isSealed(in: state) && code == .interactionNotAllowed { return true }
            guard items[target] != nil else { return false }
            return replaces ? code == .interactionNotAllowed && mayLock : code == .duplicateItem
        case .open(let name, let opening): return refusesOpening(request, name, opening, code)
        case .read(let handle, _), .write(let handle, _, _), .truncate(let handle, _):
            return handles[handle].map { $0.isDead && code == .interactionNotAllowed } ?? true
        // Data that was written before a lock is already sealed, and is synced without a key.
        case .sync(let handle), .close(let handle): return handles[handle] == nil
        case .initialize: return code == .duplicateItem
        case .list, .status, .cancel, .lock, .unlock, .erase: return false
        }
    }

    /// Whether it is a secret that may have an access control which can't be read.
    private func isSealedSecret(_ node: Node) -> Bool {
        if case .keychain = node.protection { node.isSealed(in: state) } else { false }
    }

    private func refusesWithoutVault(_ request: SentRequest, _ code: ErrorCode) -> Bool {
        switch request.operation {
        case .status, .cancel, .initialize: false
        default: code == .notAvailable
        }
    }

    private func refusesOpening(
        _ request: SentRequest,
        _ name: String,
        _ opening: Operation.Opening,
        _ code: ErrorCode
    ) -> Bool {
        guard let number = bound[request.number] ?? items[name], let node = nodes[number] else {
            return code == .itemNotFound && !opening.creates
        }
        if !node.permits(opening.isWriting ? .write : .read, in: state), code == .interactionNotAllowed { return true }
        if code == .notAvailable && isSyncing(number) { return true }
        guard opening.isWriting, let writer = writer(of: number) else { return false }
        return opening.waits ? code == .param && writer == request.client : code == .notAvailable
    }

    // MARK: What is done

    private func done(_ request: SentRequest) -> [VaultModel] {
        let answer = request.answer
        if state == .noVault { return doneWithoutVault(request) }
        switch request.operation {
        case .put(let name, let content, let protection, _):
            guard protection.permits(.create, in: state) else { return [] }
            return [
                changed {
                    $0.items[name] = request.number
                    $0.nodes[request.number] = Node(content, stored(protection, over: node(name)))
                }
            ]
        case .get(let name, let offset):
            guard let number = items[name], nodes[number]?.permits(.read, in: state) == true else { return [] }
            return reading(number, answer, from: offset ?? 0)
        case .list: return lists(answer) ? [self] : []
        case .status: return answer.map { $0.result["state"]?.stringValue == state.rawValue } ?? true ? [self] : []
        case .remove(let name):
            guard let node = node(name), !isSealedSecret(node) else { return [] }
            return [changed { $0.items[name] = nil }]
        case .move(let name, let target, let replaces, _):
            guard let number = items[name], items[target] == nil || replaces, mayMove(number) else { return [] }
            return raised(number, over: target).map { model in
                model.changed { ($0.items[target], $0.items[name]) = (number, nil) }
            }
        case .protect(let name, let protection, _):
            return items[name].map { protected($0, protection) } ?? []
        case .open(let name, let opening): return opened(request, name, opening)
        case .read, .write, .truncate, .sync, .close: return used(request)
        case .cancel: return [self]
        case .lock: return locked()
        case .unlock: return [changed { $0.state = .unlocked }]
        case .erase: return [changed { $0 = VaultModel(.noVault, granted: $0.granted, refused: $0.refused) }]
        case .initialize: return []
        }
    }

    /// What is sealed stays in its store.
    private func stored(_ protection: Protection, over node: Node?) -> Protection {
        guard let node, node.isSealed(in: state), node.protection == .file(.completeUnlessOpen),
            protection == .keychain(.whenUnlockedDeposit)
        else { return protection }
        return node.protection
    }

    /// Whether a file can be moved: what is sealed only if it was stored since the daemon started.
    private func mayMove(_ number: Int) -> Bool {
        guard let node = nodes[number], node.isSealed(in: state) else { return true }
        return node.protection == .file(.completeUnlessOpen)
    }

    /// The states in which a file has at least the class of the one that it is going to replace.
    private func raised(_ number: Int, over target: String) -> [VaultModel] {
        guard let node = nodes[number], items[target] != number, case .file(let least)? = self.node(target)?.protection,
            case .file(let own) = node.protection, own.stricter(least) != own
        else { return [self] }
        return protected(number, .file(least))
    }

    private init(_ state: VaultState, granted: [Int: Grant], refused: [Int: ErrorCode]) {
        self.init(state)
        self.granted = granted
        self.refused = refused
    }

    private func doneWithoutVault(_ request: SentRequest) -> [VaultModel] {
        switch request.operation {
        case .initialize: [VaultModel(.unlocked, granted: granted, refused: refused)]
        case .status: request.answer.map { $0.result["state"] == "noVault" } ?? true ? [self] : []
        case .cancel, .close: [self]
        default: []
        }
    }

    /// The states in which a node has the bytes that were read.
    private func reading(_ node: Int, _ answer: Answer?, from offset: Int) -> [VaultModel] {
        guard let answer else { return [self] }
        return settled(node).filter { $0.nodes[node]?.content.holds(answer.payload, from: offset) == true }
    }

    private func lists(_ answer: Answer?) -> Bool {
        guard let answer else { return true }
        let listed = (answer.result["items"]?.arrayValue ?? []).compactMap(\.objectValue)
        let sealedCount = Int(answer.result["sealedCount"]?.integerValue ?? 0)
        guard listed.count + sealedCount == items.count else { return false }
        // A directory that is sealed hides the names of the files in it.
        let names = Set(listed.compactMap { $0["name"]?.stringValue })
        for (name, number) in items where !name.contains("/") {
            guard nodes[number]?.isSealed(in: state) != names.contains(name) else { return false }
        }
        return listed.allSatisfy { item in
            guard let name = item["name"]?.stringValue, let node = node(name), !node.isSealed(in: state) else {
                return false
            }
            return switch node.protection {
            case .file(let value): item["protection"]?.stringValue == value.rawValue
            case .keychain(let value): item["accessible"]?.stringValue == value.rawValue
            }
        }
    }

    private func protected(_ number: Int, _ protection: Protection) -> [VaultModel] {
        guard let node = nodes[number] else { return [] }
        let isSame = node.protection == protection
        guard isSame || node.permits(.read, in: state) && protection.permits(.create, in: state) else { return [] }
        return [
            changed { copy in
                copy.nodes[number]?.protection = protection
                for (key, handle) in copy.handles where handle.node == number { copy.handles[key]?.isLoose = true }
            }
        ]
    }

    // MARK: Handles

    private func opened(_ request: SentRequest, _ name: String, _ opening: Operation.Opening) -> [VaultModel] {
        guard let number = bound[request.number] ?? items[name] else {
            return opening.creates ? openedNew(request, name) : []
        }
        // A waiting request that found its file before a lock continues as a handle does.
        let operation: ItemOperation = bound[request.number] != nil ? .proceed : opening.isWriting ? .write : .read
        guard nodes[number]?.permits(operation, in: state) == true, !opening.isWriting || writer(of: number) == nil
        else { return [] }
        return settled(number).compactMap { model in
            var model = model
            model.bound[request.number] = nil
            if opening.truncates, model.nodes[number]?.content.count != 0 { model.nodes[number]?.change(.empty) }
            let count = model.nodes[number]?.content.count ?? 0
            return model.granting(request, number, Grant(byteCount: count, isNew: false))
        }
    }

    private func openedNew(_ request: SentRequest, _ name: String) -> [VaultModel] {
        var copy = self
        copy.items[name] = request.number
        copy.nodes[request.number] = Node(.empty, .file(.none))
        return copy.granting(request, request.number, Grant(byteCount: 0, isNew: true)).map { [$0] } ?? []
    }

    private func granting(_ request: SentRequest, _ node: Int, _ grant: Grant) -> VaultModel? {
        guard case .open(_, let opening) = request.operation, request.answer.map(grant.fits) ?? true else { return nil }
        return changed {
            $0.handles[request.number] = Handle(node: node, client: request.client, isWriting: opening.isWriting)
            if request.answer == nil { $0.granted[request.number] = grant }
        }
    }

    private func used(_ request: SentRequest) -> [VaultModel] {
        switch request.operation {
        case .read(let number, let offset):
            guard let handle = handles[number], !handle.isDead else { return [] }
            return reading(handle.node, request.answer, from: offset)
        case .write(let number, let content, let offset):
            return changing(number, request.answer) { $0.writing(content, at: offset ?? $0.count) }
        case .truncate(let number, let count): return changing(number, nil) { $0.resized(to: count) }
        case .sync(let number): return handles[number].map(synced) ?? []
        case .close(let number):
            // An erasure has closed it.
            guard let handle = handles[number] else { return [self] }
            let models = handle.isWriting ? synced(handle) : [self]
            return models.map { $0.changed { $0.handles[number] = nil } }
        default: return []
        }
    }

    /// Makes the writes of a handle durable; those that another handle made since a lock may not be.
    private func synced(_ handle: Handle) -> [VaultModel] {
        if handle.isDead && writer(of: handle.node) != nil { return [self] }
        return settled(handle.node).map { $0.changed { $0.nodes[handle.node]?.sync() } }
    }

    private func changing(_ number: Int, _ answer: Answer?, _ change: (Content) -> Content) -> [VaultModel] {
        guard let handle = handles[number], handle.isWriting, !handle.isDead else { return [] }
        return settled(handle.node).compactMap { model in
            guard let content = model.nodes[handle.node]?.content else { return nil }
            let new = change(content)
            if let count = answer?.result["bytes"]?.integerValue, count != Int64(new.count) { return nil }
            return model.changed { $0.nodes[handle.node]?.change(new) }
        }
    }
}
