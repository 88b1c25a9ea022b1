internal import ArgumentParser
internal import CofferCore
internal import CofferWire
internal import Glibc

/// A class as an argument: `generic-password` for `genericPassword`.
struct ItemClassArgument: ExpressibleByArgument {
    /// What it names.
    let itemClass: ItemClass

    init?(argument: String) {
        guard let match = ItemClass.allCases.first(where: { $0.kebabCase == argument }) else { return nil }
        itemClass = match
    }

    static var allValueStrings: [String] { ItemClass.allCases.map(\.kebabCase) }
}

extension ItemClass {
    /// The name on the command line.
    var kebabCase: String {
        rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
    }
}

/// The kind of a pair of keys as an argument.
struct KeyTypeArgument: ExpressibleByArgument {
    /// What it names.
    let keyType: KeyType

    init?(argument: String) {
        guard let match = KeyType(rawValue: argument) else { return nil }
        keyType = match
    }

    static var allValueStrings: [String] { KeyType.allCases.map(\.rawValue) }
}

/// An order as an argument.
struct OrderArgument: ExpressibleByArgument {
    /// What it names.
    let order: KeychainOrder

    init?(argument: String) {
        guard let match = KeychainOrder(rawValue: argument) else { return nil }
        order = match
    }

    static var allValueStrings: [String] { KeychainOrder.allCases.map(\.rawValue) }
}

/// `NAME=VALUE` as an argument: the name ends at the first `=`.
struct PairArgument: ExpressibleByArgument {
    /// The part before it.
    let name: String
    /// The part behind it.
    let value: String

    init?(argument: String) {
        guard let place = argument.utf8.firstIndex(of: UInt8(ascii: "=")), place != argument.startIndex else {
            return nil
        }
        name = String(argument[..<place])
        value = String(argument[argument.utf8.index(after: place)...])
    }

    /// The attribute that the name names, and its value.
    func attribute(_ option: String) throws(CofferError) -> (KeychainAttribute, AttributeValue) {
        let attribute = try KeychainAttribute(argument: name, of: option)
        return (attribute, try attribute.value(argument: value, of: option))
    }
}

extension KeychainAttribute {
    /// Finds an attribute by its name in an option.
    init(argument name: String, of option: String) throws(CofferError) {
        guard let attribute = KeychainAttribute(rawValue: name) else {
            throw CofferError(
                .param,
                "\(option) \(quotedForDisplay(name)): there is no such attribute",
                hint: "one of your own is given by --attribute NAME=VALUE; the others are "
                    + Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            )
        }
        self = attribute
    }

    /// Reads a value from the command line: bytes as base64, a date as ``Moment`` has it.
    fileprivate func value(argument text: String, of option: String) throws(CofferError) -> AttributeValue {
        let value: AttributeValue?
        let expectation: String
        switch form {
        case .text: (value, expectation) = (.text(try textArgument(text, of: option)), "text")
        case .integer: (value, expectation) = (Int64(text).map { .integer($0) }, "a whole number")
        case .bool: (value, expectation) = (Bool(text).map { .bool($0) }, "'true' or 'false'")
        case .bytes: (value, expectation) = (Base64.decode(text).map { .bytes($0) }, "base64")
        case .date: (value, expectation) = (.date(try Moment.milliseconds(text, of: option)), "a date")
        }
        guard let value else {
            throw CofferError(.param, "\(option) \(quotedForDisplay("\(rawValue)=\(text)")): expected \(expectation)")
        }
        return value
    }
}

/// A text from the command line.
///
/// - Throws: `param` where it was not UTF-8: Swift has put U+FFFD in the place of what it could not read, and two values
///   would become one.
func textArgument(_ text: String, of option: String) throws(CofferError) -> String {
    if text.unicodeScalars.contains("\u{FFFD}") {
        throw CofferError(.param, "\(option) \(quotedForDisplay(text)): it is not UTF-8")
    }
    return text
}

/// Points in time on the command line.
enum Moment {
    /// Reads `2027-01-31`, `2027-01-31T12:00:00Z`, or a time from now such as `30d`.
    ///
    /// - Returns: Milliseconds since 1970; a day without a time of day begins at midnight, UTC.
    /// - Throws: `param` for anything else.
    static func milliseconds(_ text: String, of option: String) throws(CofferError) -> Int64 {
        if let seconds = secondsFromNow(text) {
            return now + seconds * 1000
        }
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})Z)?/
        if let match = text.wholeMatch(of: form) {
            let parts = [match.1, match.2, match.3, match.4 ?? "0", match.5 ?? "0", match.6 ?? "0"].compactMap {
                Int32($0)
            }
            if let seconds = secondsSince1970(parts) { return seconds * 1000 }
        }
        throw CofferError(
            .param,
            "\(option) \(quotedForDisplay(text)): expected a date or a time from now",
            hint: "such as 2027-01-31, 2027-01-31T12:00:00Z, 90m, 12h, 30d or 4w"
        )
    }

    /// The time of the wall clock, in milliseconds since 1970.
    private static var now: Int64 { Int64(time(nil)) * 1000 }

    private static func secondsFromNow(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...99_999).contains(count)
        else { return nil }
        return count * unit
    }

    /// - Returns: `nil` where there is no such day or time.
    private static func secondsSince1970(_ parts: [Int32]) -> Int64? {
        var fields = unsafe tm()
        unsafe fields.tm_year = parts[0] - 1900
        unsafe fields.tm_mon = parts[1] - 1
        unsafe fields.tm_mday = parts[2]
        unsafe fields.tm_hour = parts[3]
        unsafe fields.tm_min = parts[4]
        unsafe fields.tm_sec = parts[5]
        let seconds = unsafe timegm(&fields)
        // What does not exist has been carried over to what does.
        let found = unsafe [
            fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec,
        ]
        return found == parts ? Int64(seconds) : nil
    }
}
