internal import CofferBus
internal import CofferSystem

/// A value of a property, or the result of a prompt.
enum PropertyValue: Equatable {
    case text(String)
    case flag(Bool)
    case number(UInt32)
    /// Seconds since 1970.
    case time(UInt64)
    case objectPath(String)
    case objectPaths([String])
    case texts([String: String])

    private var type: String {
        switch self {
        case .text: "s"
        case .flag: "b"
        case .number: "u"
        case .time: "t"
        case .objectPath: "o"
        case .objectPaths: "ao"
        case .texts: "a{ss}"
        }
    }

    /// Reads it from a variant; `nil` if that is of another type, and passed over.
    init?(readFrom message: BusMessage) throws(BusFailure) {
        guard let type = message.variantType, ["s", "b", "t", "ao", "a{ss}"].contains(type) else {
            try message.skip("v")
            return nil
        }
        try message.enterVariant(of: type)
        switch type {
        case "s": self = .text(try message.text())
        case "b": self = .flag(try message.flag())
        case "t": self = .time(try message.longNumber())
        case "ao": self = .objectPaths(try message.objectPaths())
        default: self = .texts(try message.texts())
        }
        try message.leave()
    }

    /// Appends it as a variant.
    func append(to writer: BusWriter) throws(SystemError) {
        try writer.openVariant(of: type)
        switch self {
        case .text(let text): try writer.text(text)
        case .flag(let flag): try writer.flag(flag)
        case .number(let number): try writer.number(number)
        case .time(let seconds): try writer.longNumber(seconds)
        case .objectPath(let path): try writer.objectPath(path)
        case .objectPaths(let paths): try writer.objectPaths(paths)
        case .texts(let texts): try writer.texts(texts)
        }
        try writer.close()
    }
}

extension BusWriter {
    /// Appends properties with their names.
    func properties(_ properties: [(name: String, value: PropertyValue)]) throws(SystemError) {
        try openArray(of: "{sv}")
        for (name, value) in properties {
            try openEntry(of: "sv")
            try text(name)
            try value.append(to: self)
            try close()
        }
        try close()
    }
}

extension BusConnection {
    /// Emits the signal that properties of an object have changed.
    ///
    /// - Parameters:
    ///   - changed: The properties with their new values.
    ///   - invalidated: A property that has changed, whose value programs ask for when they need it.
    ///   - listener: The only client that gets the signal; `nil` for all.
    func emitChange(
        of interface: String,
        at path: String,
        _ changed: [(name: String, value: PropertyValue)],
        invalidated: String? = nil,
        to listener: String? = nil
    ) throws(SystemError) {
        try emit("PropertiesChanged", of: Introspection.Interface.properties, at: path, to: listener) {
            (writer) throws(SystemError) in
            try writer.text(interface)
            try writer.properties(changed)
            try writer.openArray(of: "s")
            if let invalidated { try writer.text(invalidated) }
            try writer.close()
        }
    }
}
