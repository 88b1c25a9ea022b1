import CofferClient
import CofferSecretService
import CofferSystem
import Testing

/// The items that are in memory only: their bounds.
@Suite struct SessionItemsTests {
    private let items = SessionItems()

    private static func item(bytes count: Int, label: String = "") throws -> NewItem {
        let bytes = [UInt8](repeating: 1, count: count)
        return NewItem(
            label: label,
            attributes: [:],
            contentType: "",
            secret: try Secret(copying: bytes.span.bytes)
        )
    }

    private func isRefused(_ body: () throws(CofferError) -> Void) -> Bool {
        do throws(CofferError) { try body() } catch { return error.code == .dataTooLarge }
        return false
    }

    private func add(bytes count: Int) throws -> ItemKey {
        try items.add(try Self.item(bytes: count), to: "session")
    }

    @Test func `there are so many items at most, and each that goes makes room`() throws {
        var keys: [ItemKey] = []
        for _ in 0..<Limits.sessionItems { keys.append(try add(bytes: 1)) }
        #expect(Set(keys).count == Limits.sessionItems)
        let item = try Self.item(bytes: 1)
        #expect(isRefused { () throws(CofferError) in _ = try items.add(item, to: "session") })
        try items.remove(keys[5])
        let key = try add(bytes: 1)
        #expect(!keys.contains(key))
    }

    @Test func `their secrets have so many bytes at most, however they are changed`() throws {
        let half = Limits.sessionItemBytes / 2
        let first = try add(bytes: half)
        let second = try add(bytes: half)
        let (one, smaller, larger) = (
            try Self.item(bytes: 1), try Self.item(bytes: half - 1), try Self.item(bytes: half + 1)
        )
        #expect(isRefused { () throws(CofferError) in _ = try items.add(one, to: "session") })
        #expect(isRefused { () throws(CofferError) in try items.replace(first, by: larger) })
        #expect(try items.secret(of: first).count == half, "what is refused leaves it as it is")
        try items.replace(first, by: smaller)
        _ = try items.add(one, to: "session")
        #expect(isRefused { () throws(CofferError) in _ = try items.add(one, to: "session") })
        try items.remove(second)
        #expect(try add(bytes: half) != second)
        #expect(isRefused { () throws(CofferError) in try items.remove(second) } == false)
        #expect(throws: CofferError(.itemNotFound, "")) { try items.item(second) }
    }

    @Test func `their texts count as their secrets do`() throws {
        let half = String(repeating: "l", count: Limits.sessionItemBytes / 2)
        let item = try Self.item(bytes: Limits.sessionItemBytes / 2, label: half)
        let more = try Self.item(bytes: Limits.sessionItemBytes / 2, label: half + "l")
        #expect(isRefused { () throws(CofferError) in _ = try items.add(more, to: "session") })
        _ = try items.add(item, to: "session")
        let one = try Self.item(bytes: 0, label: "l")
        #expect(isRefused { () throws(CofferError) in _ = try items.add(one, to: "session") })
    }
}
