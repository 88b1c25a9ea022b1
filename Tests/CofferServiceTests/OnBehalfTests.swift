import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A client that serves others says on behalf of which process a connection acts.
@Suite struct OnBehalfTests {
    /// A server with an entitlement for a bridge, and its vault.
    private struct Place {
        let server: TestServer
        let owner: BlockingClient
        private let isBridge: Shared<Bool>
        /// A process that is another user's.
        let stranger: Shared<Int32?>

        init(_ lines: String = Self.served, hasVault: Bool = true) throws {
            let (isBridge, stranger) = (Shared(false), Shared<Int32?>(nil))
            (self.isBridge, self.stranger) = (isBridge, stranger)
            let text = "[Client]\nUserUnit=bridge.service\n\(lines)\n"
            let written = try Entitlement.all(in: [("test", Array(text.utf8))]) { (_) throws(CofferError) in
                0
            } groupID: { (_) throws(CofferError) in
                0
            }
            server = try TestServer { configuration in
                configuration.entitlements = written
                configuration.identify = { (peer: PeerIdentity, process: borrowing HeldProcess) in
                    var identity = try ClientIdentity(peer, process)
                    if isBridge.value && identity.processID == getpid() { identity.userUnit = "bridge.service" }
                    if identity.processID == stranger.value { identity.userID += 1 }
                    return identity
                }
            }
            owner = try server.connect()
            if hasVault { try owner.makeVault() }
        }

        /// An entitlement to serve others, with their groups.
        static let served = "Groups=shared program:\nVerbs=read write delete\nOnBehalfOf=yes"

        /// A connection of the bridge.
        func connect() throws -> BlockingClient {
            isBridge.value = true
            defer { isBridge.value = false }
            let connection = try server.connect()
            _ = try connection.status()
            return connection
        }

        /// A connection of the bridge on behalf of a program.
        func connect(for program: Program) throws -> BlockingClient {
            let connection = try connect()
            try connection.act(onBehalfOf: program.held.descriptorNumber)
            return connection
        }

        /// The clients and the reasons of what is recorded of an action.
        func recorded(_ action: String) throws -> [[String?]] {
            try owner.auditRecords().records.filter { $0.action == action }.map { [$0.client?.userUnit, $0.reason] }
        }
    }

    /// A program that runs until it is ended.
    fileprivate final class Program {
        let held: HeldProcess
        /// The access group of its program.
        let group: String
        private let process: Process
        private let input: Pipe

        init(_ path: String, _ arguments: [String]) throws {
            let (process, input) = (Process(), Pipe())
            process.executableURL = URL(filePath: path)
            process.arguments = arguments
            process.standardInput = input
            try process.run()
            guard let held = try HeldProcess(numbered: process.processIdentifier) else { throw POSIXError(.ESRCH) }
            guard let group = AccessGroup.program(at: held.executablePath) else { throw POSIXError(.ENOENT) }
            (self.process, self.input, self.group) = (process, input, group)
            self.held = held
        }

        static func mail() throws -> Program { try Program("/usr/bin/sleep", ["600"]) }

        /// It becomes the other program when it is told to.
        static func chat() throws -> Program { try Program("/bin/bash", ["-c", "read word; exec sleep 600"]) }

        func becomeAnother() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

        func end() {
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        deinit { end() }
    }

    private static func put(_ name: String, _ byte: UInt8, in group: String, by client: BlockingClient) throws {
        try client.put(name, [byte]) { $0.group = group }
    }

    private static func get(_ name: String, in group: String, by client: BlockingClient) throws -> [UInt8] {
        let params = ItemGetParameters(name: try ItemName(name), group: group)
        return try client.call(params).payload.exposeBytes()
    }

    // MARK: What is recorded, and what is reached

    @Test func `the audit shows the program that asked, and the client that asked for it`() throws {
        let (place, mail, chat) = (try Place(), try Program.mail(), try Program.chat())
        try place.connect(for: mail).put("a", [1])
        try place.connect(for: chat).put("b", [1])
        try place.connect().put("c", [1])
        try place.owner.put("d", [1])
        let unit = "bridge.service"
        #expect(
            try place.recorded("item.put") == [
                [unit, "for \(mail.group)"], [unit, "for \(chat.group)"], [unit, nil], [nil, nil],
            ]
        )
    }

