internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import CofferWire

/// The credentials that a unit loads, according to its service manager.
struct UnitCredentials {
    /// The ID of a credential and the path of its source.
    struct Source {
        let id: String
        let path: String
    }

    private static let answerBytes = 256 << 10
    static let manager = "org.freedesktop.systemd1"

    /// Credentials that are loaded unencrypted.
    let loaded: [Source]

    /// Queries the service manager.
    ///
    /// - Parameters:
    ///   - unit: The full name of the unit.
    ///   - isOwners: Whether it belongs to the user's service manager.
    /// - Throws: `itemNotFound` if the unit does not exist; `notAvailable` if there is no service manager.
    init(of unit: String, isOwners: Bool) throws(CofferError) {
        let bus = isOwners ? "--user" : "--system"
        let found = try Self.ask([
            bus, "call", Self.manager, "/org/freedesktop/systemd1", Self.manager + ".Manager", "LoadUnit", "s", unit,
        ])
        guard let place = found?.arrayValue?.first?.stringValue else { throw Self.isNotUnderstood }
        let get = [bus, "get-property", Self.manager, place]
        guard try Self.ask(get + [Self.manager + ".Unit", "LoadState"]) == .string("loaded") else {
            throw CofferError(
                .itemNotFound,
                "there is no unit \(quotedForDisplay(unit))",
                hint: isOwners ? nil : "one of your own service manager wants --user"
            )
        }
        let sources = try Self.ask(get + [Self.manager + ".Service", "LoadCredential"])
        guard let pairs = sources?.arrayValue else { throw Self.isNotUnderstood }
        loaded = pairs.compactMap { pair in
            guard let parts = pair.arrayValue, parts.count == 2, let id = parts[0].stringValue,
                let path = parts[1].stringValue
            else { return nil }
            return Source(id: id, path: path)
        }
    }

    private static let isNotUnderstood = CofferError(.protocolViolation, "what 'busctl' has answered is not understood")

    /// Sends a query to the service manager.
    static func ask(_ arguments: [String]) throws(CofferError) -> JSONValue? {
        var answer = [UInt8](repeating: 0, count: answerBytes)
        let outcome = unsafe answer.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try Tool.run("busctl", ["--json=short"] + arguments, into: buffer)
            }
        }
        let told: Tool.Outcome
        do { told = try outcome.get() } catch {
            throw error.cofferError("can't run 'busctl', of the package 'systemd'")
        }
        guard told.isSuccess else {
            throw CofferError(
                .notAvailable,
                "the service manager does not say: \(quotedForDisplay(told.lastWords))",
                hint: "as root, or as the user whose manager it is"
            )
        }
        let bytes = Array(answer.prefix(told.count))
        return unsafe (try? JSONValue(parsing: bytes.span.bytes))?.objectValue?["data"]
    }
}
