package import CofferCore
package import CofferSystem

/// The process on whose behalf a connection acts, as the client says who may serve others.
package final class ServedProcess {
    /// The access group of its program; `nil` if the program is not known.
    package let programGroup: String?
    /// Its program and its service, as part of a sentence: without characters that end such a part.
    package let words: String
    private let program: HeldProgram?

    package init(_ identity: ClientIdentity, _ process: consuming HeldProcess) {
        programGroup = AccessGroup.program(at: identity.executablePath)
        let parts = [programGroup ?? "a program that is not known", identity.service?.description]
        words = "for " + parts.compactMap(\.self).joined(separator: " of ")
        program = HeldProgram(process, identity.executableFile)
    }

    /// Why the connection can't act on its behalf any more; `nil` if it can.
    package var refusal: CofferError? { program?.refusal == nil ? nil : .servedIsGone }
}

extension CofferError {
    /// The answer to a client that acts on behalf of a process that has ended.
    package static let servedIsGone = CofferError(
        .missingEntitlement,
        "the process on whose behalf you act has ended, or runs another program now",
        hint: "connect again for another process"
    )
}
