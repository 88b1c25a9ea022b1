package import CofferCore
internal import CofferSystem
internal import CofferTerminal

/// Which repository the user's backups go to: `backup.conf` beside `cofferd.conf`.
package struct BackupSettings: Equatable, Sendable {
    private static let section = "Backup"
    private static let keys = ["Repository", "WarnAfter"]

    /// The place of the repository, if one was made.
    package var repository: String?
    /// The days after which the newest snapshot is too old; `nil` for no warning.
    package var warnAfterDays: Int?

    package init(repository: String? = nil, warnAfterDays: Int? = nil) {
        self.repository = repository
        self.warnAfterDays = warnAfterDays
    }

    /// The path of the file.
    ///
    /// - Throws: `param` if the user has no directory of configurations.
    package static func path() throws(CofferError) -> String {
        guard let home = configurationHome else {
            throw CofferError(.param, "neither $XDG_CONFIG_HOME nor $HOME is set")
        }
        return home + "/coffer/backup.conf"
    }

    /// Reads the file; without one, nothing is set.
    package static func load() throws(CofferError) -> BackupSettings {
        let path = try path()
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try OwnedDescriptor.content(ofFile: path, upTo: Limits.configurationBytes + 1)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
        return try BackupSettings(ConfigurationFile(bytes ?? [], path: path))
    }

    /// Takes the settings from a file.
    package init(_ file: ConfigurationFile) throws(CofferError) {
        for section in file.sections {
            guard section.name == Self.section else {
                throw file.wrong(section.line, "there is no section \(quotedForDisplay(section.name))")
            }
            for entry in section.entries {
                switch entry.key {
                case "Repository": repository = entry.value.isEmpty ? nil : entry.value
                case "WarnAfter":
                    warnAfterDays = try file.value(of: entry) { (text) throws(CofferError) in try Self.days(text) }
                default: throw file.unknown(entry, in: section, known: Self.keys)
                }
            }
        }
    }

    private static func days(_ text: String) throws(CofferError) -> Int? {
        guard let days = Int(text), (0...3650).contains(days) else {
            throw CofferError(.param, "expected a number of days, 0 to 3650", hint: "0 is for no warning")
        }
        return days == 0 ? nil : days
    }

    /// Records the repository for the verbs that need no daemon, or warns that they have to be given it.
    package static func storeOrWarn(_ place: String, warnAfterSeconds: Int64) {
        var settings = (try? load()) ?? BackupSettings()
        settings.repository = place
        settings.warnAfterDays = warnAfterSeconds < 86_400 ? nil : Int(warnAfterSeconds / 86_400)
        do throws(CofferError) { try settings.store() } catch {
            Output.warn(["\(error.message): name the repository by --repository"])
        }
    }

    /// Writes the file.
    package func store() throws(CofferError) {
        let path = try Self.path()
        do throws(SystemError) {
            _ = try Directory(makingPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        } catch {
            throw error.cofferError("can't make the directory of \(quotedForDisplay(path))")
        }
        if let repository, repository.utf8.contains(where: { $0 < 0x20 }) {
            throw CofferError(.param, "the place of a repository can't have control characters")
        }
        let file = try OutputFile(path)
        try file.write("[\(Self.section)]\n")
        if let repository { try file.write("Repository=\(repository)\n") }
        if let warnAfterDays { try file.write("WarnAfter=\(warnAfterDays)\n") }
        try file.finish()
    }
}
