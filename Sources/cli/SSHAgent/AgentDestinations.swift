internal import CofferSecretFormats
package import CofferCore
internal import CofferCrypto
internal import Glibc

/// The hosts for which a key may be used: `restrict-destination-v00@openssh.com`, which `ssh-add -h` sends.
package struct AgentDestinations {
    package static let name = "restrict-destination-v00@openssh.com"

    /// One end of a permitted hop.
    private struct End {
        let user: String
        let host: String
        let keys: [[UInt8]]

        init(_ fields: inout KeyCursor, in bytes: RawSpan) throws(CofferError) {
            var parts = KeyCursor(try fields.string(in: bytes))
            user = try parts.text(in: bytes)
            host = try parts.text(in: bytes)
            guard try parts.string(in: bytes).isEmpty else { throw .unknownDestination }
            var keys: [[UInt8]] = []
            while !parts.isAtEnd {
                keys.append(bytes.copy(try parts.string(in: bytes)))
                // Certificates of hosts are not verified here.
                guard try parts.number(1, in: bytes) == 0 else { throw .unknownDestination }
            }
            self.keys = keys
            // The patterns of OpenSSH have wildcards, and neither sets nor escapes.
            guard !user.contains(where: { "[\\".contains($0) }) else { throw .unknownDestination }
        }

        func admits(_ name: String?) -> Bool {
            guard let name, !user.isEmpty else { return true }
            return unsafe fnmatch(user, name, 0) == 0
        }
    }

    /// The encoded constraints.
    let bytes: [UInt8]
    private let hops: [(from: End, to: End)]

    /// Parses constraints.
    ///
    /// - Throws: `param` if they are malformed; `unimplemented` for what can't be kept.
    package init(_ encoded: [UInt8]) throws(CofferError) {
        bytes = encoded
        let span = unsafe encoded.span.bytes
        var fields = KeyCursor(0..<encoded.count)
        var hops: [(from: End, to: End)] = []
        while !fields.isAtEnd {
            var hop = KeyCursor(try fields.string(in: span))
            let from = try End(&hop, in: span)
            let to = try End(&hop, in: span)
            guard try hop.string(in: span).isEmpty else { throw .unknownDestination }
            try hop.finish()
            guard from.user.isEmpty, from.host.isEmpty == from.keys.isEmpty, !to.host.isEmpty, !to.keys.isEmpty else {
                throw .malformedKey
            }
            hops.append((from, to))
        }
        guard !hops.isEmpty else { throw .malformedKey }
        self.hops = hops
    }

    /// Whether the key may be used, or seen, at the end of a path of hosts.
    ///
    /// - Parameters:
    ///   - path: The bindings of the connection, the first hop first; empty for a connection of this machine.
    ///   - user: The user of the login that is to be signed; `nil` to see the key.
    package func allow(_ path: [AgentBinding], user: String?) -> Bool {
        guard let last = path.last else { return true }
        var from: [UInt8]?
        for (index, binding) in path.enumerated() {
            let isLast = index == path.count - 1
            // No login is signed for a hop that forwards, and what was bound for a login forwards nothing.
            if isLast ? binding.isForwarding && user != nil : !binding.isForwarding { return false }
            guard allowHop(from: from, to: binding.hostKey, isLast ? user : nil) else { return false }
            from = binding.hostKey
        }
        // A host to which the key logs in does not see it unless it may be used beyond.
        return !last.isForwarding || user != nil || allowHop(from: last.hostKey, to: nil, nil)
    }

    private func allowHop(from: [UInt8]?, to: [UInt8]?, _ user: String?) -> Bool {
        hops.contains { hop in
            let begins = from.map { hop.from.keys.contains($0) } ?? hop.from.host.isEmpty
            return begins && (to.map { hop.to.keys.contains($0) } ?? true) && hop.to.admits(user)
        }
    }
}

extension CofferError {
    fileprivate static let unknownDestination = CofferError(
        .unimplemented,
        "can't keep a destination constraint of this form, and so the key was not added",
        hint: "name hosts by their keys, not by certificates, and users without '[' and '\\'"
    )
}

/// What a client signs to log in: RFC 4252, section 7, or `publickey-hostbound-v00@openssh.com`.
package struct SSHLogin {
    private static let messageNumber = 50

    let session: [UInt8]
    let user: String
    private let hostKey: [UInt8]?

    /// Parses a request; `nil` if the message is none for this key or certificate.
    package init?(_ bytes: RawSpan, _ place: Range<Int>, by blob: [UInt8]) {
        do throws(CofferError) { try self.init(checking: bytes, place, by: blob) } catch { return nil }
    }

    private init(checking bytes: RawSpan, _ place: Range<Int>, by blob: [UInt8]) throws(CofferError) {
        var fields = KeyCursor(place)
        session = bytes.copy(try fields.string(in: bytes))
        guard try fields.number(1, in: bytes) == Self.messageNumber else { throw .malformedKey }
        user = try fields.text(in: bytes)
        guard try fields.text(in: bytes) == "ssh-connection" else { throw .malformedKey }
        let method = try fields.text(in: bytes)
        guard try fields.number(1, in: bytes) == 1 else { throw .malformedKey }
        _ = try fields.string(in: bytes)
        guard bytes.copy(try fields.string(in: bytes)) == blob else { throw .malformedKey }
        switch method {
        case "publickey": hostKey = nil
        case "publickey-hostbound-v00@openssh.com": hostKey = bytes.copy(try fields.string(in: bytes))
        default: throw .malformedKey
        }
        try fields.finish()
    }

    /// Whether it is a login to the host of the last binding, by a path that is allowed.
    func isAllowed(by destinations: AgentDestinations, _ path: [AgentBinding]) -> Bool {
        guard let last = path.last, last.session == session, destinations.allow(path, user: user) else { return false }
        // Only a client of this machine may leave the host out of what it signs.
        return hostKey.map { $0 == last.hostKey } ?? (path.count == 1)
    }
}
