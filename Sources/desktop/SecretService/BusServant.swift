internal import CofferBus
internal import CofferClient
internal import CofferCrypto
internal import CofferSystem

/// Answers the calls to some objects of the bus.
protocol BusServant: AnyObject {
    /// Carries out a call, and answers it, now or later.
    ///
    /// - Throws: What the call is refused with.
    func carryOut(_ call: BusMessage) throws
}

extension BusServant {
    /// Answers a call, if need be with an error.
    ///
    /// - Throws: If the connection is broken.
    func answer(_ call: BusMessage, on bus: BusConnection) throws(SystemError) {
        try refuseFailures(of: call, on: bus) { try carryOut(call) }
    }

    /// Answers a call with the error of what is done for it, if there is one.
    ///
    /// - Throws: If the connection is broken.
    func refuseFailures(of call: BusMessage, on bus: BusConnection, _ body: () throws -> Void) throws(SystemError) {
        do { try body() } catch let failure as BusFailure {
            try bus.refuse(call, failure)
        } catch let error as CofferError {
            try bus.refuse(call, BusFailure(error))
        } catch let error as CryptoError {
            try bus.refuse(call, BusFailure(bus: "InvalidArgs", "the secret can't be opened: \(error)"))
        } catch {
            // The connection itself may be broken: then this answer fails, too.
            let reason = (error as? SystemError)?.reason ?? "\(error)"
            try bus.refuse(call, BusFailure(bus: "Failed", "the call can't be carried out: \(reason)"))
        }
    }
}

extension BusServant {
    /// Answers what D-Bus itself asks of an object with one interface: its description, and its properties.
    ///
    /// - Parameters:
    ///   - interface: The name of the interface.
    ///   - properties: The properties, which can't be set.
    /// - Returns: Whether the call asks for one of these.
    func describe(
        _ call: BusMessage,
        as interface: String,
        _ properties: [(name: String, value: PropertyValue)],
        on bus: BusConnection
    ) throws -> Bool {
        switch (call.interface, call.member) {
        case (Introspection.Interface.introspectable, "Introspect"):
            let document = Introspection.document([interface], children: [])
            try bus.answer(call) { (writer) throws(SystemError) in try writer.text(document) }
        case (Introspection.Interface.properties, "Get"):
            guard try call.text() == interface else { throw BusFailure.unknownProperty }
            let name = try call.text()
            guard let value = properties.first(where: { $0.name == name })?.value else {
                throw BusFailure.unknownProperty
            }
            try bus.answer(call) { (writer) throws(SystemError) in try value.append(to: writer) }
        case (Introspection.Interface.properties, "GetAll"):
            try bus.answer(call) { (writer) throws(SystemError) in try writer.properties(properties) }
        default: return false
        }
        return true
    }
}

extension BusFailure {
    /// The error of the daemon, as clients of the Secret Service expect it.
    init(_ error: CofferError) {
        let text = error.message + (error.hint.map { "; \($0)" } ?? "")
        switch error.code {
        case .interactionNotAllowed: self.init("org.freedesktop.Secret.Error.IsLocked", text)
        case .itemNotFound: self.init("org.freedesktop.Secret.Error.NoSuchObject", text)
        case .param: self.init(bus: "InvalidArgs", text)
        case .dataTooLarge: self.init(bus: "LimitsExceeded", text)
        case .missingEntitlement, .authFailed, .interactionRequired: self.init(bus: "AccessDenied", text)
        default: self.init(bus: "Failed", text)
        }
    }

    static func unknownObject(_ path: String?) -> BusFailure {
        BusFailure(bus: "UnknownObject", "there is no object \(quotedForDisplay(path ?? ""))")
    }

    static func unknownMethod(_ call: BusMessage) -> BusFailure {
        BusFailure(bus: "UnknownMethod", "there is no method \(quotedForDisplay(call.member ?? ""))")
    }

    static let unknownProperty = BusFailure(bus: "UnknownProperty", "there is no such property")
}
