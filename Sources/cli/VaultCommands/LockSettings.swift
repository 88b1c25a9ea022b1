internal import CofferCore
internal import CofferSystem
internal import CofferTerminal

/// The time after which the user's own daemon locks an unused vault, in `cofferd.conf`.
struct LockSettings {
    /// The times that make sense, in minutes.
    static var minutes: ClosedRange<Int> { 0...Limits.maximumLockDelaySeconds / 60 }
    private static let setting = "LockAfter"

    /// The user's own file.
    let path: String
    /// Whether the file says already when the vault locks.
    let areGiven: Bool
    private let text: String

    /// Reads the file; a user without one has what the machine's file says.
    init() throws(CofferError) {
        guard let home = configurationHome else {
            throw CofferError(.param, "neither $XDG_CONFIG_HOME nor $HOME is set")
        }
        path = home + "/coffer/cofferd.conf"
        var bytes = try Self.content(of: path)
        if bytes == nil { bytes = try Self.content(of: "/etc/coffer/cofferd.conf") }
        let file = try ConfigurationFile(bytes ?? [], path: path)
        text = String(decoding: bytes ?? [], as: UTF8.self)
        areGiven = file.sections.contains { section in
            section.name == "Service" && section.entries.contains { $0.key == Self.setting }
        }
    }

    /// Writes the time into the user's own file.
    ///
    /// - Parameter minutes: The time; 0 for never.
    func write(minutes: Int) throws(CofferError) {
        do throws(SystemError) {
            _ = try Directory(makingPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        } catch {
            throw error.cofferError("can't make the directory of \(quotedForDisplay(path))")
        }
        let file = try OutputFile(path)
        let lineEnd = text.isEmpty || text.hasSuffix("\n") ? "" : "\n"
        try file.write("\(text)\(lineEnd)[Service]\n\(Self.setting)=\(minutes * 60)\n")
        try file.finish()
    }

    private static func content(of path: String) throws(CofferError) -> [UInt8]? {
        do throws(SystemError) {
            return try OwnedDescriptor.content(ofFile: path, upTo: Limits.configurationBytes + 1)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }
}