    @Test func `each program has a group of its own by one client, and none has another's`() throws {
        let (place, mail, chat) = (try Place(), try Program.mail(), try Program.chat())
        let (forMail, forChat) = (try place.connect(for: mail), try place.connect(for: chat))
        try Self.put("token", 1, in: "program:", by: forMail)
        #expect(try Outcome { _ = try Self.get("token", in: "program:", by: forChat) } == .refused(.itemNotFound))
        try Self.put("token", 2, in: "program:", by: forChat)
        #expect(try Self.get("token", in: "program:", by: forMail) == [1])
        #expect(try Self.get("token", in: mail.group, by: place.owner) == [1])
        #expect(try Self.get("token", in: chat.group, by: place.owner) == [2])
        let named = try Outcome { _ = try Self.get("token", in: mail.group, by: forChat) }
        #expect(named == .refused(.missingEntitlement), "a group can't be named for another program")
        let own = try Outcome { _ = try Self.get("token", in: "program:", by: place.connect()) }
        #expect(own == .refused(.itemNotFound), "that of the client itself is another")
        let groups = try place.owner.auditRecords().records.filter { $0.action == "item.put" }.map(\.items.first?.group)
        #expect(groups == [mail.group, chat.group])
    }

    @Test func `a group that the client does not hold in its own name it has for no program`() throws {
        let place = try Place("Groups=shared\nVerbs=read write\nOnBehalfOf=yes")
        let mail = try Program.mail()
        let client = try place.connect(for: mail)
        try client.put("a", [1])
        for group in ["program:", mail.group] {
            let outcome = try Outcome { try Self.put("a", 1, in: group, by: client) }
            #expect(outcome == .refused(.missingEntitlement), "\(group)")
        }
        #expect(try place.recorded("item.put").map { $0[1] } == Array(repeating: "for \(mail.group)", count: 3))
    }

    // MARK: Who may

    @Test(arguments: [VaultState.noVault, .unlocked, .locked])
    func `only who is entitled to it acts for others, in every state of the vault`(state: VaultState) throws {
        let mail = try Program.mail()
        for (lines, expected) in [
            (Place.served, Outcome.done), ("Verbs=lock\nOnBehalfOf=yes", .done),
            ("Groups=shared program: *\nVerbs=read write delete lock unlock admin", .refused(.missingEntitlement)),
        ] {
            let place = try Place(lines, hasVault: state != .noVault)
            if state == .locked { try place.owner.lock(graceSeconds: 0) }
            #expect(try place.owner.status().state == state)
            let client = try place.connect()
            let outcome = try Outcome { try client.act(onBehalfOf: mail.held.descriptorNumber) }
            #expect(outcome == expected, "\(lines)")
            let explained = try client.call(EntitlementExplainParameters(.caller)).value
            #expect(explained.actsOnBehalf == (expected == .done), "\(lines)")
            let own = try Outcome { try place.owner.act(onBehalfOf: mail.held.descriptorNumber) }
            #expect(own == .refused(.missingEntitlement), "the owner's own programs may not")
            let without = try Outcome { try client.act(onBehalfOf: nil) }
            #expect(without == .done, "a hello without a descriptor asks for nothing")
        }
    }

