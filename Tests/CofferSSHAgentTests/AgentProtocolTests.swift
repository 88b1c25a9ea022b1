import CofferSecretFormats
import CofferCore
import CofferCrypto
import CofferMemory
import CofferSSHAgent
import CofferTestSupport
import Testing

/// The messages of the agent protocol, as bytes.
@Suite struct AgentProtocolTests {
    /// A host, with the pair that signs its key exchanges.
    private final class Host {
        let key: SigningKey
        let blob: [UInt8]

        init(_ number: UInt8) throws {
            guard let key = try SigningKey(seed: try SecretBytes([UInt8](repeating: number, count: 32))) else {
                throw CofferError(.internal, "a seed has 32 bytes")
            }
            var writer = SSHWriter()
            writer.string("ssh-ed25519")
            writer.string(key.publicKey)
            self.key = key
            blob = writer.bytes
        }

        func signature(of session: [UInt8]) -> [UInt8] {
            var writer = SSHWriter()
            writer.string("ssh-ed25519")
            writer.string(key.signature(of: session.span.bytes))
            return writer.bytes
        }

        func binding(_ session: [UInt8], isForwarding: Bool, signature: [UInt8]? = nil) throws -> AgentBinding {
            var writer = SSHWriter()
            writer.string(blob)
            writer.string(session)
            writer.string(signature ?? self.signature(of: session))
            let bytes = writer.bytes + [isForwarding ? 1 : 0]
            var fields = KeyCursor(0..<bytes.count)
            return try AgentBinding(&fields, in: bytes.span.bytes)
        }
    }

    private func constraints(_ bytes: [UInt8]) throws -> AgentConstraints {
        var fields = KeyCursor(0..<bytes.count)
        return try AgentConstraints(&fields, in: bytes.span.bytes)
    }

    /// One end of a hop.
    private func end(_ user: String, _ host: String, _ keys: [[UInt8]]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(user)
        writer.string(host)
        writer.string("")
        var bytes = writer.bytes
        for key in keys {
            var writer = SSHWriter()
            writer.string(key)
            bytes += writer.bytes + [0]
        }
        return bytes
    }

    private func hop(_ from: [UInt8], _ to: [UInt8], extensions: String = "") -> [UInt8] {
        var inner = SSHWriter()
        inner.string(from)
        inner.string(to)
        inner.string(extensions)
        var outer = SSHWriter()
        outer.string(inner.bytes)
        return outer.bytes
    }

    // MARK: Constraints

    @Test func `a lifetime and a confirmation are parsed in either order`() throws {
        let lifetime: [UInt8] = [1, 0, 0, 14, 16]
        for bytes in [lifetime + [2], [2] + lifetime] {
            let constraints = try constraints(bytes)
            #expect(constraints.lifetime == 3600)
            #expect(constraints.isConfirmed)
        }
        #expect(try constraints([]).lifetime == nil)
    }

    @Test(arguments: [[3] as [UInt8], [2, 9], [255, 0, 0, 0, 1, 120, 0, 0, 0, 0]])
    func `a key with a constraint that can't be kept is refused`(bytes: [UInt8]) {
        let error = #expect(throws: CofferError.self) { try constraints(bytes) }
        #expect(error?.code == .unimplemented)
    }

    @Test func `a message that ends inside of a constraint is refused`() {
        for count in 1..<5 {
            #expect(throws: CofferError.self) { try constraints(Array([1, 0, 0, 14, 16].prefix(count))) }
        }
    }

    // MARK: Destinations

    @Test func `a key for one host is used there by the user that is named, and nowhere else`() throws {
        let (host, other) = (try Host(1), try Host(2))
        let destinations = try AgentDestinations(hop(end("", "", []), end("git*", "host", [host.blob])))
        #expect(destinations.allow([], user: "anyone"), "on this machine itself")
        let login = [try host.binding([1], isForwarding: false)]
        #expect(destinations.allow(login, user: "git"))
        #expect(destinations.allow(login, user: "github"))
        #expect(!destinations.allow(login, user: "root"))
        #expect(!destinations.allow([try other.binding([1], isForwarding: false)], user: "git"))
    }

    @Test func `beyond a host a key is used only by a hop from that host`() throws {
        let (near, far) = (try Host(1), try Host(2))
        let direct = hop(end("", "", []), end("", "near", [near.blob]))
        let path = [try near.binding([1], isForwarding: true), try far.binding([2], isForwarding: false)]
        #expect(!(try AgentDestinations(direct).allow(path, user: "a")))
        let both = try AgentDestinations(direct + hop(end("", "near", [near.blob]), end("", "far", [far.blob])))
        #expect(both.allow(path, user: "a"))
        #expect(!both.allow([path[1]], user: "a"), "the far host is not reached without the near one")
        #expect(!both.allow(path.reversed(), user: "a"))
    }

    @Test func `a connection that forwards signs no login`() throws {
        let host = try Host(1)
        let destinations = try AgentDestinations(hop(end("", "", []), end("", "host", [host.blob])))
        let forwarding = [try host.binding([1], isForwarding: true)]
        #expect(!destinations.allow(forwarding, user: "a"))
        #expect(!destinations.allow(forwarding, user: nil), "and does not see a key that ends at the host")
    }

    @Test func `destinations without a hop, or with what can't be kept, are refused`() throws {
        let host = try Host(1)
        let (here, there) = (end("", "", []), end("", "host", [host.blob]))
        let refused: [([UInt8], ErrorCode)] = [
            ([], .param), (hop(here, here), .param), (hop(there, there) + [0], .param),
            (hop(here, there, extensions: "x"), .unimplemented),
            (hop(here, end("[ab]", "host", [host.blob])), .unimplemented),
            (hop(end("user", "", []), there), .param),
        ]
        for (bytes, code) in refused {
            let error = #expect(throws: CofferError.self) { try AgentDestinations(bytes) }
            #expect(error?.code == code, "\(bytes)")
        }
    }

    // MARK: Bindings

    @Test func `a binding whose signature is that of another session or host is refused`() throws {
        let (host, other) = (try Host(1), try Host(2))
        _ = try host.binding([1, 2, 3], isForwarding: false)
        for signature in [host.signature(of: [1, 2]), other.signature(of: [1, 2, 3])] {
            let error = #expect(throws: CofferError.self) {
                try host.binding([1, 2, 3], isForwarding: false, signature: signature)
            }
            #expect(error?.code == .authFailed)
        }
    }

    @Test func `a connection is bound once to a session, and not after it was bound for a login`() throws {
        let host = try Host(1)
        let forwarding = try host.binding([1], isForwarding: true)
        try host.binding([2], isForwarding: false).check(against: [forwarding])
        #expect(throws: CofferError.self) { try forwarding.check(against: [forwarding]) }
        let login = try host.binding([3], isForwarding: false)
        #expect(throws: CofferError.self) { try forwarding.check(against: [login]) }
        let many = try (0..<16).map { try host.binding([UInt8($0)], isForwarding: true) }
        #expect(throws: CofferError.self) { try host.binding([99], isForwarding: false).check(against: many) }
    }
}
