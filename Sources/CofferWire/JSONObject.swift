/// The members of a JSON object, in their order.
///
/// Keys are compared as UTF-8 bytes. Looking a member up walks the list: the objects of a protocol have few members.
package struct JSONObject: Sendable {
    /// The members, in the order in which they were written; no key occurs twice.
    package private(set) var members: [(key: String, value: JSONValue)] = []

    /// Makes an object without members.
    package init() {}

    /// Makes an object of members; of equal keys, the last counts.
    init(_ members: [(String, JSONValue)]) {
        for (key, value) in members { set(key, value) }
    }

    /// The value of a member, or `nil` where there is no such member.
    package subscript(key: String) -> JSONValue? {
        members.first { $0.key.hasSameBytes(as: key) }?.value
    }

    /// Gives a member a value: in its old place where there is one of that key, at the end where there is none.
    package mutating func set(_ key: String, _ value: JSONValue) {
        if let index = members.firstIndex(where: { $0.key.hasSameBytes(as: key) }) {
            members[index].value = value
        } else {
            append(uniqueKey: key, value)
        }
    }

    /// Appends a member without looking whether there is one of that key already: the parser knows.
    mutating func append(uniqueKey key: String, _ value: JSONValue) { members.append((key, value)) }
}

extension JSONObject: Equatable {
    /// Whether both have the same members in the same order.
    package static func == (one: JSONObject, other: JSONObject) -> Bool {
        one.members.elementsEqual(other.members) { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Makes an object; of equal keys, the last counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
