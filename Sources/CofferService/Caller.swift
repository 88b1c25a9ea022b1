internal import CofferCore
internal import CofferKeychain
internal import CofferSystem

/// Who asks, decided once at accept and carried along: handlers look nothing up.
struct Caller {
    /// Who it is.
    let identity: ClientIdentity
    /// Who it is, as the audit keeps it.
    let recorded: ClientIdentity
    /// What it may do.
    let rights: AccessRights
    /// The program that it runs, where what it may do rests on that.
    let program: HeldProgram?
    /// The number of its tenant; 0 for one that is only asked about.
    let tenant: Int
    /// What was shown on this connection of the person behind it.
    let context = AuthenticationContext()
    /// The files that it has open.
    let handles = FileHandles()
    /// The events that it wants.
    let subscription = EventSubscription()

    init(_ identity: ClientIdentity, _ rights: AccessRights, of tenant: Int = 0, program: HeldProgram? = nil) {
        self.identity = identity
        recorded = identity.recorded
        self.rights = rights
        self.program = program
        self.tenant = tenant
    }

    /// The access groups that the caller holds; the first is the default.
    var groups: [String] { rights.groups }

    /// Whether the caller holds an access group: names are compared as bytes.
    func holds(_ group: String) -> Bool { rights.hold(group) }

    /// The group that a request means.
    ///
    /// - Parameter named: What it names, if anything.
    /// - Throws: `missingEntitlement` where the caller does not hold the group.
    func group(_ named: String?) throws(CofferError) -> String {
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

    /// Tells a caller who looks elsewhere than the vault's owner where nothing was found.
    func explained(_ error: CofferError) -> CofferError {
        guard error.code == .itemNotFound, !groups.isEmpty, groups != [AccessRights.ownersGroup] else { return error }
        let place = "you see " + groups.map { quotedForDisplay($0) }.joined(separator: ", ") + " only"
        return CofferError(
            code: error.code,
            message: error.message,
            hint: error.hint.map { "\($0); \(place)" } ?? place,
            retry: error.retry,
            cocoaCode: error.cocoaCode,
            need: error.need
        )
    }
}

/// A process, and the program that it ran when it connected.
final class HeldProgram {
    private let process: HeldProcess
    private let file: ExecutableFile

    /// Holds a process; `nil` where it is not known what it runs.
    init?(_ process: consuming HeldProcess, _ file: ExecutableFile?) {
        guard let file else { return nil }
        self.process = process
        self.file = file
    }

    /// Why what rests on the program is not so any more; `nil` where it is.
    var refusal: CofferError? {
        if process.executableFile != file { return .programIsAnother }
        return (try? process.isRunning) == true ? nil : .callerIsGone
    }
}

extension CofferError {
    /// The answer to a process that can't be looked at.
    static let callerIsGone = CofferError(
        .missingEntitlement,
        "the process that has connected is gone, so nobody can tell what it was",
        hint: "connect from a process that goes on"
    )

    fileprivate static let programIsAnother = CofferError(
        .missingEntitlement,
        "the process that has connected runs another program now, and what it might do was for the one before",
        hint: "connect again"
    )
}
