package import CofferCore

/// The parameters of `audit.list`, as they travel.
package struct AuditListParameters: WireObject {
    /// The record behind which the page begins; 0 for the oldest.
    package let after: Int64
    /// Which records are wanted.
    package let query: AuditQuery
    /// How many records the page has at most.
    package let limit: Int?

    package init(after: Int64, _ query: AuditQuery, limit: Int? = nil) {
        self.after = after
        self.query = query
        self.limit = limit
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
        query = AuditQuery(
            item: try reader.optionalString("item"),
            unit: try reader.optionalString("unit"),
            since: try reader.optionalInteger("since"),
            isRefused: try reader.optionalBool("refused") ?? false
        )
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems)).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject()
        if after > 0 { object.set("after", after) }
        object.set("item", query.item)
        object.set("unit", query.unit)
        object.set("since", query.since)
        if query.isRefused { object.set("refused", true) }
        object.set("limit", limit)
        return object
    }
}

/// The parameters of `audit.verify`, as they travel.
package struct AuditVerifyParameters: WireObject {
    /// The last record that was checked; 0 to begin.
    package let after: Int64

    package init(after: Int64) { self.after = after }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
    }

    package var json: JSONObject { after > 0 ? ["after": .integer(after)] : [:] }
}

extension AuditPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            records: try reader.values("records", of: AuditRecord.self),
            next: try reader.optionalInteger("next"),
            isDamaged: try reader.optionalBool("isDamaged") ?? false,
            summary: try reader.value("summary", of: AuditSummary.self)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("records", .array(records.map { .object($0.json) }))
        object.set("next", next)
        if isDamaged { object.set("isDamaged", true) }
        if let summary { object.set("summary", .object(summary.json)) }
        return object
    }
}

extension AuditVerification: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            checkedCount: try reader.integer("checked"),
            findings: try reader.strings("findings"),
            next: try reader.optionalInteger("next")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("checked", checkedCount)
        object.set("findings", .array(findings.map { .string($0) }))
        object.set("next", next)
        return object
    }
}

extension AuditSummary: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init()
        recordCount = try reader.integer("records")
        firstTime = try reader.integer("firstTime")
        lastTime = try reader.integer("lastTime")
        tallies = try reader.values("clients", of: Tally.self)
    }

    package var json: JSONObject {
        [
            "records": .integer(recordCount), "firstTime": .integer(firstTime), "lastTime": .integer(lastTime),
            "clients": .array(tallies.map { .object($0.json) }),
        ]
    }
}

extension AuditSummary.Tally: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            client: try reader.optionalString("client"),
            allowedCount: try reader.integer("allowed"),
            refusedCount: try reader.integer("refused")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("client", client)
        object.set("allowed", allowedCount)
        object.set("refused", refusedCount)
        return object
    }
}

extension AuditRecord: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: try reader.integer("number"),
            time: try reader.integer("time"),
            client: try reader.value("client", of: ClientIdentity.self),
            action: try reader.string("action"),
            items: try reader.values("items", of: AuditedItem.self),
            itemCount: try reader.optionalInteger("itemCount").map { Int($0) },
            state: try reader.required("state", as: VaultState.self),
            refusal: try reader.value("refusal", of: AuditedRefusal.self),
            reason: try reader.optionalString("reason"),
            count: Int(try reader.optionalInteger("count") ?? 1)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("number", number)
        object.set("time", time)
        if let client { object.set("client", .object(client.json)) }
        object.set("action", action)
        object.set("items", .array(items.map { .object($0.json) }))
        if itemCount > items.count { object.set("itemCount", itemCount) }
        object.set("state", state.rawValue)
        if let refusal { object.set("refusal", .object(refusal.json)) }
        object.set("reason", reason)
        if count > 1 { object.set("count", count) }
        return object
    }
}

extension AuditedItem: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.optionalString("name"),
            group: try reader.optionalString("group"),
            reference: try reader.optionalItemID("reference")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name)
        object.set("group", group)
        object.set("reference", reference?.hexadecimal)
        return object
    }
}

extension AuditedRefusal: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(ErrorCode(rawValue: try reader.string("code")), try reader.string("message"))
    }

    package var json: JSONObject { ["code": .string(code.rawValue), "message": .string(message)] }
}

extension ClientIdentity: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            processID: try reader.optionalInteger("pid", in: 1...Int64(Int32.max)).map { Int32($0) },
            userID: UInt32(try reader.integer("uid", in: 0...Int64(UInt32.max))),
            groupID: UInt32(try reader.integer("gid", in: 0...Int64(UInt32.max))),
            supplementaryGroupIDs: try reader.groupIDs("gids"),
            unit: try reader.optionalString("unit"),
            userUnit: try reader.optionalString("userUnit"),
            executablePath: try reader.optionalString("executable"),
            isContained: try reader.optionalBool("contained") ?? false,
            machine: try reader.optionalString("machine")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("pid", processID.map { Int64($0) })
        object.set("uid", Int64(userID))
        object.set("gid", Int64(groupID))
        if !supplementaryGroupIDs.isEmpty {
            object.set("gids", .array(supplementaryGroupIDs.sorted().map { .integer(Int64($0)) }))
        }
        object.set("unit", unit)
        object.set("userUnit", userUnit)
        object.set("executable", executablePath)
        if isContained { object.set("contained", true) }
        object.set("machine", machine)
        return object
    }
}

extension ParameterReader {
    fileprivate mutating func groupIDs(_ key: String) throws(CofferError) -> Set<UInt32> {
        guard let value = take(key) else { return [] }
        let numbers = value.arrayValue?.compactMap(\.integerValue).compactMap { UInt32(exactly: $0) }
        guard let numbers, numbers.count == value.arrayValue?.count else {
            throw Self.mismatch(key, "an array of numbers of groups")
        }
        return Set(numbers)
    }
}
