/// What somebody did with a vault, or was kept from doing; never a value.
public struct AuditRecord: Hashable, Sendable {
    /// Its place among the records of the vault, from 1, without gaps; 0 before it has one.
    public package(set) var number: Int64
    /// When it was, in milliseconds since 1970: the first time, where it was done again and again.
    public package(set) var time: Int64
    /// Who it was; `nil` for the daemon's own doing.
    public let client: ClientIdentity?
    /// The method that was asked for; `connect` for one who was turned away before it could ask.
    public let action: String
    /// The items that it was done with, as far as there is room: ``Limits/auditedItems``.
    public let items: [AuditedItem]
    /// How many items it was done with.
    public let itemCount: Int
    /// The state that the vault was in.
    public let state: VaultState
    /// Why it was not done; `nil` where it was.
    public package(set) var refusal: AuditedRefusal?
    /// The reason that was given for it, if one was: that of the lease which allowed it, or what made the daemon do it.
    public let reason: String?
    /// How often the same was done, one right after another or among others.
    public package(set) var count: Int

    /// Describes what somebody did.
    ///
    /// - Parameters:
    ///   - number: Its place among the records of the vault; 0 before it has one.
    ///   - time: When it was, in milliseconds since 1970.
    ///   - client: Who it was; `nil` for the daemon's own doing.
    ///   - action: The method that was asked for, or `connect`.
    ///   - items: The items that it was done with; more than there is room for are counted only.
    ///   - itemCount: How many items it was done with; as many as are named if nothing is said.
    ///   - state: The state that the vault was in.
    ///   - refusal: Why it was not done.
    ///   - reason: The reason that was given, as far as there is room.
    ///   - count: How often it was done.
    public init(
        number: Int64 = 0,
        time: Int64,
        client: ClientIdentity?,
        action: String,
        items: [AuditedItem] = [],
        itemCount: Int? = nil,
        state: VaultState,
        refusal: AuditedRefusal? = nil,
        reason: String? = nil,
        count: Int = 1
    ) {
        self.number = number
        self.time = time
        self.client = client
        self.action = action
        self.items = items.count > Limits.auditedItems ? Array(items.prefix(Limits.auditedItems)) : items
        self.itemCount = itemCount ?? items.count
        self.state = state
        self.refusal = refusal
        self.reason = reason?.cut(to: Limits.auditedTextBytes)
        self.count = count
    }
}

extension AuditRecord {
    /// The bytes that it has as JSON at most: a byte of a text may become six.
    package var jsonByteCount: Int {
        var texts = [refusal?.message, reason, client?.unit, client?.userUnit, client?.executablePath, client?.machine]
        for item in items { texts += [item.name, item.group] }
        return texts.reduce(512 + 64 * items.count) { $0 + 6 * ($1?.utf8.count ?? 0) }
    }
}

/// An item, as a record names it.
public struct AuditedItem: Hashable, Sendable {
    /// Its access group, as far as it is known.
    public let group: String?
    /// Its name, or what a query named; `nil` where it has none.
    public let name: String?
    /// Its persistent reference in the keychain, where it is known.
    public let reference: ItemID?

    /// Names an item.
    ///
    /// - Parameters:
    ///   - name: Its name, as far as there is room: what was asked for may be none.
    ///   - group: Its access group.
    ///   - reference: Its persistent reference in the keychain.
    public init(name: String?, group: String?, reference: ItemID? = nil) {
        self.name = name?.cut(to: Limits.nameBytes)
        self.group = group?.cut(to: Limits.groupBytes)
        self.reference = reference
    }
}

/// Why something was not done.
public struct AuditedRefusal: Hashable, Sendable {
    /// The error that was answered.
    public let code: ErrorCode
    /// Its message, as far as there is room.
    public let message: String

    /// Describes a refusal.
    ///
    /// - Parameters:
    ///   - code: The error that was answered.
    ///   - message: Its message.
    public init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message.cut(to: Limits.auditedTextBytes)
    }

    /// Takes what was answered.
    ///
    /// - Parameter error: The error.
    public init(_ error: CofferError) { self.init(error.code, error.message) }
}

extension String {
    /// As many whole characters of it as a number of bytes has room for, and an ellipsis where there are more.
    fileprivate func cut(to limit: Int) -> String {
        if utf8.count <= limit { return self }
        var count = "…".utf8.count
        let part = prefix { character in
            count += character.utf8.count
            return count <= limit
        }
        return part + "…"
    }
}

