package import CofferClient
package import CofferCore
internal import CofferMemory
package import CofferWire

extension BlockingClient {
    package func rules(after: Int64? = nil) throws(CofferError) -> AccessRulePage {
        try call(AccessListParameters(after: after)).value
    }

    /// Adds a rule; for a pattern for others, the passcode of the tests is presented.
    @discardableResult
    package func allow(
        _ client: ClientPattern,
        _ verbs: Set<Verb>,
        _ pattern: String,
        in group: String? = nil
    ) throws(CofferError) -> Int64 {
        let params = AccessAllowParameters(
            client: client,
            verbs: verbs,
            pattern: try NamePattern(pattern),
            group: group
        )
        do throws(CofferError) {
            return try call(params).value.number
        } catch {
            guard error.code == .interactionRequired else { throw error }
            try presentPasscode()
            return try call(params).value.number
        }
    }

    /// Presents the passcode of the tests for the next request.
    package func presentPasscode() throws(CofferError) {
        let passcode: SecretBytes?
        do { passcode = try SecretBytes(DaemonProcess.passcode.utf8) } catch { throw .noSecretMemory }
        try call(ContextAuthenticateParameters(factor: .passcode), payload: passcode)
    }

    @discardableResult
    package func deny(
        _ client: ClientPattern,
        _ verbs: Set<Verb>,
        _ pattern: String,
        in group: String? = nil
    ) throws(CofferError) -> AccessRuleResult {
        try call(AccessDenyParameters(client: client, verbs: verbs, pattern: try NamePattern(pattern), group: group))
            .value
    }

    package func removeRule(_ number: Int64) throws(CofferError) { try call(AccessRemoveParameters(number: number)) }
}
