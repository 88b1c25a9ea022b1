internal import ArgumentParser

struct File: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Files and directories of the file store.",
        subcommands: [
            CreateFile.self, ReadFile.self, WriteFile.self, AppendToFile.self, TruncateFile.self, ShowFile.self,
            ListFiles.self, MakeDirectory.self, RemoveFiles.self, MoveFile.self, ProtectFiles.self, LinkFile.self,
            FileAttribute.self, FileVersionsVerb.self, RestoreFile.self,
        ]
    )
}
