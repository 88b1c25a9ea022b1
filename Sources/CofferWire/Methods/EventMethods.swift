package import CofferCore

/// The parameters of `vault.watch`, as they travel.
package struct WatchParameters: WireObject {
    /// The events that are wanted besides those of locking and unlocking.
    package let selection: EventSelection

    package init(_ selection: EventSelection) { self.selection = selection }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        var selection: EventSelection = []
        if try reader.optionalBool("items") ?? false { selection.insert(.items) }
        if try reader.optionalBool("attempts") ?? false { selection.insert(.attempts) }
        if try reader.optionalBool("audit") ?? false { selection.insert(.audit) }
        self.selection = selection
    }

    package var json: JSONObject {
        var object = JSONObject()
        if selection.contains(.items) { object.set("items", true) }
        if selection.contains(.attempts) { object.set("attempts", true) }
        if selection.contains(.audit) { object.set("audit", true) }
        return object
    }
}

/// The parameters of `request.cancel`, as they travel.
package struct CancelParameters: WireObject {
    /// The request that is not wanted any more.
    package let request: RequestID

    package init(_ request: RequestID) { self.request = request }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        guard let request = try reader.optionalID("request") else {
            throw CofferError(.param, "parameter 'request' is missing: expected the 'id' of a request")
        }
        self.request = request
    }

    package var json: JSONObject { ["request": request.json] }
}

extension VaultEvent {
    /// The name of the event on the wire.
    package var notification: Notification {
        switch self {
        case .protectedDataWillBecomeUnavailable: .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeUnavailable: .protectedDataDidBecomeUnavailable
        case .protectedDataDidBecomeAvailable: .protectedDataDidBecomeAvailable
        case .itemsDidChange: .itemsDidChange
        case .attemptDidFail: .attemptDidFail
        case .auditDidGrow: .auditDidGrow
        case .eventsMissed: .eventsMissed
        }
    }

    /// What is told of it.
    package var json: JSONObject {
        switch self {
        case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable:
            return [:]
        case .itemsDidChange(let changes): return ["changes": .array(changes.map { .object($0.json) })]
        case .attemptDidFail(let attempts): return attempts.json
        case .auditDidGrow(let records): return ["records": .array(records.map { .object($0.json) })]
        case .eventsMissed(let count): return ["count": .integer(Int64(count))]
        }
    }

    /// Reads what the daemon tells.
    ///
    /// - Parameters:
    ///   - method: The name of a notification.
    ///   - params: What is told.
    /// - Returns: `nil` for what is no event, or one that this build does not know. One of a known name that can't be read,
    ///   from a newer daemon, is one that was missed.
    package init?(notification method: String, _ params: JSONObject) {
        let result = JSONValue.object(params)
        switch Notification(rawValue: method) {
        case .protectedDataWillBecomeUnavailable: self = .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeUnavailable: self = .protectedDataDidBecomeUnavailable
        case .protectedDataDidBecomeAvailable: self = .protectedDataDidBecomeAvailable
        case .itemsDidChange:
            self = (try? ItemChanges(result: result)).map { .itemsDidChange($0.changes) } ?? .eventsMissed(1)
        case .attemptDidFail:
            self = (try? FailedAttempts(result: result)).map { .attemptDidFail($0) } ?? .eventsMissed(1)
        case .auditDidGrow:
            self = (try? AuditGrowth(result: result)).map { .auditDidGrow($0.records) } ?? .eventsMissed(1)
        case .eventsMissed: self = .eventsMissed((try? MissedEvents(result: result))?.count ?? 1)
        case .progress, nil: return nil
        }
    }
}

/// The members of `itemsDidChange`, as they travel.
private struct ItemChanges: WireObject {
    let changes: [ItemChange]

    init(reading reader: inout ParameterReader) throws(CofferError) {
        var changes: [ItemChange] = []
        for object in try reader.objects("changes") { changes.append(try ItemChange(result: .object(object))) }
        self.changes = changes
    }

    var json: JSONObject { VaultEvent.itemsDidChange(changes).json }
}

/// The members of `auditDidGrow`, as they travel.
private struct AuditGrowth: WireObject {
    let records: [AuditRecord]

    init(reading reader: inout ParameterReader) throws(CofferError) {
        records = try reader.values("records", of: AuditRecord.self)
    }

    var json: JSONObject { VaultEvent.auditDidGrow(records).json }
}

/// The members of `eventsMissed`, as they travel.
private struct MissedEvents: WireObject {
    let count: Int

    init(reading reader: inout ParameterReader) throws(CofferError) { count = Int(try reader.integer("count")) }

    var json: JSONObject { VaultEvent.eventsMissed(count).json }
}

extension ItemChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            try reader.required("change", as: Kind.self),
            in: try reader.required("store", as: StoreName.self),
            group: try reader.string("group"),
            name: try reader.optionalString("name"),
            formerName: try reader.optionalString("formerName"),
            itemClass: try reader.value("class", as: ItemClass.self),
            reference: try reader.optionalItemID("reference")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("change", kind.rawValue)
        object.set("store", store.rawValue)
        object.set("group", group)
        object.set("name", name)
        object.set("formerName", formerName)
        object.set("class", itemClass?.rawValue)
        object.set("reference", reference?.hexadecimal)
        return object
    }
}

extension FailedAttempts: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            count: Int(try reader.integer("failedAttempts")),
            retrySeconds: try reader.optionalInteger("retrySeconds").map { Int($0) },
            isEnded: try reader.optionalBool("attemptsEnded") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("failedAttempts", count)
        object.set("retrySeconds", retrySeconds)
        if isEnded { object.set("attemptsEnded", true) }
        return object
    }
}
