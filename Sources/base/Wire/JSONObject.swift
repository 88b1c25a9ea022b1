internal import CofferCore

/// The members of a JSON object, in their order.
///
/// Keys are compared as UTF-8 bytes. A look-up scans the list, because the objects of a protocol have few members.
package struct JSONObject: Sendable {
    /// A member.
    ///
    /// A type of its own, since the runtime takes pairs apart each time one is copied or destroyed.
    struct Member: Sendable {
        let key: String
        fileprivate(set) var value: JSONValue
    }

    /// The members, in their order; no key occurs twice.
    private(set) var list: [Member] = []
    /// The members as pairs.
    package var members: [(key: String, value: JSONValue)] { list.map { ($0.key, $0.value) } }
    /// A bit for each key, of the few that there are: a key without its bit is none of the members.
    private var marks: UInt32 = 0

    /// Creates an object without members.
    package init() {}

    /// Creates an object without members, with memory for some.
    init(capacity: Int) { list.reserveCapacity(capacity) }

    /// Creates an object; of equal keys, the last counts.
    init(_ members: [(String, JSONValue)]) {
        for (key, value) in members { set(key, value) }
    }

    /// The value of a member, or `nil` if there is none.
    package subscript(key: String) -> JSONValue? { place(of: key, after: 0).map { list[$0].value } }

    /// The value of a member, which most objects have at the index; `nil` without such a member.
    subscript(key: String, usuallyAt index: Int) -> JSONValue? {
        place(of: key, after: index).map { list[$0].value }
    }

    /// The index of a member, or `nil` if there is none.
    ///
    /// - Parameter start: Where to begin: what is read in the order in which it was written is found at once.
    func place(of key: String, after start: Int) -> Int? {
        if !mayHave(key) { return nil }
        // An index into the array would copy the member.
        let span = list.span
        for index in start..<span.count where span[index].key.hasSameBytes(as: key) { return index }
        for index in 0..<min(start, span.count) where span[index].key.hasSameBytes(as: key) { return index }
        return nil
    }

    /// Sets a member: in its place if it exists, otherwise at the end.
    package mutating func set(_ key: String, _ value: JSONValue) {
        if let index = place(of: key, after: 0) {
            list[index].value = value
        } else {
            append(uniqueKey: key, value)
        }
    }

    /// Appends a member without checking for an equal key: the parser has done that.
    mutating func append(uniqueKey key: String, _ value: JSONValue) {
        list.append(Member(key: key, value: value))
        marks |= Self.mark(of: key)
    }

    /// Whether a key may be one of the members; most that are none are told apart without looking at each member.
    func mayHave(_ key: String) -> Bool { marks & Self.mark(of: key) != 0 }

    /// By its length, which is known without looking at its bytes.
    private static func mark(of key: String) -> UInt32 { 1 << UInt32(truncatingIfNeeded: key.utf8.count % 32) }
}

extension JSONObject: Equatable {
    /// Whether both have the same members in the same order.
    package static func == (one: JSONObject, other: JSONObject) -> Bool {
        one.list.elementsEqual(other.list) { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object; of equal keys, the last counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
