// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `context.authenticate`.
///
/// Presents a credential on this connection, for items that have an access control. The credential is
/// the payload.
package struct ContextAuthenticateParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .contextAuthenticate }
    /// What the payload is.
    ///
    /// Absent means passcode.
    package let factor: AuthenticationFactor?
    /// For how many seconds later requests of the connection can use the credential.
    ///
    /// 0 means the next request only. Absent means 0.
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
        object.append("factor", factor)
        object.append("reuse", reuseSeconds)
        return object
    }
}

/// The parameters of `context.end`.
///
/// Drops what was presented on this connection.
package struct ContextEndParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .contextEnd }

    package init() {
    }

    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}
