package import CofferSecretFormats
package import CofferCore
internal import CofferCrypto

/// What `ssh-add` demands of the use of a key.
package struct AgentConstraints {
    /// The seconds for which the key is kept (`-t`).
    package private(set) var lifetime: Int?
    /// Whether a person confirms each use (`-c`).
    package private(set) var isConfirmed = false

    /// The hosts for which the key may be used (`-h`).
    package private(set) var destinations: AgentDestinations?

    var isEmpty: Bool { lifetime == nil && !isConfirmed && destinations == nil }

    /// No constraints.
    init() {}

    /// Parses the constraints at the end of a message.
    ///
    /// - Throws: `unimplemented` for one that the agent could not keep: a key is added with all of them, or not at all.
    package init(_ fields: inout KeyCursor, in bytes: RawSpan) throws(CofferError) {
        while !fields.isAtEnd {
            let number = try fields.number(1, in: bytes)
            switch AgentMessage.Constraint(rawValue: UInt8(number)) {
            case .lifetime: lifetime = try fields.number(4, in: bytes)
            case .confirm: isConfirmed = true
            case .extension:
                let name = try fields.text(in: bytes)
                guard name == AgentDestinations.name, destinations == nil else {
                    throw .unknownConstraint(quotedForDisplay(name))
                }
                destinations = try AgentDestinations(bytes.copy(try fields.string(in: bytes)))
            case nil: throw .unknownConstraint("of the number \(number)")
            }
        }
    }
}

extension CofferError {
    fileprivate static func unknownConstraint(_ name: String) -> CofferError {
        CofferError(
            .unimplemented,
            "can't keep the constraint \(name), and so the key was not added",
            hint: "leave it out, or use the ssh-agent of OpenSSH for this key"
        )
    }
}
