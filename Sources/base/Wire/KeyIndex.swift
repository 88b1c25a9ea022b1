internal import CofferCore

/// Detects keys that occur twice in an object that is being parsed.
///
/// The few keys of an ordinary object are compared one by one; beyond that a set is used, because comparing a hundred
/// thousand short keys with each other would take minutes for a megabyte of input.
struct KeyIndex {
    private struct Key: Hashable {
        let text: String

        static func == (one: Key, other: Key) -> Bool { one.text.hasSameBytes(as: other.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private static let threshold = 16
    private var keys: Set<Key> = []

    /// Records a key that is about to be appended to an object.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - object: The object; the same at every call.
    /// - Returns: `false` if the object has that key already.
    mutating func insert(_ key: String, into object: JSONObject) -> Bool {
        if object.list.count < Self.threshold { return object.place(of: key, after: 0) == nil }
        if keys.isEmpty { keys = Set(object.list.map { Key(text: $0.key) }) }
        return keys.insert(Key(text: key)).inserted
    }
}
