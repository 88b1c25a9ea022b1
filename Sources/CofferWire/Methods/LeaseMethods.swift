package import CofferCore

/// The parameters of `lease.grant`, as they travel.
package struct LeaseGrantParameters: WireObject {
    /// The name of the item.
    package let name: ItemName
    /// Who may read it.
    package let client: ClientPattern
    /// For how long.
    package let seconds: Int64
    /// How often; as often as anybody likes if nothing is said.
    package let uses: Int64?
    /// What it is for.
    package let reason: String?

    package init(name: ItemName, client: ClientPattern, seconds: Int64, uses: Int64? = nil, reason: String? = nil) {
        self.name = name
        self.client = client
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        client = try ClientPattern(try reader.string("to"))
        try client.checkLeasable()
        seconds = try reader.integer("seconds", in: 1...Int64(Limits.leaseSeconds))
        uses = try reader.optionalInteger("uses", in: 1...Int64(Limits.leaseUses))
        reason = try reader.optionalString("reason")
        if let reason, reason.isEmpty || reason.utf8.count > Limits.leaseReasonBytes {
            throw CofferError(.param, "parameter 'reason': expected 1 to \(Limits.leaseReasonBytes) bytes")
        }
    }

    package var json: JSONObject {
        var object: JSONObject = [
            "name": .string(name.path), "to": .string(client.description), "seconds": .integer(seconds),
        ]
        object.set("uses", uses)
        object.set("reason", reason)
        return object
    }
}

/// The result of `lease.grant` and the parameters of `lease.revoke`, as they travel.
package struct LeaseNumber: WireObject {
    /// What the lease is called.
    package let number: Int64

    package init(number: Int64) { self.number = number }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease", in: 1...Int64.max)
    }

    package var json: JSONObject { ["lease": .integer(number)] }
}

/// The parameters of `lease.list`, as they travel.
package struct LeaseListParameters: WireObject {
    /// Leases behind that one only.
    package let after: Int64?

    package init(after: Int64? = nil) { self.after = after }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 1...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("after", after)
        return object
    }
}

extension LeaseInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: try reader.integer("lease"),
            name: try reader.string("name"),
            client: try ClientPattern(try reader.string("to")),
            seconds: try reader.integer("seconds"),
            uses: try reader.optionalInteger("uses"),
            reason: try reader.optionalString("reason"),
            granted: try reader.integer("granted")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("lease", number)
        object.set("name", name)
        object.set("to", client.description)
        object.set("seconds", seconds)
        object.set("uses", uses)
        object.set("reason", reason)
        object.set("granted", granted)
        return object
    }
}

extension LeasePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            leases: try reader.values("leases", of: LeaseInfo.self),
            next: try reader.optionalInteger("next"),
            damaged: try reader.integers("damaged")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("leases", .array(leases.map { .object($0.json) }))
        object.set("next", next)
        object.set("damaged", .array(damaged.map { .integer($0) }))
        return object
    }
}
