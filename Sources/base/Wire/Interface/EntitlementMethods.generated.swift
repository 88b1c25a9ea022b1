// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `entitlement.explain`.
///
/// Reports what a client may do, and which rule decides that.
///
/// - Throws: `decode`, `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct EntitlementExplainParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AccessExplanation
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.entitlementExplain) }
    /// Whose rights are explained.
    public let subject: AccessSubject
    /// The name under which the unit loads the credential that is explained.
    ///
    /// Absent means: none.
    public let credential: String?

    /// Makes the parameters.
    public init(_ subject: AccessSubject = .caller, credential: String? = nil) {
        self.subject = subject
        self.credential = credential
    }
}

extension EntitlementExplainParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        subject = try AccessSubject(reading: &reader)
        credential = try reader.optionalString("credential")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(subject.json)
        object.append("credential", credential)
        return object
    }
}

extension AccessExplanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let client = try reader.required("client", of: ClientIdentity.self)
        let path = try reader.optionalString("file")
        let line = try reader.optionalInteger("line", in: 1...Int64(Int32.max)).map { Int($0) }
        let reason = try reader.string("reason")
        let isRefused = try reader.optionalBool("refused") ?? false
        let groups = try reader.strings("groups")
        let reachesAllGroups = try reader.optionalBool("allGroups") ?? false
        let programGroup = try reader.optionalString("program")
        let verbs = try reader.verbs("verbs")
        let itemClass = try reader.value("class", as: ItemClass.self)
        let protection = try reader.protection("protection")
        let actsOnBehalf = try reader.optionalBool("onBehalfOf") ?? false
        let limits = try ClientLimits(reading: &reader)
        let credential = try reader.value("credential", of: CredentialAnswer.self)
        self.init(
            client: client,
            path: path,
            line: line,
            reason: reason,
            isRefused: isRefused,
            groups: groups,
            reachesAllGroups: reachesAllGroups,
            programGroup: programGroup,
            verbs: verbs,
            itemClass: itemClass,
            protection: protection,
            actsOnBehalf: actsOnBehalf,
            limits: limits,
            credential: credential
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("client", client)
        object.append("file", path)
        object.append("line", line)
        object.append("reason", reason)
        object.append("refused", isRefused)
        object.append("groups", groups)
        if reachesAllGroups { object.append("allGroups", true) }
        object.append("program", programGroup)
        object.append("verbs", verbs)
        object.append("class", itemClass)
        object.append("protection", protection)
        if actsOnBehalf { object.append("onBehalfOf", true) }
        object.append(limits.json)
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `entitlement.list`.
///
/// Lists a page of the entitlements in force, in the order in which the daemon checks them.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct EntitlementListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = EntitlementPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.entitlementList) }
    /// How many entitlements the page skips.
    ///
    /// Absent means 0.
    public let after: Int

    /// Makes the parameters.
    public init(after: Int = 0) {
        self.after = after
    }
}

extension EntitlementListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64(Int32.max)).map { Int($0) } ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
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
    /// The entitlements are then those of the last valid files. It is absent if the files are valid.
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
        var object = JSONObject(capacity: 3)
        object.append("entitlements", entitlements)
        object.append("trouble", trouble)
        object.append("next", next)
        return object
    }
}
