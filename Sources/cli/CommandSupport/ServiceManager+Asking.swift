package import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
package import CofferWire

// What a service manager says, and others on its bus, by `busctl`.

extension ServiceManager {
    /// The name of each service manager on its bus.
    package static let busName = "org.freedesktop.systemd1"

    /// Whether there is a unit of a name, or a template that it would be an instance of; `nil` if nobody says so.
    ///
    /// - Parameter unit: The full name of the unit.
    package func knows(_ unit: String) -> Bool? {
        guard let place = try? place(of: unit) else { return nil }
        let asked = try? ask(["get-property", Self.busName, place, Self.busName + ".Unit", "LoadState"])
        guard case .string(let state)? = asked else { return nil }
        return state != "not-found"
    }

    /// The object of a unit, which is loaded for it if it exists.
    package func place(of unit: String) throws(CofferError) -> String? {
        let found = try ask([
            "call", Self.busName, "/org/freedesktop/systemd1", Self.busName + ".Manager", "LoadUnit", "s", unit,
        ])
        return found?.arrayValue?.first?.stringValue
    }

    /// Sends a query to the service manager.
    ///
    /// - Parameter arguments: Those of `busctl`.
    /// - Throws: `notAvailable` if it does not answer.
    package func ask(_ arguments: [String]) throws(CofferError) -> JSONValue? {
        try askBus(arguments) { words in
            CofferError(
                .notAvailable,
                "the service manager does not say: \(quotedForDisplay(words))",
                hint: "as root, or as the user whose manager it is"
            )
        }
    }

    /// Sends a query to a program on the bus of the service manager, which is that of the session for a user.
    ///
    /// - Parameters:
    ///   - arguments: Those of `busctl`.
    ///   - failure: Makes the error for a program that does not answer, from the last line that `busctl` prints.
    package func askBus(
        _ arguments: [String],
        orElse failure: (_ words: String) -> CofferError
    ) throws(CofferError) -> JSONValue? {
        var answer = [UInt8](repeating: 0, count: Limits.serviceManagerBytes)
        // Outside of a session, as in cron, nothing else says where the user's manager is.
        let place = self == .user ? Self.ownDirectory.map { ["XDG_RUNTIME_DIR=\($0)"] } : nil
        let command = (place ?? []) + ["busctl", "--\(rawValue)", "--json=short"] + arguments
        let outcome = unsafe answer.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try Tool.run("env", command, into: buffer) }
        }
        let told: Tool.Outcome
        do { told = try outcome.get() } catch {
            throw error.cofferError("can't run 'busctl', of the package 'systemd'")
        }
        guard told.isSuccess else { throw failure(told.lastWords) }
        let bytes = Array(answer.prefix(told.count))
        return unsafe (try? JSONValue(parsing: bytes.span.bytes))?.objectValue?["data"]
    }
}
