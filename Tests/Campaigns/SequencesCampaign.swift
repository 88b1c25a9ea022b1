import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// Sequences of operations by chance, of up to three clients, beside a model.
///
/// No answer is another than the model's, and each request has one.
enum SequencesCampaign {
    private static let stepsOfSequence = 60

    static func run(_ report: Report) throws {
        for number in report.cases {
            report.attempt(number) {
                let sequence = try Sequence(report.generator(of: number))
                for _ in 0..<stepsOfSequence {
                    do { try sequence.step() } catch {
                        let last = sequence.steps.suffix(12).joined(separator: "; ")
                        throw Fault("step \(sequence.steps.count): \(inWords(error)); the last steps: \(last)")
                    }
                }
                report.tally("steps", stepsOfSequence)
            }
        }
    }
}

/// An item, by whatever name, and as long as a handle has it.
private final class Node {
    var content: [UInt8]
    var protection: Protection
    /// What it may be after a kill.
    var kept: [[UInt8]]
    /// Whether it is one of those now.
    var isUncertain = false

    init(_ content: [UInt8], _ protection: Protection) {
        self.content = content
        self.protection = protection
        kept = [content]
    }

    func change(_ content: [UInt8]) {
        self.content = content
        kept.append(content)
    }

    func sync() { kept = [content] }

    func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch protection {
        case .file(let protectionClass): protectionClass.permits(operation, in: state)
        case .keychain(let accessibility): accessibility.isAvailable(in: state)
        }
    }
}

/// A file that a client has open.
private final class Handle {
    let node: Node
    let file: OpenedFile
    let isWriting: Bool
    var isDead = false

    init(_ node: Node, _ file: OpenedFile, isWriting: Bool) {
        self.node = node
        self.file = file
        self.isWriting = isWriting
    }
}

private final class Sequence {
    private let daemon: DaemonProcess
    private var random: Generator
    private var clients: [BlockingClient] = []
    private let clientCount: Int
    private var state = VaultState.unlocked
    private var items: [String: Node] = [:]
    private var handles: [Handle] = []
    /// What was done, for whoever reads of a fault.
    private(set) var steps: [String] = []

    private static let secrets = ["s0", "s1", "d/s"]
    private static let files = ["f0", "f1", "e/f", "e/g"]

    init(_ random: Generator) throws {
        self.random = random
        daemon = try DaemonProcess(launchedBy: DaemonProcess.endingWithUs)
        clientCount = 1 + self.random.below(3)
        try connect()
        try clients[0].makeVault()
    }

    private func connect() throws { clients = try (0..<clientCount).map { _ in try daemon.connect() } }

    private func client() -> BlockingClient { random.pick(clients) }

    func step() throws {
        switch random.below(20) {
        case 0...2: try put()
        case 3...4: try get()
        case 5: try remove()
        case 6: try move()
        case 7: try protect()
        case 8...9: try open()
        case 10...12: try write()
        case 13: try read()
        case 14: try sync()
        case 15...16: try close()
        case 17: try lock()
        case 18: try unlock()
        default: try random.chance(0.5) ? restart() : compareAll()
        }
    }

    // MARK: Answers

    /// Sends a request, and compares how it ends.
    ///
    /// - Parameter expected: The ends that are right.
    /// - Returns: Whether it was done.
    private func request(_ what: String, _ expected: [Outcome], _ body: () throws -> Void) throws -> Bool {
        steps.append("\(what) (\(state))")
        let outcome = try Outcome(body)
        try daemon.expectAlive()
        try expect(expected.contains(outcome), "\(what) is \(outcome), and should be one of \(expected)")
        return outcome == .done
    }

    /// Where a lock may stand in the way, for reasons that the tables of the semantics tell and this model does not.
    private var doneOrLocked: [Outcome] { state == .unlocked ? [.done] : [.done, .locked] }

    private func name() -> String { random.pick(Self.secrets + Self.files) }

    // MARK: Items

