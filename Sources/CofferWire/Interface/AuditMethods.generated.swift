// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `audit.list`.
///
/// Reports a page of audit records, the oldest first.
package struct AuditListParameters: MethodParameters {
    package typealias Result = AuditPage
    package static var method: Method { .auditList }
    /// The number of the record after which the page begins.
    ///
    /// 0 means the oldest. Absent means 0.
    package let after: Int64
    /// Which records are wanted.
    package let query: AuditQuery
    /// How many records the page has at most.
    ///
    /// Absent means: as many as there is room for.
    package let limit: Int?

    package init(after: Int64 = 0, _ query: AuditQuery, limit: Int? = nil) {
        self.after = after
        self.query = query
        self.limit = limit
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
        query = try AuditQuery(reading: &reader)
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems)).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject()
        if after != 0 { object.append("after", after) }
        object.append(query.json)
        object.append("limit", limit)
        return object
    }
}

extension AuditPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            records: try reader.values("records", of: AuditRecord.self),
            next: try reader.optionalInteger("next", in: 0...Int64.max),
            isDamaged: try reader.optionalBool("isDamaged") ?? false,
            summary: try reader.value("summary", of: AuditSummary.self)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("records", records)
        object.append("next", next)
        if isDamaged { object.append("isDamaged", true) }
        object.append("summary", summary)
        return object
    }
}

/// The parameters of `audit.verify`.
///
/// Checks that a part of the audit records is what the daemon wrote.
package struct AuditVerifyParameters: MethodParameters {
    package typealias Result = AuditVerification
    package static var method: Method { .auditVerify }
    /// The number of the last record that was checked.
    ///
    /// 0 means that the check begins. Absent means 0.
    package let after: Int64

    package init(after: Int64 = 0) {
        self.after = after
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max) ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject()
        if after != 0 { object.append("after", after) }
        return object
    }
}

extension AuditVerification: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            checkedCount: try reader.integer("checked", in: 0...Int64.max),
            findings: try reader.strings("findings"),
            next: try reader.optionalInteger("next", in: 0...Int64.max)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("checked", checkedCount)
        object.append("findings", findings)
        object.append("next", next)
        return object
    }
}
