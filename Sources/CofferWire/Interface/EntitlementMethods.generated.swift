// packaging/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `entitlement.explain`.
///
/// Reports what a client may do, and which rule says so.
package struct EntitlementExplainParameters: MethodParameters {
    package typealias Result = AccessExplanation
    package static var method: Method { .entitlementExplain }
    /// Whose rights are explained.
    package let subject: AccessSubject
    /// The credential of a unit that is explained, by the name that the unit has for it.
    ///
    /// Absent means: none.
    package let credential: String?

    package init(_ subject: AccessSubject, credential: String? = nil) {
        self.subject = subject
        self.credential = credential
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        subject = try AccessSubject(reading: &reader)
        credential = try reader.optionalString("credential")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(subject.json)
        object.append("credential", credential)
        return object
    }
}

extension AccessExplanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            client: try reader.required("client", of: ClientIdentity.self),
            path: try reader.optionalString("file"),
            line: try reader.optionalInteger("line", in: 1...Int64(Int32.max)).map { Int($0) },
            reason: try reader.string("reason"),
            isRefused: try reader.optionalBool("refused") ?? false,
            groups: try reader.strings("groups"),
            verbs: try reader.verbs("verbs"),
            protection: try reader.protection("protection"),
            limits: try ClientLimits(reading: &reader),
            credential: try reader.value("credential", of: CredentialAnswer.self)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("client", client)
        object.append("file", path)
        object.append("line", line)
        object.append("reason", reason)
        object.append("refused", isRefused)
        object.append("groups", groups)
        object.append("verbs", verbs)
        object.append("protection", protection)
        object.append(limits.json)
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `entitlement.list`.
///
/// Lists a page of the entitlements in force, in the order in which the daemon checks them.
package struct EntitlementListParameters: MethodParameters {
    package typealias Result = EntitlementPage
    package static var method: Method { .entitlementList }
    /// How many entitlements the page skips.
    ///
    /// Absent means 0.
    package let after: Int

    package init(after: Int = 0) {
        self.after = after
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64(Int32.max)).map { Int($0) } ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject()
        if after != 0 { object.append("after", after) }
        return object
    }
}

/// A page of entitlements.
public struct EntitlementPage: Hashable, Sendable {
    /// The entitlements in force.
    public let entitlements: [Entitlement]
    /// What is wrong with the files as they are now.
    ///
    /// The entitlements are then those of the last valid files. It is absent if the files are right.
    public let trouble: String?
    /// How many entitlements the next page skips.
    ///
    /// It is absent after the last page.
    public let next: Int?

    package init(entitlements: [Entitlement], trouble: String? = nil, next: Int? = nil) {
        self.entitlements = entitlements
        self.trouble = trouble
        self.next = next
    }
}

extension EntitlementPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        entitlements = try reader.values("entitlements", of: Entitlement.self)
        trouble = try reader.optionalString("trouble")
        next = try reader.optionalInteger("next", in: 0...Int64.max).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("entitlements", entitlements)
        object.append("trouble", trouble)
        object.append("next", next)
        return object
    }
}
