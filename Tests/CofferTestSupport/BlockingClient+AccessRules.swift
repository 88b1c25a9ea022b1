package import CofferClient
package import CofferCore
package import CofferWire

extension BlockingClient {
    package func rules(after: Int64? = nil) throws(CofferError) -> AccessRulePage {
        try call(AccessListParameters(after: after)).value
    }

    @discardableResult
    package func allow(
        _ client: ClientPattern,
        _ verbs: Set<Verb>,
        _ pattern: String,
        in group: String? = nil
    ) throws(CofferError) -> Int64 {
        try call(AccessAllowParameters(client: client, verbs: verbs, pattern: try NamePattern(pattern), group: group))
            .value.number
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
