package import CofferCore
package import CofferFiles
package import CofferKeychain
package import CofferSystem
internal import CofferWire

/// The client of a connection.
///
/// It is identified once, at accept, and handlers look up nothing.
package final class Caller {
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
    package let handles: OpenHandles
    /// The events that the connection has subscribed to.
    package let subscription = EventSubscription()
    /// What the connection has chosen.
    package let choice = ConnectionChoice()

    /// Whose changes its own are, so that it need not be notified of them: its process, or the number of its mount, below
    /// zero; `nil` if it is unknown.
    package let origin: Int32?

    /// - Parameters:
    ///   - identity: Who it is.
    ///   - rights: What it may do.
    ///   - tenant: The number of its tenant.
    ///   - program: Its program, if its rights depend on that.
    ///   - mount: The number of the mount whose programs it stands for, from 1 on; `nil` for a client of the socket.
    package init(
        _ identity: ClientIdentity,
        _ rights: AccessRights,
        of tenant: Int = 0,
        program: HeldProgram? = nil,
        mount: Int32? = nil
    ) {
        self.identity = identity
        origin = mount.map { -$0 } ?? identity.processID
        handles = OpenHandles(limit: mount == nil ? Limits.handles : Limits.handlesOfMount)
        recorded = identity.recorded
        self.rights = rights
        self.program = program
        self.tenant = tenant
    }

    /// The access groups of requests that name none: those that the caller holds, or the one that it has chosen; the
    /// first is the default.
    package var groups: [String] { choice.group.map { [$0] } ?? rights.groups }

    /// The group that a request is about.
    ///
    /// - Parameter named: The group that the request names, if any.
    /// - Throws: `missingEntitlement` if the caller may not name the group; `param` if no group has such a name.
    package func group(_ named: String?) throws(CofferError) -> String {
        if named == AccessGroup.ownProgram { return try ownProgramGroup() }
        guard let group = named.map(own) ?? groups.first else {
            throw CofferError(.missingEntitlement, "you hold no access group")
        }
        guard rights.reach.contains(group) else {
            throw CofferError(
                .missingEntitlement,
                "you don't hold the access group \(quotedForDisplay(group))",
                hint: "you hold " + rights.groups.map { quotedForDisplay($0) }.joined(separator: ", ")
            )
        }
        if named != nil { try AccessGroup.check(group) }
        return group
    }

    /// The group that a name stands for: ``AccessGroup/ownUser`` is that of the caller's user.
    package func own(_ named: String) -> String { named == AccessGroup.ownUser ? userGroup : named }

    /// The group of the caller's user, out of which it may share.
    package var userGroup: String { AccessGroup.user(identity.userID) }

    /// The group of the program that the caller runs, or of that on whose behalf it acts; `nil` if there is none.
    package var programGroup: String? { choice.served.map(\.programGroup) ?? rights.programGroup }

    /// The group of the caller's program; a service and what an entitlement names have one only if that says so, and
    /// otherwise the first group stands for it.
    ///
    /// A client that acts on behalf of a process has that of the process' program, as far as it may name one.
    private func ownProgramGroup() throws(CofferError) -> String {
        if let served = choice.served {
            guard let group = programGroup, rights.programGroup != nil || rights.reach.contains(group) else {
                throw CofferError(
                    .missingEntitlement,
                    "you can't use the access group 'program:' \(served.words)",
                    hint: "'program:' has to be among your groups, and the daemon has to know the path of the program"
                )
            }
            return group
        }
        if let group = rights.programGroup { return group }
        guard rights.reach == .all else { return try group(nil) }
        throw CofferError(
            .missingEntitlement,
            "the daemon does not know the path of your program, which would name its access group",
            hint: "start the program again if it was replaced since it was started, or name a group"
        )
    }

    /// How the owner gives a service what is not in the service's own group; `nil` for all other clients.
    private var wayIn: String? {
        let client: String
        switch identity.service {
        case .unit(let name): client = "unit \(name)"
        case .userUnit(let name): client = "user-unit \(name)"
        default: return nil
        }
        return "for an item of the owner's, the owner runs 'coffer allow \(client) read --item NAME'"
    }

    /// Adds to the hint in which groups nothing was found, unless that is the owner's group; for a service, what lets it
    /// in.
    ///
    /// - Parameter named: The group that the request named, if any.
    package func explained(_ error: CofferError, in named: String?) -> CofferError {
        guard error.code == .itemNotFound, !groups.isEmpty, (named.map { [$0] } ?? groups) != [AccessGroup.owners]
        else { return error }
        let place =
            named.map { "it was looked for in the group \(quotedForDisplay($0))" }
            ?? "you see " + groups.map { quotedForDisplay($0) }.joined(separator: ", ") + " only"
            + (groups.count == 1 ? "" : ", and the first of them if you name none")
        let parts = [error.hint, place, named == nil ? wayIn : nil]
        var explained = error
        explained.hint = parts.compactMap(\.self).joined(separator: "; ")
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
    /// The groups whose items it is about.
    package var groups: AccessGroups = []
}

/// What a connection has chosen for all of its requests.
package final class ConnectionChoice {
    /// The group of the requests that name none; `nil` for the groups that the client holds.
    package var group: String?
    /// Whether changes of the file store are answered before they are on the disk.
    package var defersSyncs = false
    /// The process on whose behalf the client makes them; `nil` for its own.
    package var served: ServedProcess?
}
