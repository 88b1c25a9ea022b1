/// The address from which a service manager connects when it fetches a credential from a socket.
///
/// It is `/unit/UNIT/ID` after a NUL and a random number.
package struct CredentialAddress: Hashable, Sendable {
    /// The unit that is being started.
    package let unit: String
    /// The name that the unit has for the credential: a file name.
    package let id: String

    package init(unit: String, id: String) {
        self.unit = unit
        self.id = id
    }

    /// Parses an address.
    ///
    /// - Parameter bytes: The address, as the kernel returns it.
    /// - Returns: `nil` if it is not one of a service manager.
    package init?(_ bytes: [UInt8]) {
        guard bytes.first == 0, let text = String(validating: bytes.dropFirst(), as: UTF8.self) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard parts.count == 4, parts[1] == "unit", !parts[2].isEmpty, !parts[3].isEmpty else { return nil }
        unit = parts[2]
        id = parts[3]
    }

    /// The name of the item: a file name contains no slash, so `--` stands for one.
    package var itemName: String {
        var name: [UInt8] = []
        for byte in id.utf8 {
            let isSecond = byte == UInt8(ascii: "-") && name.last == byte
            if isSecond { name[name.count - 1] = UInt8(ascii: "/") } else { name.append(byte) }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The name that a unit has for an item, as ``itemName`` reads it.
    package static func id(of name: ItemName) -> String { name.path.replacingSlashes }

    /// Why a unit can't load an item as a credential, whatever its rights are; `nil` if it can.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - byteCount: Its size; `nil` if it is unknown.
    ///   - unit: The full name of the unit.
    package static func obstacle(_ name: ItemName, _ byteCount: Int64?, in unit: String) -> String? {
        let id = id(of: name)
        guard CredentialAddress(unit: unit, id: id).itemName.hasSameBytes(as: name.path) else {
            return "its name has hyphens that would stand for a slash, as '--' does"
        }
        return obstacle(id, byteCount, in: unit)
    }

    /// Why a unit can't load a credential of a name.
    package static func obstacle(_ id: String, _ byteCount: Int64? = nil, in unit: String) -> String? {
        // Those that the names of file descriptors may have, too.
        let isPlain = id.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "\\")
        }
        if !isPlain { return "the name of a credential takes visible ASCII characters only, except ':' and '\\'" }
        let nameBytes = id.utf8.count + unit.utf8.count
        if nameBytes > Limits.credentialNameBytes {
            return
                "the names of unit and credential are too long: \(nameBytes) bytes (limit \(Limits.credentialNameBytes))"
        }
        let limit = CredentialAddress(unit: unit, id: id).contentBytes
        if let byteCount, byteCount > limit { return "it is too large: \(byteCount) bytes (limit \(limit))" }
        return nil
    }

    /// The unit whose own group a group is; `nil` for other groups.
    package static func unit(ofGroup group: String?) -> String? {
        switch group.flatMap({ try? ClientPattern($0) }) {
        case .unit(let name), .userUnit(let name): name
        default: nil
        }
    }

    /// The maximum size of its content: the service manager counts the name of a credential as well.
    package var contentBytes: Int { Limits.credentialBytes - id.utf8.count }
}

extension ClientIdentity {
    /// Whether the client is the service manager that starts a unit.
    ///
    /// The process that fetches a credential is already in the unit's control group, and runs as the manager's user,
    /// before anything of the unit runs.
    ///
    /// - Parameter unit: The unit in the address.
    package func starts(_ unit: String) -> Bool {
        // The unit of a user's manager is reported only for the owner's processes.
        if let userUnit { return userUnit.utf8.elementsEqual(unit.utf8) }
        return userID == 0 && self.unit?.utf8.elementsEqual(unit.utf8) ?? false
    }
}

extension String {
    /// The text with `--` for each slash.
    fileprivate var replacingSlashes: String {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
            .joined(separator: "--")
    }
}
