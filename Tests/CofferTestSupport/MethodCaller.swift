package import CofferClient
package import CofferCore
package import CofferMemory
package import CofferWire

/// A client of a running daemon, or a vault without one: both carry out the methods of the protocol.
package protocol MethodCaller {
    /// Calls a method with copies of a payload and a descriptor.
    @discardableResult
    func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: borrowing SecretBytes?,
        passing descriptor: Int32?
    ) throws(CofferError) -> Returned<Parameters.Result>
}

extension MethodCaller {
    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: borrowing SecretBytes?
    ) throws(CofferError) -> Returned<Parameters.Result> {
        try call(params, payload: payload, passing: nil)
    }

    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters
    ) throws(CofferError) -> Returned<Parameters.Result> {
        let none: SecretBytes? = nil
        return try call(params, payload: none)
    }
}

extension BlockingClient: MethodCaller {
    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: borrowing SecretBytes?,
        passing descriptor: Int32?
    ) throws(CofferError) -> Returned<Parameters.Result> {
        try call(params, payload: try Secret(copying: payload), passing: descriptor)
    }
}
