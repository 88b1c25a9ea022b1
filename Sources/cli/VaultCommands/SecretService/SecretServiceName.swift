internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

/// The name of the Secret Service on the session's bus, by which programs find it.
enum SecretServiceName {
    /// The name itself.
    static let text = "org.freedesktop.secrets"
    /// The program of Coffer that serves it.
    static let program = "coffer-secret-service"
    /// The unit that runs the program.
    static let unit = "coffer-secret-service.service"

    /// Whether a program is that of Coffer, which an upgrade may have replaced meanwhile.
    static func isOurs(_ path: String) -> Bool {
        path.replacing(" (deleted)", with: "").split(separator: "/").last.map(String.init) == program
    }

    /// The process that has the name now; `nil` if none has it.
    ///
    /// Nothing is started to find out: only the bus itself is asked.
    ///
    /// - Throws: `notAvailable` if there is no session bus.
    static func owner() throws(CofferError) -> SecretServiceOwner? {
        guard try ask("NameHasOwner", "s", text) == .bool(true) else { return nil }
        // The owner may have ended meanwhile: then no program has the name.
        guard let number = try? ask("GetConnectionUnixProcessID", "s", text)?.integerValue else { return nil }
        return SecretServiceOwner(processID: number)
    }

    /// Has the bus read anew which programs it may start.
    static func reload() throws(CofferError) { _ = try ask("ReloadConfig") }

    /// Calls a method of the bus itself.
    private static func ask(_ method: String, _ arguments: String...) throws(CofferError) -> JSONValue? {
        let bus = "org.freedesktop.DBus"
        let answer = try ServiceManager.user.askBus(
            ["call", bus, "/org/freedesktop/DBus", bus, method] + arguments
        ) { words in
            CofferError(
                .notAvailable,
                "there is no session bus: \(quotedForDisplay(words))",
                hint: "run it in your session, where $DBUS_SESSION_BUS_ADDRESS or $XDG_RUNTIME_DIR names its bus"
            )
        }
        return answer?.arrayValue?.first
    }
}

/// The process that has the name of the Secret Service.
struct SecretServiceOwner {
    let processID: Int64

    /// The path of its program; for a process that no other may trace, the first word of its command line.
    var program: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(processID)/exe", &bytes, bytes.count)
        if count > 0 { return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        return file("cmdline")?.split(separator: "\0").first.map(String.init)
    }

    /// Whether it is the program of Coffer.
    var isOurs: Bool { program.map(SecretServiceName.isOurs) ?? false }

    /// The unit of the user's manager that runs it.
    private var unit: String? {
        guard let group = file("cgroup"), group.contains("/user@") else { return nil }
        let name = group.split(whereSeparator: \.isNewline).last?.split(separator: "/").last.map(String.init)
        return name.flatMap { $0.hasSuffix(".service") && !$0.hasPrefix("user@") ? $0 : nil }
    }

    /// The command that ends it, as part of a sentence.
    var ending: String {
        unit.map { "'systemctl --user stop \($0)' ends it" } ?? "'kill \(processID)' ends it"
    }

    private func file(_ name: String) -> String? {
        let bytes = try? OwnedDescriptor.content(ofFile: "/proc/\(processID)/\(name)", upTo: Limits.configurationBytes)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