    private func put() throws {
        let name = name()
        let content = random.content(random.size(upTo: Self.files.contains(name) ? 150_000 : 2000))
        let protection: Protection =
            Self.files.contains(name)
            ? .file(random.pick(ProtectionClass.allCases)) : .keychain(random.pick(Accessibility.allCases))
        let isDone = try request("put \(name) \(content.count) \(protection)", doneOrLocked) {
            try client().put(name, content) { wishes in
                wishes.store = protection.store
                switch protection {
                case .file(let protectionClass): wishes.protectionClass = protectionClass
                case .keychain(let accessibility): wishes.accessibility = accessibility
                }
            }
        }
        if isDone { items[name] = Node(content, protection) }
    }

    private func get() throws { try compare(name()) }

    private func compare(_ name: String) throws {
        let node = items[name]
        let expected: Outcome =
            node.map { $0.permits(.read, in: state) ? .done : .locked } ?? .refused(.itemNotFound)
        var content: [UInt8] = []
        let isDone = try request("get \(name)", [expected]) { content = try client().get(name) }
        if isDone, let node { try compare(content, node, name) }
    }

    private func compare(_ content: [UInt8], _ node: Node, _ what: String) throws {
        if node.isUncertain {
            try expect(node.kept.contains(content), "\(what) is none of what it was")
            (node.content, node.kept, node.isUncertain) = (content, [content], false)
        }
        let isSame = content == node.content
        try expect(isSame, "\(what) has \(content.count) bytes that are not its \(node.content.count)")
    }

    private func compareAll() throws {
        for name in Self.secrets + Self.files { try compare(name) }
        var listed: [String: ItemInfo] = [:]
        _ = try request("list", [.done]) { listed = try client().listAll().items }
        try expect(
            Set(listed.keys) == Set(items.keys),
            "\(listed.keys.sorted()) are listed, not \(items.keys.sorted())"
        )
        for (name, node) in items {
            let protection = listed[name]?.protection
            try expect(protection == node.protection, "\(name) is \(protection as Any), not \(node.protection)")
        }
    }

    private func remove() throws {
        let name = name()
        let expected: Outcome = items[name] == nil ? .refused(.itemNotFound) : .done
        _ = try request("remove \(name)", [expected]) { try client().remove(try ItemName(name)) }
        items[name] = nil
    }

    private func move() throws {
        let names = random.chance(0.5) ? Self.secrets : Self.files
        let (name, target) = (random.pick(names), random.pick(names))
        if name == target { return }
        let replaces = random.chance(0.5)
        var expected: [Outcome] = [.done]
        if items[name] == nil {
            expected = [.refused(.itemNotFound)]
        } else if items[target] != nil {
            expected = replaces ? doneOrLocked : [.refused(.duplicateItem)]
        }
        let isDone = try request("move \(name) to \(target)\(replaces ? ", replacing" : "")", expected) {
            try client().move(try ItemName(name), to: try ItemName(target), replace: replaces)
        }
        if isDone { (items[target], items[name]) = (items[name], nil) }
    }

    private func protect() throws {
        let name = name()
        // What a change of class does to a file that is open is not this model's to know.
        if let node = items[name], handles.contains(where: { $0.node === node }) { return }
        let protection: Protection =
            Self.files.contains(name)
            ? .file(random.pick(ProtectionClass.allCases)) : .keychain(random.pick(Accessibility.allCases))
        let expected = items[name] == nil ? [.refused(.itemNotFound)] : doneOrLocked
        let isDone = try request("protect \(name) \(protection)", expected) {
            _ = try client().protect(try ItemName(name), as: protection)
        }
        if isDone { items[name]?.protection = protection }
    }

    // MARK: Handles

