package import CofferCore

/// The parameters of `vault.check`, as they travel.
package struct CheckParameters: WireObject {
    /// Whether to repair what is found.
    package let repairs: Bool
    /// What the page before ended with.
    package let cursor: String?

    package init(repairs: Bool = false, cursor: String? = nil) {
        self.repairs = repairs
        self.cursor = cursor
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        repairs = try reader.optionalBool("repair") ?? false
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject()
        if repairs { object.set("repair", true) }
        object.set("cursor", cursor)
        return object
    }
}

extension Finding: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            try reader.required("stage", as: CheckStage.self),
            reference: try reader.optionalItemID("reference"),
            name: try reader.optionalString("name"),
            try reader.required("damage", as: Damage.self),
            repair: try reader.required("repair", as: Repair.self),
            isRepaired: try reader.optionalBool("isRepaired") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("stage", stage.rawValue)
        object.set("reference", reference?.hexadecimal)
        object.set("name", name)
        object.set("damage", damage.rawValue)
        object.set("found", damage.words)
        object.set("repair", repair.rawValue)
        object.set("isRepaired", isRepaired)
        return object
    }
}

extension CheckPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            stage: try reader.required("stage", as: CheckStage.self),
            checkedCount: Int(try reader.integer("checked")),
            sealedCount: Int(try reader.integer("sealed")),
            quarantinedCount: Int(try reader.integer("quarantined")),
            findings: try reader.values("findings", of: Finding.self),
            cursor: try reader.optionalString("cursor")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("stage", stage.rawValue)
        object.set("checked", checkedCount)
        object.set("sealed", sealedCount)
        object.set("quarantined", quarantinedCount)
        object.set("findings", .array(findings.map { .object($0.json) }))
        object.set("cursor", cursor)
        return object
    }
}

/// The parameters of `vault.quarantine`, as they travel.
package struct QuarantineParameters: WireObject {
    /// What is to be done.
    package let action: QuarantineAction
    /// The store of the row that is meant; all of both where nothing is said.
    package let store: StoreName?
    /// The number of the row that is meant.
    package let number: Int64?
    /// What the page before ended with.
    package let cursor: String?

    package init(
        _ action: QuarantineAction = .list,
        store: StoreName? = nil,
        number: Int64? = nil,
        cursor: String? = nil
    ) {
        self.action = action
        self.store = store
        self.number = number
        self.cursor = cursor
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        action = try reader.value("action", as: QuarantineAction.self) ?? .list
        store = try reader.value("store", as: StoreName.self)
        number = try reader.optionalInteger("number", in: 1...Int64.max)
        cursor = try reader.optionalString("cursor")
        guard (store == nil) == (number == nil) else {
            throw CofferError(.param, "parameters 'store' and 'number' name one row together: give both, or neither")
        }
        if action == .acknowledge && (number != nil || cursor != nil) {
            throw CofferError(.param, "faults of the whole vault are acknowledged together: give 'action' alone")
        }
        if action == .discard && number == nil {
            throw CofferError(
                .param,
                "what is to be destroyed has to be named",
                hint: "give 'store' and 'number', as a list has them"
            )
        }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("action", action.rawValue)
        object.set("store", store?.rawValue)
        object.set("number", number)
        object.set("cursor", cursor)
        return object
    }
}

extension QuarantineEntry: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            store: try reader.required("store", as: StoreName.self),
            number: try reader.integer("number"),
            stage: try reader.required("stage", as: CheckStage.self),
            reference: try reader.optionalItemID("reference"),
            name: try reader.optionalString("name"),
            damage: try reader.required("damage", as: Damage.self),
            moved: try reader.integer("moved"),
            obstacle: try reader.optionalString("obstacle")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("store", store.rawValue)
        object.set("number", number)
        object.set("stage", stage.rawValue)
        object.set("reference", reference?.hexadecimal)
        object.set("name", name)
        object.set("damage", damage.rawValue)
        object.set("moved", moved)
        object.set("obstacle", obstacle)
        return object
    }
}

extension QuarantinePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            entries: try reader.values("entries", of: QuarantineEntry.self),
            cursor: try reader.optionalString("cursor")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("entries", .array(entries.map { .object($0.json) }))
        object.set("cursor", cursor)
        return object
    }
}
