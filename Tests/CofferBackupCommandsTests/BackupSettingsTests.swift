import CofferBackupCommands
import CofferCore
import Testing

@Suite struct BackupSettingsTests {
    private func settings(_ text: String) throws -> BackupSettings {
        try BackupSettings(ConfigurationFile(text, path: "backup.conf"))
    }

    @Test func `the repository and the days until a warning are read`() throws {
        let settings = try settings("# mine\n[Backup]\nRepository=sftp://me@host/a b\nWarnAfter=7\n")
        #expect(settings == BackupSettings(repository: "sftp://me@host/a b", warnAfterDays: 7))
        #expect(try self.settings("") == BackupSettings())
        #expect(try self.settings("[Backup]\nWarnAfter=0\n") == BackupSettings())
    }

    @Test(arguments: [
        "[Other]\n", "[Backup]\nPassphrase=x\n", "[Backup]\nWarnAfter=soon\n", "[Backup]\nWarnAfter=-1\n",
    ])
    func `what is unknown is refused with its line`(text: String) {
        let error = #expect(throws: CofferError.self) { try settings(text) }
        #expect(error?.code == .param)
        #expect(error?.message.contains("line") == true)
    }
}