    private func open() throws {
        let name = random.pick(Self.files)
        let isWriting = random.chance(0.7)
        let node = items[name]
        let isHeld = handles.contains { $0.node === node && $0.isWriting && !$0.isDead && isWriting }
        var expected: [Outcome]
        if let node {
            expected = [node.permits(isWriting ? .write : .read, in: state) ? .done : .locked]
            if isHeld {
                expected = expected == [.done] ? [.refused(.notAvailable)] : expected + [.refused(.notAvailable)]
            }
        } else {
            expected = isWriting ? [.done] : [.refused(.itemNotFound)]
        }
        var file: OpenedFile?
        let isDone = try request("open \(name)\(isWriting ? " to write" : "")", expected) {
            // One that is made is of a class that can be made and used in every state.
            file = try client().openFile(
                try ItemName(name),
                for: isWriting ? .readWrite : .read,
                isWriting ? .create : [],
                protectionClass: isWriting && node == nil ? ProtectionClass.none : nil
            )
        }
        guard isDone, let file else { return }
        let opened = node ?? Node([], .file(.none))
        if node == nil { items[name] = opened }
        handles.append(Handle(opened, file, isWriting: isWriting))
    }

    private func handle(_ isRight: (Handle) -> Bool = { _ in true }) -> Handle? {
        handles.filter(isRight).randomElement(using: &random)
    }

    private func write() throws {
        guard let handle = handle(\.isWriting) else { return }
        let node = handle.node
        try settle(handle)
        let place = random.size(upTo: 100_000)
        let bytes = random.content(1 + random.size(upTo: 50_000))
        var content = node.content
        let isCut = random.chance(0.2)
        content += [UInt8](repeating: 0, count: max(0, place + (isCut ? 0 : bytes.count) - content.count))
        if isCut {
            content.removeLast(content.count - place)
        } else {
            content.replaceSubrange(place..<(place + bytes.count), with: bytes)
        }
        let what = isCut ? "truncate to \(place)" : "write \(bytes.count) at \(place)"
        let isDone = try request(what, [handle.isDead ? .locked : .done]) {
            if isCut {
                try handle.file.truncate(to: Int64(place))
            } else {
                try handle.file.put(bytes, at: Int64(place))
            }
        }
        if isDone { node.change(content) }
    }

    private func read() throws {
        guard let handle = handle() else { return }
        var content: [UInt8] = []
        let isDone = try request("read", [handle.isDead ? .locked : .done]) { content = try handle.file.get() }
        if isDone { try compare(content, handle.node, "what is read") }
    }

    /// Finds out what a file is that a kill left uncertain, before it is written.
    private func settle(_ handle: Handle) throws {
        if !handle.node.isUncertain || handle.isDead { return }
        try compare(try handle.file.get(), handle.node, "what is read")
    }

    private func sync() throws {
        guard let handle = handle({ $0.isWriting && !$0.isDead }) else { return }
        try settle(handle)
        if try request("sync", [.done], { try handle.file.sync() }) { handle.node.sync() }
    }

    private func close() throws {
        guard let handle = handle() else { return }
        try settle(handle)
        handles.removeAll { $0 === handle }
        _ = try request("close", [.done]) { try handle.file.close() }
        if handle.isWriting && !handle.isDead { handle.node.sync() }
    }

    // MARK: States

    private func lock() throws {
        guard state == .unlocked else { return }
        _ = try request("lock", [.done]) { _ = try client().lock(graceSeconds: 0) }
        state = .locked
        for handle in handles where !handle.isDead && !handle.node.permits(.proceed, in: state) {
            handle.isDead = true
            // What was written before is synced.
            if handle.isWriting { handle.node.sync() }
        }
    }

    private func unlock() throws {
        if state == .unlocked { return }
        _ = try request("unlock", [.done]) { try client().unlock() }
        state = .unlocked
    }

    private func restart() throws {
        let isKilled = random.chance(0.6)
        steps.append(isKilled ? "kill" : "stop")
        if isKilled {
            daemon.kill()
        } else {
            let code = daemon.stop()
            try expect(code == 0, "the daemon has ended with \(code)")
            // The end of a connection syncs as far as it can; so does that of the daemon.
        }
        handles = []
        try daemon.restart()
        try connect()
        state = .beforeFirstUnlock
        for node in items.values where node.kept.count > 1 { node.isUncertain = true }
        if random.chance(0.7) { try unlock() }
    }
}
