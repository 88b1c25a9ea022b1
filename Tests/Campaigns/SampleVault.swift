import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// A vault with all kinds of content, and a record of it.
struct SampleVault {
    /// How the daemon that made it ended.
    enum Ending: CaseIterable { case killed, stopped }

    let directory: TemporaryDirectory
    let contents: [String: [UInt8]]
    let formerSecrets: [String: [[UInt8]]]
    let recoveryKey: [UInt8]

    var statePath: String { directory.appending("state") }

    init(_ ending: Ending, _ random: inout Generator) throws {
        directory = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs)
        let client = try daemon.connect()
        let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        let made = try client.initialize(passcode: passcode, kdf: .interactive)
        recoveryKey = made.takePayload()?.exposeBytes() ?? []
        var filling = Filling(client: client, random: random)
        try filling.addSecrets()
        try filling.addFiles()
        contents = filling.contents
        formerSecrets = filling.formerSecrets
        random = filling.random
        // A wrong passcode, so that the file of attempts has content.
        _ = try client.lock(graceSeconds: 0)
        _ = try Outcome { try client.unlock("wrong") }
        switch ending {
        case .killed: daemon.kill()
        case .stopped: daemon.stop()
        }
    }

    /// Stores items in a vault, and records them.
    private struct Filling {
        let client: BlockingClient
        var random: Generator
        var contents: [String: [UInt8]] = [:]
        var formerSecrets: [String: [[UInt8]]] = [:]

        mutating func addSecrets() throws {
            for (number, accessibility) in Accessibility.allCases.enumerated() {
                let name = "secret/\(number)"
                for _ in 0..<(number % 3 + 1) {
                    let secret = random.content(random.size(upTo: 1500))
                    if let old = contents[name] { formerSecrets[name, default: []].insert(old, at: 0) }
                    try put(name, secret, .keychain) { $0.accessibility = accessibility }
                }
            }
            try client.grant(try ItemName("secret/0"), to: .user(getuid()), seconds: 3600)
        }

        mutating func addFiles() throws {
            for (number, protectionClass) in ProtectionClass.allCases.enumerated() {
                let content = random.content(random.size(upTo: 200_000))
                try put("tree/\(number % 2)/file\(number)", content, .file) { $0.protectionClass = protectionClass }
            }
            for number in 0..<2 {
                let name = "written/\(number)"
                if number == 0 { try put(name, random.content(150_000), .file) { _ in } }
                let file = try client.openFile(try ItemName(name), for: .write, .create)
                let bytes = random.content(70_000)
                try file.put(bytes, at: 1000)
                try file.close()
                var content = contents[name] ?? []
                content += [UInt8](repeating: 0, count: max(0, 71_000 - content.count))
                content.replaceSubrange(1000..<71_000, with: bytes)
                contents[name] = content
            }
        }

        private mutating func put(
            _ name: String,
            _ content: [UInt8],
            _ store: StoreName,
            _ describe: (inout PlacementOptions) -> Void
        ) throws {
            try client.put(name, content) { wishes in
                wishes.store = store
                describe(&wishes)
            }
            contents[name] = content
        }
    }
}

extension SampleVault {
    /// The findings of a daemon on a damaged copy of the vault.
    final class Inspection {
        /// Refused items with their codes, and items that are missing without a refusal.
        var refused: [String: ErrorCode] = [:]
        var missing: [String] = []
        /// Reports of damage to the vault as a whole.
        var named: [String] = []

        var hasNothing: Bool { refused.isEmpty && missing.isEmpty && named.isEmpty }
    }

