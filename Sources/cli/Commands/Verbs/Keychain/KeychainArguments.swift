internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferWire

/// A class as an argument: `generic-password` for `genericPassword`.
struct ItemClassArgument: ExpressibleByArgument {
    /// What it names.
    let itemClass: ItemClass

    init?(argument: String) {
        guard let match = ItemClass.allCases.first(where: { $0.kebabCase == argument }) else { return nil }
        itemClass = match
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    static var allValueStrings: [String] { ItemClass.allCases.map(\.kebabCase) }
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
/// - Throws: `param` if it was not UTF-8. Swift replaces invalid bytes by U+FFFD, so that two different
///   values would become equal.
func textArgument(_ text: String, of option: String) throws(CofferError) -> String {
    if text.unicodeScalars.contains("\u{FFFD}") {
        throw CofferError(.param, "\(option) \(quotedForDisplay(text)): it is not UTF-8")
    }
    return text
}
