package import CofferClient

/// Where a credential is for, as the attributes of an internet password have it.
///
/// The parts together are the address again, byte for byte, so that two addresses are never one item.
package struct ServerAddress {
    /// The name before `://`; `nil` if there is none.
    package var `protocol`: String?
    /// The name or the number of the host; with a user before an `@`, and with a port that is no number from 1 on.
    package private(set) var server: String
    /// The port.
    package private(set) var port: Int64?
    /// What follows the host, with its slash.
    package var path = ""

    /// Reads a host, which a port may follow.
    init(host: String) {
        let parts = host.utf8.split(separator: .colon, omittingEmptySubsequences: false)
        // As many digits as a port has, and no zero before them.
        guard parts.count > 1, let digits = parts.last, let number = UInt16(String(Substring(digits))), number > 0,
            String(number).utf8.elementsEqual(digits)
        else {
            server = host
            port = nil
            return
        }
        port = Int64(number)
        server = String(Substring(host.utf8.dropLast(digits.count + 1)))
    }

    /// Reads an address such as `https://example.com:8443/path`, of which only the host is needed.
    package init(url: String) {
        let mark = url.firstRange(of: "://").flatMap { $0.lowerBound > url.startIndex ? $0 : nil }
        let rest = mark.map { url[$0.upperBound...] } ?? url[...]
        let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        self.init(host: String(rest[..<end]))
        `protocol` = mark.map { String(url[..<$0.lowerBound]) }
        path = String(rest[end...])
    }

    /// Reads the protocol, the host and the port of an address, in the spelling of ``normalized``.
    package init(origin url: String) {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let end = url[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        self = ServerAddress(url: String(url[..<end])).withoutUser.normalized
    }

    /// The address that an item is for.
    package init(_ attributes: [KeychainAttribute: AttributeValue]) {
        func text(_ attribute: KeychainAttribute) -> String {
            if case .text(let text) = attributes[attribute] { text } else { "" }
        }
        server = text(.server)
        path = text(.path)
        `protocol` = text(.protocol).isEmpty ? nil : text(.protocol)
        if case .integer(let number) = attributes[.port], number > 0 { port = number } else { port = nil }
    }

    /// The address as it was read.
    package var url: String { (`protocol`.map { "\($0)://" } ?? "") + host + path }

    /// The host with its port.
    package var host: String { server + (port.map { ":\($0)" } ?? "") }

    /// The address without a user before the host.
    package var withoutUser: ServerAddress {
        var address = self
        address.server = server.split(separator: "@").last.map(String.init) ?? server
        return address
    }

    /// The address with a slash before its path, which git leaves out.
    package var rooted: ServerAddress {
        var address = self
        if !path.isEmpty && !path.hasPrefix("/") { address.path = "/\(path)" }
        return address
    }

    // MARK: Spellings

    /// The address in the spelling that all that mean the same have: in lower case up to the path, without the port that
    /// the protocol implies, and without a path that is a slash alone.
    package var normalized: ServerAddress {
        var address = self
        address.protocol = `protocol`.map(NetworkAddress.lowercased)
        let user = server.utf8.lastIndex(of: UInt8(ascii: "@")).map { String(server[...$0]) } ?? ""
        address.server = user + NetworkAddress.lowercased(String(Substring(server.utf8.dropFirst(user.utf8.count))))
        if port == impliedPort { address.port = nil }
        if path == "/" { address.path = "" }
        return address
    }

    /// The port that the protocol implies, which is that of `https` if none is named.
    private var impliedPort: Int64? { NetworkAddress.defaultPort(of: `protocol` ?? "https") }

    /// Whether both mean the same.
    package func means(_ other: ServerAddress) -> Bool { normalized.url.hasSameBytes(as: other.normalized.url) }

    /// The address as it is, and in the spellings in which others most likely have it.
    package var spellings: [ServerAddress] {
        var short = normalized
        short.path = path
        var long = short
        long.port = short.port ?? impliedPort
        var spellings = [self]
        for other in [short, long] where !spellings.contains(where: { $0.url.hasSameBytes(as: other.url) }) {
            spellings.append(other)
        }
        return spellings
    }

    /// The attributes, of which a query finds items that have none by an empty one.
    package var attributes: [KeychainAttribute: AttributeValue] {
        [
            .server: .text(server), .port: .integer(port ?? 0), .protocol: .text(`protocol` ?? ""),
            .path: .text(path),
        ]
    }
}

extension [KeychainAttribute: AttributeValue] {
    /// The user name or the address of an internet password, which a login has as the field `username` or `url`.
    package func loginField(_ name: String) -> String? {
        guard case .text(let server)? = self[.server], !server.isEmpty else { return nil }
        if name == "url" { return ServerAddress(self).rooted.url }
        guard name == "username", case .text(let account)? = self[.account] else { return nil }
        return account
    }

    /// Without those that are empty or 0, which are the same as none.
    package var withoutEmptyOnes: Self { filter { $0.value != .text("") && $0.value != .integer(0) } }
}
