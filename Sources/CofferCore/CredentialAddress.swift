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
