// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `audit.list`.
///
/// Reports a page of audit records, the oldest first.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct AuditListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AuditPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.auditList) }
    /// The number of the record after which the page begins.
    ///
    /// 0 means the oldest. Absent means 0.
    public let after: Int64
    /// Which records are wanted.
    public let query: AuditQuery
    /// How many records the page has at most.
    ///
    /// Absent means: as many as fit.
    public let limit: Int?

    /// Makes the parameters.
    public init(
        after: Int64 = 0,
        _ query: AuditQuery = AuditQuery(),
        limit: Int? = nil
    ) {
        self.after = after
        self.query = query
        self.limit = limit
    }
}

extension AuditListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
        query = try AuditQuery(reading: &reader)
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems)).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        if after != 0 { object.append("after", after) }
        object.append(query.json)
        object.append("limit", limit)
        return object
    }
}

extension AuditPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let records = try reader.values("records", of: AuditRecord.self)
        let next = try reader.optionalInteger("next", in: 0...Int64.max)
        let isDamaged = try reader.optionalBool("isDamaged") ?? false
        let sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        let summary = try reader.value("summary", of: AuditSummary.self)
        self.init(
            records: records,
            next: next,
            isDamaged: isDamaged,
            sealedCount: sealedCount,
            summary: summary
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("records", records)
        object.append("next", next)
        if isDamaged { object.append("isDamaged", true) }
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        object.append("summary", summary)
        return object
    }
}

/// The parameters of `audit.verify`.
///
/// Verifies that a part of the audit records is what the daemon wrote.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct AuditVerifyParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = AuditVerification
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.auditVerify) }
    /// The number of the last record that was checked.
    ///
    /// 0 means that the check begins. Absent means 0.
    public let after: Int64

    /// Makes the parameters.
    public init(after: Int64 = 0) {
        self.after = after
    }
}

extension AuditVerifyParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        if after != 0 { object.append("after", after) }
        return object
    }
}

extension AuditVerification: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let checkedCount = try reader.integer("checked", in: 0...Int64.max)
        let sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max) ?? 0
        let findings = try reader.strings("findings")
        let next = try reader.optionalInteger("next", in: 0...Int64.max)
        self.init(checkedCount: checkedCount, sealedCount: sealedCount, findings: findings, next: next)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("checked", checkedCount)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        object.append("findings", findings)
        object.append("next", next)
        return object
    }
}
