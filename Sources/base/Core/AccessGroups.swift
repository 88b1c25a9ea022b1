/// A set of access groups, whose names are compared as bytes.
package enum AccessGroups: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// These groups.
    case only([String])
    /// Every group that there is.
    case all

    package init(arrayLiteral groups: String...) { self = .only(groups) }

    package func contains(_ group: String) -> Bool {
        switch self {
        case .only(let groups): groups.contains { $0.hasSameBytes(as: group) }
        case .all: true
        }
    }

    /// The group, if the set has exactly one.
    package var single: String? {
        if case .only(let groups) = self, groups.count == 1 { groups[0] } else { nil }
    }
}

/// The names of access groups.
package enum AccessGroup {
    /// The group of the vault's owner.
    package static let owners = "default"
    /// How each client names the group of its own program, and how the name of such a group begins.
    package static let ownProgram = "program:"
    /// How each client names the group of its own user, and how the name of such a group begins.
    package static let ownUser = "user:"
    /// How an entitlement lets a client name every group.
    package static let every = "*"

    /// The group of a program: bytes that are not valid in the name of a group are escaped as in the names of units.
    ///
    /// - Parameter path: The path of the program; `nil` if it is unknown.
    /// - Returns: `nil` also if the name would be longer than ``Limits/groupBytes``.
    package static func program(at path: String?) -> String? {
        guard let path else { return nil }
        var name = ownProgram
        for byte in path.utf8 {
            let isPlain = byte == UInt8(ascii: "/") || byte.isUnitCharacter && byte != UInt8(ascii: "\\")
            name += isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return name.utf8.count <= Limits.groupBytes ? name : nil
    }

    /// The group of a user.
    package static func user(_ number: UInt32) -> String { "\(ownUser)\(number)" }

    /// The user whose group it is; `nil` for other groups.
    package static func userID(of group: String) -> UInt32? {
        group.hasPrefix(ownUser) ? UInt32(group.dropFirst(ownUser.count)) : nil
    }

    /// Checks the name of a group, which may be that of a program's.
    ///
    /// - Throws: `param` if no group can have that name.
    package static func check(_ name: String) throws(CofferError) {
        let isProgram = name.utf8.starts(with: (ownProgram + "/").utf8)
        let isWellFormed = name.utf8.allSatisfy { $0.isUnitCharacter || isProgram && $0 == UInt8(ascii: "/") }
        guard isWellFormed, (1...Limits.groupBytes).contains(name.utf8.count) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(name)) is not an access group",
                hint: "a group has at most \(Limits.groupBytes) bytes, of the characters that are valid in unit names"
            )
        }
    }
}

extension UInt8 {
    /// Whether systemd allows the character in the names of units, so that every unit's own group can be written.
    package var isUnitCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: #":-_.\@"#.utf8.contains(self)
        }
    }
}
