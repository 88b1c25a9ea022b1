import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// A vault that has something of everything, and what is in it.
struct SampleVault {
    /// How the daemon that made it has ended.
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
        // A wrong one, so that there is something in the file that counts them.
        _ = try client.lock(graceSeconds: 0)
        _ = try Outcome { try client.unlock("wrong") }
        switch ending {
        case .killed: daemon.kill()
        case .stopped: daemon.stop()
        }
    }

    /// Puts items into a vault, and keeps what they are.
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
            _ describe: (inout ItemWishes) -> Void
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
    /// What a daemon on a damaged copy of the vault gives.
    final class Inspection {
        /// Items that are refused, by the code, and those that are missing though nothing refuses them.
        var refused: [String: ErrorCode] = [:]
        var missing: [String] = []
        /// What names damage, of the vault as a whole.
        var named: [String] = []

        var hasNothing: Bool { refused.isEmpty && missing.isEmpty && named.isEmpty }
    }

    /// Throws where a daemon finds anything wrong with the vault as it was made.
    func expectWhole() throws {
        let directory = try copyState(statePath)
        let found = try inspect(try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs))
        try expect(found.hasNothing, "a vault that nobody damaged: \(found.refused), \(found.missing), \(found.named)")
    }

    /// Asks a daemon for all that is in the vault.
    ///
    /// - Parameter wasRepaired: Whether damaged rows were moved out of the way.
    /// - Throws: A fault where something is another than it was, or the daemon ends, or tells of a fault of its own.
    func inspect(_ daemon: DaemonProcess, wasRepaired: Bool = false) throws -> Inspection {
        do {
            return try ask(daemon, wasRepaired)
        } catch let error as CofferError {
            // It ends after its connections.
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
                // Their order is that of row numbers, which are bound to nothing.
                if !values.allSatisfy(read.contains) { found.missing.append("\(name), before") }
            }
            if let code { found.refused["\(name), before"] = code }
        }
        try look(client, found, wasRepaired)
        try daemon.expectAlive()
        for (name, code) in found.refused where code == .itemNotFound { found.missing.append(name) }
        // What a repair has put into the quarantine is named there.
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
            // What a repair has found a place for.
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
        try note("leases", found) { _ = try client.leases() }
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
        // Too many wrong ones, as a damaged count of them has it: the recovery key opens.
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
    /// - Throws: Faults, and refusals that a damaged vault is no reason for.
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
    /// Whether a daemon has gone in the middle of a request.
    fileprivate var isBrokenConnection: Bool { message.hasPrefix("the connection to the daemon is broken") }
}
