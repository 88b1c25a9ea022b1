internal import CofferDatabase

extension Catalog {
    /// What is stored for the vault as a whole, sealed.
    enum Setting: String {
        case backup, backupKey, defaultClasses, keyslots
    }

    /// The value of a setting; `nil` if there is none.
    func setting(_ setting: Setting) throws -> [UInt8]? {
        try connection.row("SELECT value FROM catalog_settings WHERE name = ?", .text(setting.rawValue)) {
            try $0.blob(0)
        }
    }

    /// Stores a setting, within the open transaction.
    func store(_ value: [UInt8], as setting: Setting) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO catalog_settings (name, value) VALUES (?, ?)",
            .text(setting.rawValue),
            .blob(value)
        )
    }
}
