package import CofferCore

/// The parameters of `context.authenticate`, as they travel.
///
/// What is shown is the payload.
package struct ContextParameters: WireObject {
    /// What the payload is; the passcode if nothing is said.
    package let factor: AuthenticationFactor?
    /// For how many seconds it can be reused on the connection; for the next request only if nothing is said.
    package let reuseSeconds: Int64?

    package init(factor: AuthenticationFactor? = nil, reuseSeconds: Int64? = nil) {
        self.factor = factor
        self.reuseSeconds = reuseSeconds
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        factor = try reader.value("factor", as: AuthenticationFactor.self)
        reuseSeconds = try reader.optionalInteger("reuse", in: 0...Int64(Limits.contextSeconds))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("factor", factor?.rawValue)
        object.set("reuse", reuseSeconds)
        return object
    }
}

extension ParameterReader {
    /// Reads an access control; it may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - mayBeEmpty: Whether an empty array takes one away.
    mutating func accessControl(
        _ key: String,
        mayBeEmpty: Bool = false
    ) throws(CofferError) -> (value: AccessControl?, isEmpty: Bool) {
        guard let value = take(key) else { return (nil, false) }
        let words = value.arrayValue?.map { element in
            AccessControl.Flag.allCases.first { flag in
                element.stringValue.map(flag.rawValue.hasSameBytes(as:)) ?? false
            }
        }
        let flags = words?.compactMap { $0 } ?? []
        guard let words, flags.count == words.count, Set(flags).count == flags.count else {
            let names = AccessControl.Flag.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw Self.mismatch(key, "an array of \(names), each once at most")
        }
        if words.isEmpty && mayBeEmpty { return (nil, true) }
        return (try AccessControl(Set(flags)), false)
    }
}

extension JSONObject {
    /// Sets a member to the words of an access control, in the order of their declaration.
    mutating func set(_ key: String, _ control: AccessControl?) {
        guard let control else { return }
        let words = AccessControl.Flag.allCases.filter(control.flags.contains)
        set(key, .array(words.map { .string($0.rawValue) }))
    }
}
