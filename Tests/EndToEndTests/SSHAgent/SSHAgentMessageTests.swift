import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What the agent makes of messages that no program of OpenSSH sends.
@Suite struct SSHAgentMessageTests {
    private let agent: AgentProcess
    private let blob: [UInt8]

    init() throws {
        agent = try AgentProcess()
        try agent.succeed("\(AgentKeyKind.rsa2048.making); coffer ssh-agent import key")
        blob = try #require(Base64.decode(try agent.succeed("cut -d' ' -f2 key.pub | tr -d '\\n'")))
    }

    private func string(_ text: String) -> [UInt8] { AgentProcess.string(text.utf8) }

    private func sign(flags: UInt8) -> [UInt8] {
        [13] + AgentProcess.string(blob) + string("message") + [0, 0, 0, flags]
    }

    @Test func `a signature of RSA is made with SHA-2 alone`() throws {
        for (flags, name) in [(2, "rsa-sha2-256"), (4, "rsa-sha2-512"), (6, "rsa-sha2-512")] as [(UInt8, String)] {
            let answer = try #require(try agent.ask(sign(flags: flags)))
            #expect(answer.first == 14)
            #expect(Array(answer.dropFirst(5)).starts(with: string(name)))
        }
        #expect(try agent.ask(sign(flags: 0)) == [5])
        #expect(agent.errors.contains("SHA-1"))
    }

    @Test func `a message that ends anywhere is refused`() throws {
        let add: [UInt8] =
            [25] + string("ssh-ed25519") + AgentProcess.string([UInt8](repeating: 1, count: 32))
            + AgentProcess.string([UInt8](repeating: 1, count: 64)) + string("c") + [1, 0, 0, 0, 9, 2]
        let bind: [UInt8] = [27] + string("session-bind@openssh.com") + string("a") + string("b") + string("c") + [0]
        for message in [sign(flags: 2), add, bind, [22] + string("phrase"), [18] + AgentProcess.string(blob)] {
            for count in 1..<message.count
            where message[0] != 25 || count != message.count - 1 && count != message.count - 6 {
                #expect(try agent.ask(Array(message.prefix(count))) == [5], "\(message[0]), \(count)")
            }
            #expect(try agent.ask(message + [0]) == [5], "\(message[0]) and a byte")
        }
        #expect(try agent.succeed("ssh-add -l | wc -l") == "1\n")
        #expect(agent.isRunning)
    }

    @Test func `an unknown message or extension is refused, and the connection goes on`() throws {
        for number in 0...255 where ![9, 11, 19].contains(number) {
            #expect(try agent.ask([UInt8(number)]) == [5], "\(number)")
        }
        #expect(try agent.ask([27] + string("nobody@nowhere") + [1, 2, 3]) == [5])
        let two = AgentProcess.string([200]) + AgentProcess.string([11])
        let answer = try #require(try agent.exchange(two))
        #expect(answer.first == 5)
        #expect(answer.dropFirst(5).first == 12)
    }

    @Test func `a length that no message has ends the connection, before memory is taken`() throws {
        for length in [[0, 0, 0, 0], [0, 4, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0, 0, 0]] as [[UInt8]] {
            #expect(try agent.exchange(length + [11]) == nil)
        }
        // The longest one is accepted, and so is one whose bytes come one by one.
        #expect(try agent.ask([11] + [UInt8](repeating: 0, count: (256 << 10) - 1)) == [5])
        let socket = try UnixSocket.connect(to: agent.socketPath)
        for byte in AgentProcess.string([11]) { try socket.write(all: [byte].span.bytes) }
        var piece = [UInt8](repeating: 0, count: 5)
        #expect(recv(socket.number, &piece, 5, Int32(MSG_WAITALL)) == 5)
        #expect(piece[4] == 12)
    }

    @Test func `many silent connections delay nobody for long`() throws {
        var silent: [OwnedDescriptorBox] = []
        for _ in 0..<20 { silent.append(OwnedDescriptorBox(try UnixSocket.connect(to: agent.socketPath))) }
        #expect(try agent.ask([11])?.first == 12)
        #expect(silent.count == 20)
    }

    @Test(arguments: ["", "half", "unread"])
    func `connections that say nothing, half a message or read nothing exclude nobody`(kind: String) throws {
        var silent: [OwnedDescriptorBox] = []
        for _ in 0..<(2 * Limits.agentConnections) {
            let socket = try UnixSocket.connect(to: agent.socketPath)
            if kind == "half" { try socket.write(all: [UInt8]([0, 0, 0]).span.bytes) }
            if kind == "unread" { try socket.write(all: AgentProcess.string([11]).span.bytes) }
            silent.append(OwnedDescriptorBox(socket))
        }
        for _ in 0..<3 { #expect(try agent.ask([11])?.first == 12) }
        #expect(silent.count == 2 * Limits.agentConnections)
    }

    private final class OwnedDescriptorBox {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    @Test func `query names the extensions`() throws {
        let answer = try agent.ask([27] + string("query"))
        #expect(answer == [29] + string("query") + string("query") + string("session-bind@openssh.com"))
    }

    @Test func `a binding is recorded only if the host has signed the session`() throws {
        // ssh-keygen signs nothing without a namespace of its own, so OpenSSL is the host.
        try agent.succeed(
            "openssl genpkey -algorithm ED25519 -out h; printf session >session; openssl pkeyutl -sign -inkey h -rawin -in session -out signature"
        )
        try agent.succeed("openssl pkey -in h -pubout -outform DER | tail -c 32 >public")
        func file(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: agent.daemon.directory.appending(name))))
        }
        let host = string("ssh-ed25519") + AgentProcess.string(try file("public"))
        func bind(_ session: String, _ isForwarding: UInt8 = 0) throws -> [UInt8] {
            let signature = string("ssh-ed25519") + AgentProcess.string(try file("signature"))
            return [27] + string("session-bind@openssh.com") + AgentProcess.string(host) + string(session)
                + AgentProcess.string(signature) + [isForwarding]
        }
        #expect(try agent.ask(bind("session")) == [6])
        #expect(try agent.ask(bind("Session")) == [5])
        // A session is bound once, and what was bound for a login is not bound again.
        let twice = AgentProcess.string(try bind("session", 1)) + AgentProcess.string(try bind("session", 1))
        #expect(try agent.exchange(twice) == [6, 0, 0, 0, 1, 5])
    }
}
