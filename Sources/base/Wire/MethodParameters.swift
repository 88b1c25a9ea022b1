package import CofferCore

/// The parameters of a method, which name the method and what it answers.
///
/// The types that conform are those of this package: each stands for one method of the protocol.
public protocol MethodParameters: Sendable {
    /// What the method answers.
    associatedtype Result: Sendable
    /// The method, and how its parameters and its result travel.
    static var coding: MethodCoding<Self> { get }
}

/// How the parameters of a method and its result travel.
public struct MethodCoding<Parameters: MethodParameters>: Sendable {
    package let method: Method
    private let write: @Sendable (Parameters) -> JSONObject
    private let read: @Sendable (JSONValue) throws(CofferError) -> Parameters.Result

    package init(_ method: Method) where Parameters: WireObject, Parameters.Result: WireObject {
        self.method = method
        write = { $0.json }
        read = { (json) throws(CofferError) in try Parameters.Result(result: json) }
    }

    /// Writes the parameters of a request.
    package func params(_ parameters: Parameters) -> JSONObject { write(parameters) }

    /// Reads the result of an answer.
    package func result(_ json: JSONValue) throws(CofferError) -> Parameters.Result { try read(json) }
}

extension MethodParameters {
    /// The method.
    package static var method: Method { coding.method }
}
