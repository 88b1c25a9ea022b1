internal import CofferClient
public import CofferCore
public import Foundation

/// How a call touches a file, for the code of its error.
enum FileUse {
    case reading, writing

    /// The code where Coffer's error has none of Foundation's.
    fileprivate var unknown: CocoaError.Code { self == .reading ? .fileReadUnknown : .fileWriteUnknown }
}

extension CocoaError {
    /// What Coffer said, for an error of this library; `nil` for any other.
    public var cofferError: CofferError? { unsafe userInfo[NSUnderlyingErrorKey] as? CofferError }

    /// Tells an error of Coffer in Foundation's words.
    ///
    /// - Parameters:
    ///   - error: What Coffer said, which stays underneath.
    ///   - use: What was being done.
    ///   - path: The file or the directory.
    init(_ error: CofferError, _ use: FileUse, at path: String) {
        var info: [String: Any] = [
            NSUnderlyingErrorKey: error, NSFilePathErrorKey: path, NSLocalizedDescriptionKey: error.message,
        ]
        info[NSLocalizedRecoverySuggestionErrorKey] = error.hint
        self.init(error.cocoaCode.map { Code(rawValue: $0) } ?? use.unknown, userInfo: info)
    }

    /// What Foundation has and Coffer has not: refused, so that nobody believes it was done.
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
    /// Does something with a file or a directory.
    ///
    /// - Parameters:
    ///   - use: What is being done, for the code of an error.
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