/// Which records are wanted: those for which all that is named holds.
public struct AuditQuery: Hashable, Sendable {
    /// The name of an item, or its persistent reference.
    public var item: String?
    /// The unit of the client, of the system's service manager or of the user's.
    public var unit: String?
    /// Not before that time, in milliseconds since 1970.
    public var since: Int64?
    /// Only what was not done.
    public var isRefused: Bool

    /// Asks for records.
    ///
    /// - Parameters:
    ///   - item: The name of an item, or its persistent reference.
    ///   - unit: The unit of the client.
    ///   - since: Not before that time, in milliseconds since 1970.
    ///   - isRefused: Only what was not done.
    public init(item: String? = nil, unit: String? = nil, since: Int64? = nil, isRefused: Bool = false) {
        self.item = item
        self.unit = unit
        self.since = since
        self.isRefused = isRefused
    }

    /// Whether a record is one of those that are wanted.
    ///
    /// - Parameter record: The record.
    public func matches(_ record: AuditRecord) -> Bool {
        if let since, record.time < since { return false }
        if isRefused && record.refusal == nil { return false }
        if let unit, ![record.client?.unit, record.client?.userUnit].contains(unit) { return false }
        guard let item else { return true }
        return record.items.contains { $0.name == item || $0.reference?.hexadecimal == item }
    }
}

/// What is left of the oldest records, which made room for others.
public struct AuditSummary: Hashable, Sendable {
    /// How many records there were; they had the numbers up to this one.
    public var recordCount: Int64
    /// When the first of them was, in milliseconds since 1970.
    public var firstTime: Int64
    /// When the last of them was, in milliseconds since 1970.
    public var lastTime: Int64
    /// Who did how much, of as many clients as there is room for; the others together are `nil`.
    public var tallies: [Tally]

    /// What a client did in all.
    public struct Tally: Hashable, Sendable {
        /// The client: its service, or else its user.
        public let client: String?
        /// How often it did what it asked for.
        public var allowedCount: Int64
        /// How often it was kept from it.
        public var refusedCount: Int64

        /// Describes what a client did.
        ///
        /// - Parameters:
        ///   - client: The client; `nil` for all others.
        ///   - allowedCount: How often it did what it asked for.
        ///   - refusedCount: How often it was kept from it.
        public init(client: String?, allowedCount: Int64, refusedCount: Int64) {
            self.client = client
            self.allowedCount = allowedCount
            self.refusedCount = refusedCount
        }
    }

    /// Describes what is left; nothing if nothing is said.
    public init(recordCount: Int64 = 0, firstTime: Int64 = 0, lastTime: Int64 = 0, tallies: [Tally] = []) {
        self.recordCount = recordCount
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.tallies = tallies
    }
}

/// A page of records.
public struct AuditPage: Sendable {
    /// The records, the oldest first.
    public let records: [AuditRecord]
    /// The number of the last one that was looked at; `nil` where no more follow.
    public let next: Int64?
    /// Whether records are missing here that can't be read.
    public let isDamaged: Bool
    /// What is left of those that made room, where there are such.
    public let summary: AuditSummary?

    /// Describes a page.
    ///
    /// - Parameters:
    ///   - records: The records, the oldest first.
    ///   - next: The number of the last one that was looked at; `nil` where no more follow.
    ///   - isDamaged: Whether records are missing here that can't be read.
    ///   - summary: What is left of those that made room.
    public init(records: [AuditRecord], next: Int64?, isDamaged: Bool, summary: AuditSummary?) {
        self.records = records
        self.next = next
        self.isDamaged = isDamaged
        self.summary = summary
    }
}

/// A part of the check of all records.
public struct AuditVerification: Sendable {
    /// How many records were checked in this part.
    public let checkedCount: Int64
    /// What is wrong; nothing where every record is as it was written.
    public let findings: [String]
    /// The number of the last one that was checked; `nil` where no more follow.
    public let next: Int64?

    /// Describes a part of the check.
    ///
    /// - Parameters:
    ///   - checkedCount: How many records were checked in this part.
    ///   - findings: What is wrong.
    ///   - next: The number of the last one that was checked; `nil` where no more follow.
    public init(checkedCount: Int64, findings: [String], next: Int64?) {
        self.checkedCount = checkedCount
        self.findings = findings
        self.next = next
    }
}
