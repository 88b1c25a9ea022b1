// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `context.authenticate`.
///
/// Presents a credential on this connection, for items that have an access control. The credential is
/// the payload.
///
/// - Throws: `authFailed`, `decode`, `interactionNotAllowed`, `internal`, `io`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct ContextAuthenticateParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.contextAuthenticate) }
    /// What the payload is.
    ///
    /// Absent means passcode.
    public let factor: AuthenticationFactor?
    /// For how many seconds later requests of the connection can use the credential.
    ///
    /// 0 means the next request only. Absent means 0.
    public let reuseSeconds: Int64?

    /// Makes the parameters.
    public init(factor: AuthenticationFactor? = nil, reuseSeconds: Int64? = nil) {
        self.factor = factor
        self.reuseSeconds = reuseSeconds
    }
}

extension ContextAuthenticateParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        factor = try reader.value("factor", as: AuthenticationFactor.self)
        reuseSeconds = try reader.optionalInteger("reuse", in: 0...Int64(Limits.contextSeconds))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("factor", factor)
        object.append("reuse", reuseSeconds)
        return object
    }
}

/// The parameters of `context.end`.
///
/// Drops the authentication of this connection.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct ContextEndParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.contextEnd) }

    /// Makes the parameters.
    public init() {
    }
}

extension ContextEndParameters: WireObject {
    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}
