import CofferCore
import CofferWire

/// What a vault may be, as far as its answers tell: a value, of which there are many while it is not known which one it is.
struct VaultModel: Hashable {
    var state: VaultState
    /// Which node a name stands for; a node has the number of the request that made it.
    var items: [String: Int] = [:]
    var nodes: [Int: Node] = [:]
    /// The open files, by the requests that opened them.
    var handles: [Int: Handle] = [:]
    /// What is open for requests that waited, and whose answer was not seen yet.
    var granted: [Int: Grant] = [:]
    /// The waiting openings that were refused, and whose answers are on their way.
    var refused: [Int: ErrorCode] = [:]
    /// What requests wait for that have found their file, whatever its name is by now.
    var bound: [Int: Int] = [:]

    /// What is told of a file that was opened.
    struct Grant: Hashable {
        let byteCount: Int
        let isNew: Bool

        func fits(_ answer: Answer) -> Bool {
            answer.result["bytes"]?.integerValue == Int64(byteCount) && answer.result["created"]?.boolValue == isNew
        }
    }

    /// An item, by whatever name, and as long as a handle has it.
    struct Node: Hashable {
        var content: Content
        var protection: Protection
        /// What it may be after a kill.
        var kept: Set<Content>
        /// Whether it is one of those now.
        var isUncertain = false

        init(_ content: Content, _ protection: Protection) {
            self.content = content
            self.protection = protection
            kept = [content]
        }

        mutating func change(_ content: Content) {
            self.content = content
            kept.insert(content)
        }

        mutating func sync() { kept = [content] }

        func mayBeShorter(than count: Int) -> Bool {
            isUncertain ? kept.contains { $0.count < count } : content.count < count
        }

        func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
            protection.permits(operation, in: state)
        }
    }

    /// A file that is open.
    struct Handle: Hashable {
        let node: Int
        let client: Int
        let isWriting: Bool
        /// Whether a lock has ended it.
        var isDead = false
        /// Whether the class was changed under it: which one counts at a lock is not this model's to know.
        var isLoose = false
    }

    init(_ state: VaultState) { self.state = state }

    func node(_ name: String) -> Node? { items[name].flatMap { nodes[$0] } }

    /// The client that writes a file; `nil` where nobody does.
    func writer(of node: Int) -> Int? {
        handles.values.first { $0.node == node && $0.isWriting && !$0.isDead }?.client
    }

    /// Whether what was written through a handle that a lock has ended may not be synced yet: until then the file can't be
    /// opened anew.
    func isSyncing(_ node: Int) -> Bool {
        handles.values.contains { $0.node == node && $0.isWriting && $0.isDead } && (nodes[node]?.kept.count ?? 0) > 1
    }

    /// The states of which one is this, if a node's content has to be known.
    func settled(_ node: Int) -> [VaultModel] {
        guard let found = nodes[node], found.isUncertain else { return [self] }
        return found.kept.map { content in
            changed { $0.nodes[node] = Node(content, found.protection) }
        }
    }

    func changed(_ body: (inout VaultModel) -> Void) -> VaultModel {
        var copy = self
        body(&copy)
        let used = Set(copy.items.values).union(copy.handles.values.map(\.node)).union(copy.bound.values)
        copy.nodes = copy.nodes.filter { used.contains($0.key) }
        return copy
    }

    // MARK: What happens to the whole vault

    /// What may be behind a lock.
    func locked() -> [VaultModel] {
        guard state == .unlocked else { return [self] }
        var models = [changed { $0.state = .locked }]
        for (number, handle) in handles where !handle.isDead {
            let permits = nodes[handle.node]?.permits(.proceed, in: .locked) ?? false
            let ended = models.map { $0.changed { $0.end(number) } }
            models = handle.isLoose ? models + ended : permits ? models : ended
        }
        return models
    }

    /// Ends a handle; what was written before is synced behind the answer to the lock, and may be lost to a kill until then.
    private mutating func end(_ number: Int) {
        handles[number]?.isDead = true
    }

    /// What is there when the daemon has been ended and started.
    func restarted() -> VaultModel {
        changed { copy in
            copy.handles = [:]
            (copy.granted, copy.refused, copy.bound) = ([:], [:], [:])
            if copy.state != .noVault { copy.state = .beforeFirstUnlock }
            for (number, node) in copy.nodes where node.kept.count > 1 { copy.nodes[number]?.isUncertain = true }
        }
    }
}

extension VaultModel: CustomStringConvertible {
    var description: String {
        let named = items.sorted { $0.key < $1.key }.map { "\($0.key) is \($0.value)" }
        let contents = nodes.sorted { $0.key < $1.key }.map { number, node in
            "\(number): \(node.content)\(node.isUncertain ? " or else" : "") \(node.protection.word)"
        }
        let open = handles.sorted { $0.key < $1.key }.map { number, handle in
            "#\(number): \(handle.node)\(handle.isWriting ? " to write" : "")\(handle.isDead ? ", dead" : "")"
        }
        return "\(state); \(named); \(contents); \(open); granted \(granted.keys.sorted()), bound \(bound)"
    }
}

extension Protection {
    /// Whether the key for an operation is there in a state.
    func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch self {
        case .file(let value): value.permits(operation, in: state)
        case .keychain(let value): value.isAvailable(in: state)
        }
    }

    /// Its wire name.
    var word: String {
        switch self {
        case .file(let value): value.rawValue
        case .keychain(let value): value.rawValue
        }
    }
}
