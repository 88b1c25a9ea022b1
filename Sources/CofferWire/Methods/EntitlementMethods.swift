package import CofferCore

/// The parameters of `entitlement.list`, as they travel.
package struct EntitlementListParameters: WireObject {
    /// How many entitlements are passed over.
    package let after: Int

    package init(after: Int) { self.after = after }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = Int(try reader.optionalInteger("after", in: 0...Int64(Int32.max)) ?? 0)
    }

    package var json: JSONObject { after > 0 ? ["after": .integer(Int64(after))] : [:] }
}

extension EntitlementPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            entitlements: try reader.values("entitlements", of: Entitlement.self),
            trouble: try reader.optionalString("trouble"),
            next: try reader.optionalInteger("next").map { Int($0) }
        )
    }

    package var json: JSONObject {
        var object: JSONObject = ["entitlements": .array(entitlements.map { .object($0.json) })]
        object.set("trouble", trouble)
        object.set("next", next)
        return object
    }
}

extension Entitlement: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            path: try reader.string("file"),
            line: Int(try reader.integer("line", in: 1...Int64(Int32.max))),
            clients: try reader.strings("clients").map { (text) throws(CofferError) in try ClientPattern(text) },
            groups: try reader.strings("groups"),
            verbs: try reader.verbs("verbs"),
            protection: try reader.protection("protection"),
            limits: try reader.limits()
        )
    }

    package var json: JSONObject {
        var object: JSONObject = [
            "file": .string(path), "line": .integer(Int64(line)),
            "clients": .array(clients.map { .string($0.description) }),
        ]
        object.set(groups, verbs, protection, limits)
        return object
    }
}

/// The parameters of `entitlement.explain`, as they travel.
package struct EntitlementExplainParameters: WireObject {
    /// Whose rights are to be explained.
    package let subject: AccessSubject
    /// The credential of a unit that is asked about, by what the unit calls it.
    package let credential: String?

    package init(_ subject: AccessSubject, credential: String? = nil) {
        self.subject = subject
        self.credential = credential
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let process = try reader.optionalInteger("pid", in: 1...Int64(Int32.max))
        let unit = try reader.optionalString("unit")
        let userUnit = try reader.optionalString("userUnit")
        switch (process, unit, userUnit) {
        case (nil, nil, nil): subject = .caller
        case (let process?, nil, nil): subject = .process(Int32(process))
        case (nil, let unit?, nil): subject = .unit(unit)
        case (nil, nil, let userUnit?): subject = .userUnit(userUnit)
        default: throw CofferError(.param, "parameters 'pid', 'unit' and 'userUnit': expected one of them at most")
        }
        credential = try reader.optionalString("credential")
    }

    package var json: JSONObject {
        var object = JSONObject()
        switch subject {
        case .caller: break
        case .process(let number): object.set("pid", Int64(number))
        case .unit(let name): object.set("unit", name)
        case .userUnit(let name): object.set("userUnit", name)
        }
        object.set("credential", credential)
        return object
    }
}

extension CredentialAnswer: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.string("name"),
            refusal: try reader.value("refusal", of: AuditedRefusal.self),
            protection: try reader.protection("protection")
        )
    }

    package var json: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        if let refusal { object.set("refusal", .object(refusal.json)) }
        object.set("protection", protection?.name)
        return object
    }
}

extension AccessExplanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            client: try ClientIdentity(result: .object(try reader.optionalObject("client") ?? [:])),
            path: try reader.optionalString("file"),
            line: try reader.optionalInteger("line", in: 1...Int64(Int32.max)).map { Int($0) },
            reason: try reader.string("reason"),
            isRefused: try reader.optionalBool("refused") ?? false,
            groups: try reader.strings("groups"),
            verbs: try reader.verbs("verbs"),
            protection: try reader.protection("protection"),
            limits: try reader.limits(),
            credential: try reader.value("credential", of: CredentialAnswer.self)
        )
    }

    package var json: JSONObject {
        var object: JSONObject = ["client": .object(client.json)]
        object.set("file", path)
        object.set("line", line)
        object.set("reason", reason)
        object.set("refused", isRefused)
        object.set(groups, verbs, protection, limits)
        if let credential { object.set("credential", .object(credential.json)) }
        return object
    }
}

extension JSONObject {
    fileprivate mutating func set(
        _ groups: [String],
        _ verbs: Set<Verb>,
        _ protection: Protection?,
        _ limits: ClientLimits
    ) {
        set("groups", .array(groups.map { .string($0) }))
        set("verbs", .array(Verb.allCases.filter(verbs.contains).map { .string($0.rawValue) }))
        set("protection", protection?.name)
        set("maxConnections", limits.connections)
        set("maxRequestsPerSecond", limits.requestsPerSecond)
    }
}

extension ParameterReader {
    fileprivate mutating func verbs(_ key: String) throws(CofferError) -> Set<Verb> {
        // One that a newer daemon knows means nothing here.
        Set(try strings(key).compactMap(Verb.init))
    }

    fileprivate mutating func limits() throws(CofferError) -> ClientLimits {
        var limits = ClientLimits()
        limits.connections = try optionalInteger("maxConnections").map { Int($0) }
        limits.requestsPerSecond = try optionalInteger("maxRequestsPerSecond").map { Int($0) }
        return limits
    }

    fileprivate mutating func protection(_ key: String) throws(CofferError) -> Protection? {
        guard let name = try optionalString(key) else { return nil }
        guard let protection = Protection(name: name) else {
            throw Self.mismatch(key, "an accessibility or a class of files")
        }
        return protection
    }
}
