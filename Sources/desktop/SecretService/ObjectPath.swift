/// An object of the service, whose path on the bus names it.
package enum ObjectPath: Hashable {
    case service
    case collection(String)
    /// An object that stands for the collection of an alias.
    case alias(String)
    case item(ItemKey)
    case session(Int)
    case prompt(Int)

    /// The object that a path names; `nil` if none can have it.
    package init?(_ path: String) {
        guard path.hasPrefix(Self.root) else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false)
        let names = parts.dropFirst(2).compactMap { Self.unescaped($0) }
        guard parts.isEmpty || parts[0].isEmpty, names.count == parts.dropFirst(2).count else { return nil }
        switch (parts.dropFirst().first, names.count) {
        case (nil, 0): self = .service
        case ("collection", 1): self = .collection(names[0])
        case ("collection", 2): self = .item(ItemKey(collection: names[0], name: names[1]))
        case ("aliases", 1): self = .alias(names[0])
        case ("session", 1):
            guard let number = Self.number(names[0]) else { return nil }
            self = .session(number)
        case ("prompt", 1):
            guard let number = Self.number(names[0]) else { return nil }
            self = .prompt(number)
        default: return nil
        }
    }

    /// Its path.
    package var path: String {
        switch self {
        case .service: Self.root
        case .collection(let name): "\(Self.root)/collection/\(Self.escaped(name))"
        case .alias(let name): "\(Self.root)/aliases/\(Self.escaped(name))"
        case .item(let key): "\(Self.root)/collection/\(Self.escaped(key.collection))/\(Self.escaped(key.name))"
        case .session(let number): "\(Self.root)/session/\(number)"
        case .prompt(let number): "\(Self.root)/prompt/\(number)"
        }
    }

    static let root = "/org/freedesktop/secrets"
    /// The path that stands for no object.
    static let none = "/"

    // MARK: Names

    /// A name as an element of a path: what is neither a letter nor a digit is `_` and its byte in hexadecimal, as systemd
    /// writes it.
    private static func escaped(_ name: String) -> String {
        var escaped = ""
        for byte in name.utf8 {
            if isPlain(byte) {
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                escaped += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return escaped
    }

    private static func unescaped(_ element: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(element.utf8)[...]
        while let byte = rest.popFirst() {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                guard byte == UInt8(ascii: "_"), rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest.removeFirst(2)
            }
        }
        guard !bytes.isEmpty, let name = String(validating: bytes, as: UTF8.self), escaped(name) == element else {
            return nil
        }
        return name
    }

    /// The number that is written so, and not in another way.
    private static func number(_ name: String) -> Int? {
        guard let number = Int(name), number >= 0, String(number) == name else { return nil }
        return number
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// An item, by its collection and its name there.
package struct ItemKey: Hashable {
    package let collection: String
    package let name: String

    package init(collection: String, name: String) { (self.collection, self.name) = (collection, name) }

    var path: String { ObjectPath.item(self).path }

    /// Whether the bytes are the same: the vault compares names as bytes.
    package static func == (one: ItemKey, other: ItemKey) -> Bool {
        one.collection.utf8.elementsEqual(other.collection.utf8) && one.name.utf8.elementsEqual(other.name.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
