internal import CofferCore
internal import CofferMemory

/// Appends members whose keys the object does not have. A member without a value is omitted.
extension JSONObject {
    mutating func append(_ key: String, _ value: JSONValue) { append(uniqueKey: key, value) }

    /// Appends the members of a part.
    mutating func append(_ part: JSONObject) {
        for member in part.list { append(uniqueKey: member.key, member.value) }
    }

    mutating func append(_ key: String, _ value: String?) {
        if let value { append(uniqueKey: key, .string(value)) }
    }

    mutating func append(_ key: String, _ value: Bool?) {
        if let value { append(uniqueKey: key, .bool(value)) }
    }

    mutating func append<Value: FixedWidthInteger>(_ key: String, _ value: Value?) {
        if let value { append(uniqueKey: key, .integer(Int64(value))) }
    }

    mutating func append<Value: RawRepresentable<String>>(_ key: String, _ value: Value?) {
        append(key, value?.rawValue)
    }

    mutating func append<Value: WireObject>(_ key: String, _ value: Value?) {
        if let value { append(uniqueKey: key, .object(value.json)) }
    }

    mutating func append<Value: WireObject>(_ key: String, _ values: [Value]) {
        append(uniqueKey: key, .array(values.map { .object($0.json) }))
    }

    mutating func append(_ key: String, _ values: [String]) {
        append(uniqueKey: key, .array(values.map { .string($0) }))
    }

    mutating func append(_ key: String, _ values: [Int64]) {
        append(uniqueKey: key, .array(values.map { .integer($0) }))
    }

    mutating func append(_ key: String, _ numbers: Set<UInt32>) { append(key, numbers.sorted().map { Int64($0) }) }

    mutating func append(_ key: String, _ bytes: [UInt8]) { append(key, Base64.encode(bytes)) }

    mutating func append(_ key: String, _ name: ItemName?) { append(key, name?.path) }

    mutating func append(_ key: String, _ pattern: NamePattern?) { append(key, pattern?.text) }

    mutating func append(_ key: String, _ client: ClientPattern?) { append(key, client?.description) }

    mutating func append(_ key: String, _ clients: [ClientPattern]) { append(key, clients.map(\.description)) }

    mutating func append(_ key: String, _ id: ItemID?) { append(key, id?.hexadecimal) }

    mutating func append(_ key: String, _ request: RequestID?) {
        if let request { append(uniqueKey: key, request.json) }
    }

    mutating func append(_ key: String, _ answer: ItemAccess.Answer?) { append(key, answer?.text) }

    mutating func append(_ key: String, _ protection: Protection?) { append(key, protection?.name) }

    /// Appends words in the order of their declaration.
    mutating func append<Word: RawRepresentable<String> & CaseIterable & Hashable>(_ key: String, _ words: Set<Word>) {
        append(key, Word.allCases.filter(words.contains).map(\.rawValue))
    }

    mutating func append(_ key: String, _ control: AccessControl?) {
        if let control { append(key, control.flags) }
    }

    mutating func append(_ key: String, _ limit: KeychainLimit) {
        switch limit {
        case .count(let count): append(key, count)
        case .all: append(key, "all")
        }
    }

    mutating func append(_ key: String, _ attributes: [KeychainAttribute: AttributeValue]?) {
        if let attributes { append(uniqueKey: key, .object(JSONObject(attributes: attributes))) }
    }

    mutating func append(_ key: String, _ texts: [KeychainAttribute: String]) {
        append(key, texts.mapValues { AttributeValue.text($0) })
    }

    mutating func append(_ key: String, _ user: [AttributeName: String]?) {
        if let user { append(uniqueKey: key, .object(JSONObject(user: user))) }
    }
}
