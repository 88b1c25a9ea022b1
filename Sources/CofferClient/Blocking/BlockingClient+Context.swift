public import CofferCore
package import CofferMemory
internal import CofferWire

extension BlockingClient {
    /// Shows something of the person behind this program, for items whose access control asks for it.
    ///
    /// It is good on this connection only, until the vault is locked, and opens nothing by itself.
    ///
    /// - Parameters:
    ///   - factor: What is shown.
    ///   - secret: The passcode, or the application password.
    ///   - reuseSeconds: For how long it can be reused, ``Limits/contextSeconds`` at most; for the next request only by default.
    /// - Throws: `authFailed` where the passcode is wrong, which counts; `notAvailable` where the vault has none.
    package func authenticate(
        _ factor: AuthenticationFactor,
        _ secret: borrowing SecretBytes?,
        reuseSeconds: Int = 0
    ) throws(CofferError) {
        let params = ContextAuthenticateParameters(factor: factor, reuseSeconds: Int64(reuseSeconds))
        _ = try call(.contextAuthenticate, params, payload: secret, returning: Empty.self)
    }

    /// Takes back what was shown on this connection.
    public func endContext() throws(CofferError) {
        _ = try call(.contextEnd, Empty(), returning: Empty.self)
    }
}
