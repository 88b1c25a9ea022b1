/// What a service manager says of a credential that it fetches from a socket: the address that it connects from.
///
/// It is `/unit/UNIT/ID` behind a NUL and a random number.
package struct CredentialAddress: Hashable, Sendable {
    /// The unit that is being started.
    package let unit: String
    /// What the unit calls the credential: a file's name.
    package let id: String

    /// Names a credential of a unit.
    ///
    /// - Parameters:
    ///   - unit: The unit.
    ///   - id: What it calls the credential.
    package init(unit: String, id: String) {
        self.unit = unit
        self.id = id
    }

    /// Reads an address.
    ///
    /// - Parameter bytes: The address, as the kernel has it.
    /// - Returns: `nil` where it is none of a service manager's.
    package init?(_ bytes: [UInt8]) {
        guard bytes.first == 0, let text = String(validating: bytes.dropFirst(), as: UTF8.self) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard parts.count == 4, parts[1] == "unit", !parts[2].isEmpty, !parts[3].isEmpty else { return nil }
        unit = parts[2]
        id = parts[3]
    }

    /// The name of the item that is meant: a file's name has no slash, so `--` stands for one.
    package var itemName: String {
        var name: [UInt8] = []
        for byte in id.utf8 {
            let isSecond = byte == UInt8(ascii: "-") && name.last == byte
            if isSecond { name[name.count - 1] = UInt8(ascii: "/") } else { name.append(byte) }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The most bytes that its content may have: the service manager counts the name of a credential, too.
    package var contentBytes: Int { Limits.credentialBytes - id.utf8.count }
}

extension ClientIdentity {
    /// Whether it is the service manager that starts a unit.
    ///
    /// The process that fetches a credential is in the unit's control group already, and has the manager's user, while nothing
    /// of the unit has run yet.
    ///
    /// - Parameter unit: The unit that it says it starts.
    package func starts(_ unit: String) -> Bool {
        // A unit of the owner's manager is told of the owner's processes only.
        if let userUnit { return userUnit.utf8.elementsEqual(unit.utf8) }
        return userID == 0 && self.unit?.utf8.elementsEqual(unit.utf8) ?? false
    }
}