    @Test func `the section of the package is for the unit of the Secret Service alone`() throws {
        let path = "\(Project.root)/packaging/entitlements/secret-service.conf"
        let bytes = try #require(FileManager.default.contents(atPath: path).map { Array($0) })
        let entitlements = try Entitlement.all(in: [(path, bytes)]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
        let policy = AccessPolicy(daemon: HeldServer.owner, entitlements: entitlements)
        let rights = try policy.rights(of: HeldServer.service("coffer-secret-service"))
        #expect(rights.actsOnBehalf && rights.reach == .all)
        #expect(rights.verbs == [.read, .write, .delete, .lock, .unlock])
        for client in [HeldServer.owner, HeldServer.service("coffer-ssh-agent")] {
            #expect(try !policy.rights(of: client).actsOnBehalf)
        }
    }

    @Test func `who may not is recorded`() throws {
        let place = try Place("Groups=shared\nVerbs=read write")
        let client = try place.connect()
        let mail = try Program.mail()
        _ = try Outcome { try client.act(onBehalfOf: mail.held.descriptorNumber) }
        let record = try #require(try place.owner.auditRecords().records.last { $0.action == "hello" })
        #expect(record.client?.userUnit == "bridge.service" && record.refusal?.code == .missingEntitlement)
    }

    @Test func `what is no process of the same user is refused, and then the client acts for itself`() throws {
        let place = try Place()
        let (file, pipe) = (try FileHandle(forReadingFrom: URL(filePath: "/proc/self/status")), Pipe())
        let (gone, foreign) = (try Program.mail(), try Program.mail())
        gone.end()
        place.stranger.value = foreign.held.number
        for (what, number, expected) in [
            ("a file that speaks of a process", file.fileDescriptor, ErrorCode.param),
            ("a pipe", pipe.fileHandleForReading.fileDescriptor, .param),
            ("a process that has ended", gone.held.descriptorNumber, .missingEntitlement),
            ("another user's process", foreign.held.descriptorNumber, .missingEntitlement),
        ] {
            let client = try place.connect()
            let outcome = try Outcome { try client.act(onBehalfOf: number) }
            #expect(outcome == .refused(expected), "\(what)")
            try client.put("a", [1])
        }
        #expect(try place.recorded("item.put").map { $0[1] } == [nil, nil, nil, nil])
    }

    @Test func `a connection acts for one process, and stays its`() throws {
        let (place, mail, chat) = (try Place(), try Program.mail(), try Program.chat())
        let client = try place.connect(for: mail)
        for program in [mail, chat] {
            let outcome = try Outcome { try client.act(onBehalfOf: program.held.descriptorNumber) }
            #expect(outcome == .refused(.param))
        }
        try client.act(onBehalfOf: nil)
        try client.put("a", [1])
        #expect(try place.recorded("item.put").map { $0[1] } == ["for \(mail.group)"])
    }

    // MARK: Its end

    @Test func `a connection ends with the process, and when that runs another program`() throws {
        let (place, mail, chat) = (try Place(), try Program.mail(), try Program.chat())
        let (forMail, forChat) = (try place.connect(for: mail), try place.connect(for: chat))
        try Self.put("token", 1, in: "program:", by: forMail)
        try Self.put("token", 2, in: "program:", by: forChat)
        mail.end()
        let ended = try Outcome { _ = try Self.get("token", in: "program:", by: forMail) }
        #expect(ended == .refused(.missingEntitlement))
        #expect(try Self.get("token", in: "program:", by: forChat) == [2])
        try chat.becomeAnother()
        var outcome = Outcome.done
        let isRefused = try settles {
            outcome = try Outcome { _ = try Self.get("token", in: "program:", by: forChat) }
            return outcome != .done
        }
        #expect(isRefused && outcome == .refused(.missingEntitlement))
    }
}

extension BlockingClient {
    /// Has the connection act on behalf of the process of a pidfd.
    fileprivate func act(onBehalfOf number: Int32?) throws {
        let none: SecretBytes? = nil
        let params = HelloParameters(protocolNumber: Int64(Version.protocolNumber))
        try call(params, payload: none, passing: number)
    }
}
