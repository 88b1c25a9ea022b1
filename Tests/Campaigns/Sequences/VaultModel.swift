import CofferCore
import CofferWire

/// A possible state of a vault, as far as its answers show it: a value, of which there are many while the
/// state is uncertain.
struct VaultModel: Hashable {
    var state: VaultState
    /// The node of each name; a node is numbered by the request that made it.
    var items: [String: Int] = [:]
    var nodes: [Int: Node] = [:]
    /// The open files, by the requests that opened them.
    var handles: [Int: Handle] = [:]
    /// The handles of waiting requests whose answer was not received yet.
    var granted: [Int: Grant] = [:]
    /// The waiting openings that were refused, and whose answer was not received yet.
    var refused: [Int: ErrorCode] = [:]
    /// The nodes that waiting requests have found, whatever their names are now.
    var bound: [Int: Int] = [:]

    /// The answer for an opened file.
    struct Grant: Hashable {
        let byteCount: Int
        let isNew: Bool

        func fits(_ answer: Answer) -> Bool {
            answer.result["bytes"]?.integerValue == Int64(byteCount) && answer.result["created"]?.boolValue == isNew
        }
    }

    /// An item, under any name, which lives as long as a handle has it.
    struct Node: Hashable {
        var content: Content
        var protection: Protection
        /// The possible contents after a kill.
        var kept: Set<Content>
        /// Whether the content is one of those now.
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

        /// Whether its name can't be read in a state.
        func isSealed(in state: VaultState) -> Bool {
            state == .beforeFirstUnlock
                && ![.file(.none), .keychain(.always), .keychain(.alwaysThisDeviceOnly)]
                    .contains(protection)
        }
    }

    /// An open file.
    struct Handle: Hashable {
        let node: Int
        let client: Int
        let isWriting: Bool
        /// Whether a lock has revoked it.
        var isDead = false
        /// Whether its class was changed meanwhile: which one applies at a lock is outside this model.
        var isLoose = false
    }

    init(_ state: VaultState) { self.state = state }

    func node(_ name: String) -> Node? { items[name].flatMap { nodes[$0] } }

    /// The client that writes a file; `nil` if there is none.
    func writer(of node: Int) -> Int? {
        handles.values.first { $0.node == node && $0.isWriting && !$0.isDead }?.client
    }

    /// Whether the writes of a revoked handle may not be synced yet, so that the file can't be opened again.
    func isSyncing(_ node: Int) -> Bool {
        handles.values.contains { $0.node == node && $0.isWriting && $0.isDead } && (nodes[node]?.kept.count ?? 0) > 1
    }

    /// The possible states, one for each content, if the content of a node must be known.
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

    /// The possible states after a lock.
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

    /// Revokes a handle; its writes are synced after the answer to the lock, and a kill may lose them until
    /// then.
    private mutating func end(_ number: Int) {
        handles[number]?.isDead = true
    }

    /// The state after the daemon was restarted.
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
    /// Whether the key of an operation is in memory in a state.
    func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch self {
        case .file(let value): value.permits(operation, in: state)
        case .keychain(let value): value.permits(operation, in: state)
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
