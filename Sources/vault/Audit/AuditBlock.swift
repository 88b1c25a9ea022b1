internal import CofferCore

/// Records that are written together, before they are sealed.
///
/// proto-docs/FORMATS.md describes the format. Each client is stored once per block.
struct AuditBlock {
    static let version: UInt8 = 1
    /// The index if there is no client, or not one of this block.
    private static let none = UInt16.max

    /// The records, with consecutive numbers.
    let records: [AuditRecord]

    /// Serialises as many records as fit into one block.
    ///
    /// - Parameter rest: The records.
    /// - Returns: The bytes of the block, and the number of its records: at least one.
    static func encode(_ rest: ArraySlice<AuditRecord>) -> (bytes: [UInt8], count: Int) {
        var clients: [ClientIdentity: UInt16] = [:]
        // Many records in a row have the same one.
        var last: (client: ClientIdentity, index: UInt16)?
        var identities = ByteWriter()
        var body = ByteWriter()
        var count = 0
        for record in rest.prefix(Limits.auditBlockRecords) where body.bytes.count < Limits.auditBlockBytes {
            var index = none
            if let client = record.client {
                if let last, last.client == client {
                    index = last.index
                } else {
                    index = clients[client] ?? UInt16(clients.count)
                    if clients.updateValue(index, forKey: client) == nil { identities.write(client) }
                    last = (client, index)
                }
            }
            body.write(index)
            body.write(record)
            count += 1
        }
        var block = ByteWriter()
        block.write(version)
        block.write(UInt16(clients.count))
        block.write(raw: identities.bytes)
        block.write(UInt16(count))
        block.write(raw: body.bytes)
        return (block.bytes, count)
    }

    /// Parses the result of ``encode(_:)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of a block.
    ///   - first: The number of its first record.
    init(decoding bytes: [UInt8], first: Int64) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        var clients: [ClientIdentity] = []
        for _ in 0..<(try reader.read(UInt16.self)) { clients.append(try reader.readClient()) }
        var records: [AuditRecord] = []
        for number in 0..<Int64(try reader.read(UInt16.self)) {
            let index = try reader.read(UInt16.self)
            guard index == Self.none || index < clients.count else { throw ByteReader.Malformed() }
            let client = index == Self.none ? nil : clients[Int(index)]
            let (sum, overflow) = first.addingReportingOverflow(number)
            guard !overflow else { throw ByteReader.Malformed() }
            records.append(try reader.readRecord(of: client, sum))
        }
        guard reader.isAtEnd, !records.isEmpty else { throw ByteReader.Malformed() }
        self.records = records
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ client: ClientIdentity) {
        write(client.userID)
        write(client.groupID)
        write(optional: client.unit)
        write(optional: client.userUnit)
        write(optional: client.executablePath)
        write(UInt8(client.isContained ? 1 : 0))
        write(optional: client.machine)
    }

    fileprivate mutating func write(_ record: AuditRecord) {
        write(record.time)
        write(counted: record.action.utf8)
        write(record.state.code)
        write(optional: record.refusal?.code.rawValue)
        if let refusal = record.refusal { write(counted: refusal.message.utf8) }
        write(optional: record.reason)
        write(UInt32(clamping: record.count))
        write(UInt32(clamping: record.itemCount))
        write(UInt8(record.items.count))
        for item in record.items {
            write(optional: item.group)
            write(optional: item.name)
            write(counted: item.reference?.bytes ?? [])
        }
    }

    /// An empty text is stored as a missing one.
    private mutating func write(optional text: String?) {
        write(UInt8(text == nil ? 0 : 1))
        if let text { write(counted: text.utf8) }
    }
}

extension ByteReader {
    fileprivate mutating func readClient() throws(Malformed) -> ClientIdentity {
        ClientIdentity(
            userID: try read(),
            groupID: try read(),
            unit: try readOptionalText(),
            userUnit: try readOptionalText(),
            executablePath: try readOptionalText(),
            isContained: try read(UInt8.self) == 1,
            machine: try readOptionalText()
        )
    }

    fileprivate mutating func readRecord(of client: ClientIdentity?, _ number: Int64) throws(Malformed) -> AuditRecord {
        let time = try read(Int64.self)
        let action = try readText()
        let state = try VaultState(code: try read())
        var refusal: AuditedRefusal?
        if let code = try readOptionalText() {
            refusal = AuditedRefusal(ErrorCode(rawValue: code), try readText())
        }
        let reason = try readOptionalText()
        let count = Int(try read(UInt32.self))
        let itemCount = Int(try read(UInt32.self))
        var items: [AuditedItem] = []
        for _ in 0..<(try read(UInt8.self)) {
            let (group, name) = (try readOptionalText(), try readOptionalText())
            let reference = [UInt8](try readCounted())
            guard reference.isEmpty || reference.count == ItemID.byteCount else { throw Malformed() }
            items.append(AuditedItem(name: name, group: group, reference: ItemID(reference)))
        }
        return AuditRecord(
            number: number,
            time: time,
            client: client,
            action: action,
            items: items,
            itemCount: itemCount,
            state: state,
            refusal: refusal,
            reason: reason,
            count: count
        )
    }

    private mutating func readOptionalText() throws(Malformed) -> String? {
        switch try read(UInt8.self) {
        case 0: return nil
        case 1: return try readText()
        default: throw Malformed()
        }
    }
}

extension VaultState {
    /// The stored code.
    fileprivate var code: UInt8 {
        switch self {
        case .noVault: 0
        case .noPasscode: 1
        case .beforeFirstUnlock: 2
        case .unlocked: 3
        case .locking: 4
        case .locked: 5
        case .lockedExpired: 6
        case .deviceKeyMissing: 7
        }
    }

    fileprivate init(code: UInt8) throws(ByteReader.Malformed) {
        guard let state = Self.allCases.first(where: { $0.code == code }) else { throw ByteReader.Malformed() }
        self = state
    }
}
