import CofferCore

/// Plans the next requests of the clients.
struct Planner {
    private(set) var random: Generator
    private let model: VaultModel
    private let files: [Int: OpenFile]

    private static let secrets = ["s0", "s1", "d/s"]
    private static let fileNames = ["f0", "f1", "e/f", "e/g"]
    static let names = secrets + fileNames

    /// Makes a planner.
    ///
    /// - Parameters:
    ///   - random: The random numbers.
    ///   - model: A possible state of the vault, so that the requests make sense.
    ///   - files: The open files.
    init(_ random: Generator, _ model: VaultModel, _ files: [Int: OpenFile]) {
        (self.random, self.model, self.files) = (random, model, files)
    }

    /// Whether a client cancels a waiting request.
    mutating func cancels() -> Bool { random.chance(0.4) }

    /// The requests of a client in a round.
    mutating func script(of client: Int) -> [Operation] {
        var script: [Operation] = []
        for _ in 0..<random.below(5) {
            guard let operation = operation(of: client) else { continue }
            script.append(operation)
            if operation.waits { return script }
            if random.chance(0.05) {
                script.append(.cancel(Operation.last))
            }
        }
        return script
    }

    private mutating func operation(of client: Int) -> Operation? {
        switch random.below(24) {
        case 0...2: put()
        case 3...5: .get(name(), from: random.chance(0.3) ? random.size(upTo: 100_000) : nil)
        case 6: .remove(name())
        case 7...8: move()
        case 9: protect()
        case 10...12: open(client)
        case 13...18: use(client)
        case 19: random.chance(0.5) ? .list : .status
        case 20...21: stateChange()
        default: .get(random.pick(Self.fileNames), from: nil)
        }
    }

    private mutating func name() -> String { random.pick(Self.names) }

    private mutating func protection(of name: String) -> Protection {
        Self.fileNames.contains(name)
            ? .file(random.pick(ProtectionClass.allCases)) : .keychain(random.pick(Accessibility.allCases))
    }

    private mutating func put() -> Operation {
        let name = name()
        let isFile = Self.fileNames.contains(name)
        let content = Content(random.content(random.size(upTo: isFile ? 150_000 : 2000)))
        return .put(name, content, protection(of: name), isPassed: isFile && random.chance(0.3))
    }

    private mutating func protect() -> Operation {
        let name = name()
        let isOfFiles = Self.fileNames.contains(name) && random.chance(0.5)
        return .protect(name, protection(of: name), method: isOfFiles ? "file.protect" : "item.protect")
    }

    private mutating func move() -> Operation? {
        let isFile = random.chance(0.7)
        let names = isFile ? Self.fileNames : Self.secrets
        let (name, target) = (random.pick(names), random.pick(names))
        if name == target { return nil }
        let method = isFile && random.chance(0.7) ? "file.rename" : "item.move"
        return .move(name, to: target, replaces: random.chance(0.7), method: method)
    }

    private mutating func stateChange() -> Operation {
        switch model.state {
        case .noVault: .initialize
        case .unlocked: random.chance(0.15) ? .erase : .lock
        default: random.chance(0.8) ? .unlock : .lock
        }
    }

    // MARK: Handles

    private mutating func open(_ client: Int) -> Operation {
        let name = random.pick(Self.fileNames)
        var opening = Operation.Opening(
            isWriting: random.chance(0.7)
        )
        if opening.isWriting {
            opening.creates = random.chance(0.6)
            opening.truncates = random.chance(0.15)
            opening.waits = random.chance(0.5)
        }
        return .open(name, opening)
    }

    private mutating func use(_ client: Int) -> Operation? {
        let own = files.filter { $0.value.client == client }.keys.sorted()
        guard let number = own.randomElement(using: &random), let file = files[number] else { return open(client) }
        switch random.below(file.isWriting ? 9 : 3) {
        case 0: return .close(number)
        case 1...2: return .read(number, from: random.chance(0.5) ? 0 : random.size(upTo: 100_000))
        case 3: return .sync(number)
        case 4: return .truncate(number, random.size(upTo: 100_000))
        default:
            let content = Content(random.content(1 + random.size(upTo: 50_000)))
            return .write(number, content, at: random.chance(0.2) ? nil : random.size(upTo: 100_000))
        }
    }
}
