/// A request that the daemon carried out or refused, or an event of its own; never a value.
public struct AuditRecord: Hashable, Sendable {
    /// The number of the record, from 1 and without gaps; 0 before it has one.
    public package(set) var number: Int64
    /// When it happened, in milliseconds since 1970; for repeated requests, the first time.
    public package(set) var time: Int64
    /// The client; `nil` for an event of the daemon itself.
    public var client: ClientIdentity? { facts.client }
    /// The method; `connect` for a client that was refused when it connected.
    public var action: String { facts.action }
    /// The items of the request, at most ``Limits/auditedItems``.
    public var items: [AuditedItem] { facts.items }
    /// The number of items.
    public var itemCount: Int { facts.itemCount }
    /// The state of the vault at that time.
    public var state: VaultState { facts.state }
    /// Why the request was refused; `nil` if it succeeded.
    public package(set) var refusal: AuditedRefusal?
    /// On behalf of which program the client asked, the number and the reason of the rule that allowed it, or the event that
    /// made the daemon act.
    public var reason: String? { facts.reason }
    /// The number of identical requests, consecutive or not.
    public package(set) var count: Int
    /// What never changes.
    package let facts: Facts

    /// What never changes of a record, in one object: each request copies its record a few times.
    package final class Facts: Sendable {
        package let client: ClientIdentity?
        package let action: String
        package let items: [AuditedItem]
        package let itemCount: Int
        package let state: VaultState
        package let reason: String?

        fileprivate init(
            _ client: ClientIdentity?,
            _ action: String,
            _ items: [AuditedItem],
            _ itemCount: Int,
            _ state: VaultState,
            _ reason: String?
        ) {
            self.client = client
            self.action = action
            self.items = items
            self.itemCount = itemCount
            self.state = state
            self.reason = reason
        }
    }

    /// Creates a record.
    ///
    /// Items and texts beyond the limits are cut off.
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
        self.refusal = refusal
        self.count = count
        facts = Facts(
            client,
            action,
            items.count > Limits.auditedItems ? Array(items.prefix(Limits.auditedItems)) : items,
            itemCount ?? items.count,
            state,
            reason?.cut(to: Limits.auditedTextBytes)
        )
    }
}

extension AuditRecord.Facts: Hashable {
    package static func == (one: AuditRecord.Facts, other: AuditRecord.Facts) -> Bool {
        one.action == other.action && one.client == other.client && one.items == other.items
            && one.itemCount == other.itemCount && one.state == other.state && one.reason == other.reason
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(client)
        hasher.combine(action)
        hasher.combine(items)
        hasher.combine(reason)
    }
}

extension AuditRecord {
    /// Whether it says that a client has read the audit.
    package var isReading: Bool { refusal == nil && (action == "audit.list" || action == "audit.verify") }

    /// An upper bound of its bytes as JSON: one byte of text may become six.
    package var jsonByteCount: Int {
        var texts = [refusal?.message, reason, client?.unit, client?.userUnit, client?.executablePath, client?.machine]
        for item in items { texts += [item.name, item.group] }
        return texts.reduce(512 + 64 * items.count) { $0 + 6 * ($1?.utf8.count ?? 0) }
    }
}

/// An item, as a record names it.
public struct AuditedItem: Hashable, Sendable {
    /// Its access group, if known.
    public let group: String?
    /// Its name, or what a query named; `nil` if it has none.
    public let name: String?
    /// Its persistent reference in the keychain, if known.
    public let reference: ItemID?

    /// Names an item.
    ///
    /// A name beyond the limit is cut off, because a request may name anything.
    public init(name: String?, group: String?, reference: ItemID? = nil) {
        self.name = name?.cut(to: Limits.nameBytes)
        self.group = group?.cut(to: Limits.groupBytes)
        self.reference = reference
    }
}

/// Why a request was refused.
public struct AuditedRefusal: Hashable, Sendable {
    /// The code of the error.
    public let code: ErrorCode
    /// The message of the error, cut to ``Limits/auditedTextBytes``.
    public let message: String

    /// Creates a refusal from a code and a message.
    public init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message.cut(to: Limits.auditedTextBytes)
    }

    /// Creates a refusal from the error that was answered.
    public init(_ error: CofferError) { self.init(error.code, error.message) }
}

extension String {
    /// The longest prefix of whole characters that fits into a number of bytes, with an ellipsis if something is cut
    /// off.
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

extension AuditQuery {
    /// Whether a record matches.
    public func matches(_ record: AuditRecord) -> Bool {
        if let since, record.time < since { return false }
        if isRefused && record.refusal == nil { return false }
        if let unit, ![record.client?.unit, record.client?.userUnit].contains(unit) { return false }
        if item == nil && group == nil { return true }
        return record.items.contains { named in
            let isItem = item.map { named.name?.hasSameBytes(as: $0) ?? false || named.reference?.hexadecimal == $0 }
            return isItem ?? true && group.map { named.group?.hasSameBytes(as: $0) ?? false } ?? true
        }
    }
}
