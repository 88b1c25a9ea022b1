package import CofferClient
package import CofferCore
package import CofferMemory
package import CofferWire
import Foundation

// Contents as arrays, which need no protection in tests.

extension BlockingClient {
    /// Connects, and checks each answer against `proto-docs/openrpc.json`.
    package convenience init(checkedAt socketPath: String) throws(CofferError) {
        try self.init(socketPath: socketPath)
        answerInspector = { (method, outcome) throws(CofferError) in try AnswerCheck.check(outcome, to: method) }
    }

    /// Makes a vault with the passcode of the tests, or without one.
    package func makeVault(passcode: String? = DaemonProcess.passcode) throws {
        let typed: SecretBytes? = try passcode.map { try SecretBytes($0.utf8) }
        _ = try initialize(passcode: typed, kdf: .interactive)
    }
}

extension MethodCaller {
    /// Unlocks with the passcode of the tests.
    package func unlock(_ passcode: String = DaemonProcess.passcode) throws {
        let typed: SecretBytes? = try SecretBytes(passcode.utf8)
        try unlock(with: typed)
    }

    /// Stores bytes.
    @discardableResult package func put(
        _ name: String,
        _ content: [UInt8],
        _ describe: (inout PlacementOptions) -> Void = { _ in }
    ) throws -> Placement {
        var wishes = PlacementOptions()
        describe(&wishes)
        let params = ItemPutParameters(name: try ItemName(name), wishes: wishes)
        guard content.count > Limits.framePayloadBytes else {
            let bytes: SecretBytes? = try SecretBytes(content)
            return try call(params, payload: bytes).value
        }
        let file = try TemporaryDirectory()
        let source = FileHandle(forReadingAtPath: try file.write(content, to: "content"))
        let none: SecretBytes? = nil
        return try call(params, payload: none, passing: source?.fileDescriptor).value
    }

    /// Fetches a content that fits into one answer.
    package func get(_ name: String, offset: Int64? = nil, length: Int64? = nil) throws -> [UInt8] {
        let params = ItemGetParameters(name: try ItemName(name), offset: offset, length: length)
        return try call(params).payload.exposeBytes()
    }
}

extension SecretBytes {
    /// Copies bytes that are not secret.
    package init(_ bytes: some Sequence<UInt8>) throws {
        let array = Array(bytes)
        try self.init(copying: array.span.bytes)
    }
}

/// The outcome of an operation, as in the tables of the semantics.
package enum Outcome: Equatable, Sendable {
    case done
    case refused(ErrorCode)

    /// Runs an operation.
    package init(_ body: () throws -> Void) throws {
        do {
            try body()
            self = .done
        } catch let error as CofferError {
            self = .refused(error.code)
        }
    }

    /// The outcome for a locked item.
    package static let locked = Outcome.refused(.interactionNotAllowed)
}
