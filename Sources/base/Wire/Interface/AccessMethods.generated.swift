// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `access.allow`.
///
/// Adds a rule that allows clients to read, write or remove items of a group: those whose names match a
/// pattern, or the one that has a name now. It counts until it ends or is removed.
///
/// - Throws: `decode`, `diskFull`, `interactionNotAllowed`, `interactionRequired`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct AccessAllowParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AccessRuleResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.accessAllow) }
    /// The clients that the rule is for.
    public let client: ClientPattern
    /// What the rule is about: reading, writing or removing items.
    public let verbs: Set<Verb>
    /// The pattern that the names of the items match, or one name, also of items that are there later.
    ///
    /// Absent means: required, unless name is given.
    public let pattern: NamePattern?
    /// The name of the item.
    ///
    /// The rule is for this item, and ends with it: it is not for another one that gets the name later.
    /// Absent means: required, unless pattern is given.
    public let name: ItemName?
    /// How many seconds the rule counts.
    ///
    /// It also ends with the boot of the machine. Absent means: until it is removed.
    public let seconds: Int64?
    /// How often an item may be read: for a rule about reading alone.
    ///
    /// Absent means: no limit.
    public let uses: Int64?
    /// What the rule is for.
    ///
    /// The audit records it with each use. Absent means: nothing.
    public let reason: String?
    /// The access group of the items.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        client: ClientPattern,
        verbs: Set<Verb>,
        pattern: NamePattern? = nil,
        name: ItemName? = nil,
        seconds: Int64? = nil,
        uses: Int64? = nil,
        reason: String? = nil,
        group: String? = nil
    ) {
        self.client = client
        self.verbs = verbs
        self.pattern = pattern
        self.name = name
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
        self.group = group
    }
}

extension AccessAllowParameters: WireObject {
    package static var neverNull: [String] { ["seconds", "uses"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        client = try reader.client("client")
        verbs = try reader.itemVerbs("verbs")
        pattern = try reader.optionalPattern("pattern")
        name = try reader.optionalName("name")
        seconds = try reader.optionalInteger("seconds", in: 1...Int64(Limits.accessRuleSeconds))
        uses = try reader.optionalInteger("uses", in: 1...Int64(Limits.accessRuleUses))
        reason = try reader.optionalString("reason")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("client", client)
        object.append("verbs", verbs)
        object.append("pattern", pattern)
        object.append("name", name)
        object.append("seconds", seconds)
        object.append("uses", uses)
        object.append("reason", reason)
        object.append("group", group)
        return object
    }
}

/// The parameters of `access.deny`.
///
/// Adds an exception to the rules that allow: it prevails over all of them, and over nothing else.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct AccessDenyParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AccessRuleResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.accessDeny) }
    /// The clients that the rule is for.
    public let client: ClientPattern
    /// What the rule is about: reading, writing or removing items.
    public let verbs: Set<Verb>
    /// The pattern that the names of the items match, or one name.
    public let pattern: NamePattern
    /// The access group of the items.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        client: ClientPattern,
        verbs: Set<Verb>,
        pattern: NamePattern,
        group: String? = nil
    ) {
        self.client = client
        self.verbs = verbs
        self.pattern = pattern
        self.group = group
    }
}

extension AccessDenyParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        client = try reader.client("client")
        verbs = try reader.itemVerbs("verbs")
        pattern = try reader.pattern("pattern")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("client", client)
        object.append("verbs", verbs)
        object.append("pattern", pattern)
        object.append("group", group)
        return object
    }
}

/// The parameters of `access.list`.
///
/// Lists a page of access rules, in the order in which they were added.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct AccessListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AccessRulePage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.accessList) }
    /// The number of the rule after which the page begins.
    ///
    /// Absent means: from the beginning.
    public let after: Int64?
    /// Whether to list the rules that allow the caller itself something, whatever their group, instead of
    /// those of the groups that it may name.
    ///
    /// Absent means false.
    public let isOfCaller: Bool

    /// Makes the parameters.
    public init(after: Int64? = nil, isOfCaller: Bool = false) {
        self.after = after
        self.isOfCaller = isOfCaller
    }
}

extension AccessListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after")
        isOfCaller = try reader.optionalBool("mine") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("after", after)
        if isOfCaller { object.append("mine", true) }
        return object
    }
}

/// A page of access rules.
public struct AccessRulePage: Hashable, Sendable {
    /// The rules.
    public let rules: [AccessRule]
    /// The number of the last rule of the page, for the next page.
    ///
    /// It is absent after the last page.
    public let next: Int64?
    /// The numbers of damaged rules, because of which no rule allows anything.
    ///
    /// The first page has them.
    public let damaged: [Int64]

    package init(rules: [AccessRule], next: Int64? = nil, damaged: [Int64]) {
        self.rules = rules
        self.next = next
        self.damaged = damaged
    }
}

extension AccessRulePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        rules = try reader.values("rules", of: AccessRule.self)
        next = try reader.optionalInteger("next")
        damaged = try reader.integers("damaged")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("rules", rules)
        object.append("next", next)
        object.append("damaged", damaged)
        return object
    }
}

/// The parameters of `access.remove`.
///
/// Removes an access rule.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `itemNotFound`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct AccessRemoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.accessRemove) }
    /// The number of the rule.
    public let number: Int64

    /// Makes the parameters.
    public init(number: Int64) {
        self.number = number
    }
}

extension AccessRemoveParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("rule")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("rule", number)
        return object
    }
}
