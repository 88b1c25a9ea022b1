package import CofferClient

/// Where a credential is for, as the attributes of an internet password have it.
///
/// The parts together are the address again, byte for byte, so that two addresses are never one item.
package struct ServerAddress {
    /// The name before `://`; `nil` if there is none.
    package var `protocol`: String?
    /// The name or the number of the host; with a user before an `@`, and with a port that is no number from 1 on.
    package let server: String
    /// The port.
    package let port: Int64?
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
    package var url: String { (`protocol`.map { "\($0)://" } ?? "") + server + (port.map { ":\($0)" } ?? "") + path }

    /// The host without a user before it.
    package var serverWithoutUser: String { server.split(separator: "@").last.map(String.init) ?? server }

    /// The attributes, of which a query finds items that have none by an empty one.
    package var attributes: [KeychainAttribute: AttributeValue] {
        [
            .server: .text(server), .port: .integer(port ?? 0), .protocol: .text(`protocol` ?? ""),
            .path: .text(path),
        ]
    }
}

extension [KeychainAttribute: AttributeValue] {
    /// Without those that are empty or 0, which are the same as none.
    package var withoutEmptyOnes: Self { filter { $0.value != .text("") && $0.value != .integer(0) } }
}