    /// Throws if a daemon finds a fault in the undamaged vault.
    func expectWhole() throws {
        let directory = try copyState(statePath)
        let found = try inspect(try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs))
        try expect(found.hasNothing, "a vault that nobody damaged: \(found.refused), \(found.missing), \(found.named)")
    }

    /// Reads everything in the vault.
    ///
    /// - Parameter wasRepaired: Whether damaged rows were moved to quarantine.
    /// - Throws: A fault if something has changed, or the daemon ends or reports an internal error.
    func inspect(_ daemon: DaemonProcess, wasRepaired: Bool = false) throws -> Inspection {
        do {
            return try ask(daemon, wasRepaired)
        } catch let error as CofferError {
            // The daemon ends after its connections.
            for _ in 0..<100 where daemon.ending == nil && error.isBrokenConnection { usleep(10_000) }
            try daemon.expectAlive()
            throw Fault("\(error.code.rawValue): \(error.message)")
        }
    }

    private func ask(_ daemon: DaemonProcess, _ wasRepaired: Bool) throws -> Inspection {
        let found = Inspection()
        let client = try daemon.connect()
        guard try unlock(client, found) else { return found }
        for (name, content) in contents.sorted(by: { $0.key < $1.key }) {
            try refusal { try compare(content, try client.get(name), name) }.map { found.refused[name] = $0 }
        }
        for (name, values) in formerSecrets.sorted(by: { $0.key < $1.key }) where found.refused[name] == nil {
            let code = try refusal {
                let read = try client.formerSecrets(of: name)
                let isPart = read.allSatisfy(values.contains)
                try expect(
                    isPart,
                    "former values of '\(name)' are others: \(read.map(\.count)), not \(values.map(\.count))"
                )
                // Their order is that of row numbers, which are not authenticated.
                if !values.allSatisfy(read.contains) { found.missing.append("\(name), before") }
            }
            if let code { found.refused["\(name), before"] = code }
        }
        try look(client, found, wasRepaired)
        try daemon.expectAlive()
        for (name, code) in found.refused where code == .itemNotFound { found.missing.append(name) }
        // A repair reports the rows that it moved to quarantine.
        try expect(
            found.missing.isEmpty || !found.named.isEmpty || wasRepaired,
            "\(found.missing.sorted()) missing, and nothing says so"
        )
        return found
    }

    private func look(_ client: BlockingClient, _ found: Inspection, _ wasRepaired: Bool) throws {
        try note("list", found) {
            let listed = try client.listAll()
            var strangers = Set(listed.items.keys).subtracting(contents.keys)
            // A repair gives recovered items new names.
            if wasRepaired { strangers = strangers.filter { !$0.hasPrefix("recovered-") } }
            try expect(strangers.isEmpty, "\(strangers.sorted()) are listed, and nobody stored them")
            for name in contents.keys where listed.items[name] == nil { found.missing.append(name) }
        }
        try note("doctor", found) {
            for finding in try client.checkAll() { found.named.append("doctor: \(finding.damage.words)") }
        }
        try note("audit", found) {
            for finding in try client.verifyAll() { found.named.append("audit: \(finding)") }
            _ = try client.auditRecords()
        }
        try note("rules", found) { _ = try client.rules() }
        try note("access rules", found) { _ = try client.rules() }
        try note("quarantine", found) { _ = try client.quarantine() }
    }

    private func unlock(_ client: BlockingClient, _ found: Inspection) throws -> Bool {
        let wasNamed = found.named.count
        try note("status", found) {
            let state = try client.status().state
            if state == .deviceKeyMissing { found.named.append("status: \(state)") }
            try expect(state != .noVault, "there is no vault any more, and nothing says so")
        }
        if found.named.count > wasNamed { return false }
        if try refusal({ try client.unlock() }) == nil { return true }
        let code = try refusal {
            let text: SecretBytes? = try SecretBytes(recoveryKey)
            _ = try client.unlock(recoveryKey: text)
        }
        // A damaged counter may have ended the attempts: the recovery key still opens the vault.
        guard let code else { return true }
        try expect(code == .decode, "the vault does not open: \(code.rawValue)")
        found.named.append("unlock: \(code.rawValue)")
        return false
    }

    private func note(_ what: String, _ found: Inspection, _ body: () throws -> Void) throws {
        if let code = try refusal(body) { found.named.append("\(what): \(code.rawValue)") }
    }

    /// The code of a refusal.
    ///
    /// - Throws: Faults, and refusals that damage does not explain.
    private func refusal(_ body: () throws -> Void) throws -> ErrorCode? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            let reasons: [ErrorCode] = [.decode, .itemNotFound, .notAvailable, .authFailed, .interactionNotAllowed]
            guard reasons.contains(error.code), !error.isBrokenConnection else { throw error }
            return error.code
        }
    }

    private func compare(_ expected: [UInt8], _ actual: [UInt8], _ name: String) throws {
        try expect(expected == actual, "'\(name)' has another content: \(actual.count) bytes of \(expected.count)")
    }
}

extension CofferError {
    /// Whether the daemon ended during a request.
    fileprivate var isBrokenConnection: Bool { message.hasPrefix("the connection to the daemon is broken") }
}
