internal import CofferClient
public import CofferCore
public import Foundation

/// How a call uses a file, which selects the code of its error.
enum FileUse {
    case reading, writing

    /// The code for errors of Coffer that have no equivalent in Foundation.
    fileprivate var unknown: CocoaError.Code { self == .reading ? .fileReadUnknown : .fileWriteUnknown }
}

extension CocoaError {
    /// The underlying error of Coffer; `nil` if the error is not from this library.
    public var cofferError: CofferError? { unsafe userInfo[NSUnderlyingErrorKey] as? CofferError }

    /// Converts an error of Coffer to one of Foundation.
    ///
    /// - Parameters:
    ///   - error: The error, which becomes the underlying error.
    ///   - use: What the call did.
    ///   - path: The file or the directory.
    init(_ error: CofferError, _ use: FileUse, at path: String) {
        var info: [String: Any] = [
            NSUnderlyingErrorKey: error, NSFilePathErrorKey: path, NSLocalizedDescriptionKey: error.message,
        ]
        info[NSLocalizedRecoverySuggestionErrorKey] = error.hint
        self.init(error.cocoaCode.map { Code(rawValue: $0) } ?? use.unknown, userInfo: info)
    }

    /// The error for a feature of Foundation that Coffer does not have, so that it is never ignored silently.
    init(unsupported what: String, at path: String) {
        let error = CofferError(.param, "can't \(what) in Coffer", hint: "proto-docs/FOUNDATION.md says what there is")
        self.init(
            .featureUnsupported,
            userInfo: [
                NSUnderlyingErrorKey: error, NSFilePathErrorKey: path, NSLocalizedDescriptionKey: error.message,
            ]
        )
    }
}

extension CofferURL {
    /// Performs an operation on a file or a directory.
    ///
    /// - Parameters:
    ///   - use: What the operation does, for the code of an error.
    ///   - body: Gets a connection and the name.
    /// - Throws: `CocoaError`.
    func perform<Result>(
        _ use: FileUse,
        _ body: (BlockingClient, ItemName) throws(CofferError) -> Result
    ) throws(CocoaError) -> Result {
        do throws(CofferError) {
            let name = try itemName
            return try CofferDaemon.shared.perform { (client) throws(CofferError) in try body(client, name) }
        } catch {
            throw CocoaError(error, use, at: path)
        }
    }
}
