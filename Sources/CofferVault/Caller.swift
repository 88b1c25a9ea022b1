package import CofferCore
package import CofferFiles
package import CofferKeychain
package import CofferSystem
internal import CofferWire

/// The client of a connection.
///
/// It is identified once, at accept, and handlers look up nothing.
package struct Caller {
    package let identity: ClientIdentity
    /// Its identity in the form that the audit keeps.
    package let recorded: ClientIdentity
    package let rights: AccessRights
    /// The program that the process ran at accept, if its rights depend on that.
    package let program: HeldProgram?
    /// The number of its tenant; 0 for a client that is only asked about.
    package let tenant: Int
    /// The factors that this connection has presented.
    package let context = AuthenticationContext()
    /// The files that the connection has open.
    package let handles = OpenHandles()
    /// The events that the connection has subscribed to.
    package let subscription = EventSubscription()

    package init(_ identity: ClientIdentity, _ rights: AccessRights, of tenant: Int = 0, program: HeldProgram? = nil) {
        self.identity = identity
        recorded = identity.recorded
        self.rights = rights
        self.program = program
        self.tenant = tenant
    }

    /// The access groups that the caller holds; the first is the default.
    package var groups: [String] { rights.groups }

    /// Whether the caller holds an access group; names are compared as bytes.
    package func holds(_ group: String) -> Bool { rights.hold(group) }

    /// The group that a request is about.
    ///
    /// - Parameter named: The group that the request names, if any.
    /// - Throws: `missingEntitlement` if the caller does not hold the group.
    package func group(_ named: String?) throws(CofferError) -> String {
        guard let group = named ?? groups.first else {
            throw CofferError(.missingEntitlement, "you hold no access group")
        }
        guard holds(group) else {
            throw CofferError(
                .missingEntitlement,
                "you don't hold the access group \(quotedForDisplay(group))",
                hint: "you hold " + groups.map { quotedForDisplay($0) }.joined(separator: ", ")
            )
        }
        return group
    }

    /// Adds the caller's groups to the hint if nothing was found, unless the caller has the owner's group only.
    package func explained(_ error: CofferError) -> CofferError {
        guard error.code == .itemNotFound, !groups.isEmpty, groups != [AccessRights.ownersGroup] else { return error }
        let place = "you see " + groups.map { quotedForDisplay($0) }.joined(separator: ", ") + " only"
        var explained = error
        explained.hint = error.hint.map { "\($0); \(place)" } ?? place
        return explained
    }
}

/// A process, and the program that it ran when it connected.
package final class HeldProgram {
    private let process: HeldProcess
    private let file: ExecutableFile

    /// Holds a process; `nil` if its program is unknown.
    package init?(_ process: consuming HeldProcess, _ file: ExecutableFile?) {
        guard let file else { return nil }
        self.process = process
        self.file = file
    }

    /// Why rights that depend on the program no longer apply; `nil` if they do.
    package var refusal: CofferError? {
        if process.executableFile != file { return .programIsAnother }
        return (try? process.isRunning) == true ? nil : .callerIsGone
    }
}

extension CofferError {
    /// The answer to a process that ended before it could be identified.
    package static let callerIsGone = CofferError(
        .missingEntitlement,
        "the process that connected is gone, so it can't be identified",
        hint: "connect from a process that goes on"
    )

    fileprivate static let programIsAnother = CofferError(
        .missingEntitlement,
        "the process that has connected runs another program now, and what it might do was for the one before",
        hint: "connect again"
    )
}

/// The events that a connection has subscribed to.
package final class EventSubscription {
    /// `nil` for none.
    package var selection: EventSelection?
    /// When the connection has last read the audit, in milliseconds since 1970.
    package var lastAuditReading: Int64?
}
