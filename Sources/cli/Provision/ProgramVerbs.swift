package import ArgumentParser
package import CofferCommandSupport

/// What the room adds to the command line.
package enum ProgramVerbs {
    /// The verbs that give secrets to programs.
    package static var all: [any ParsableCommand.Type] { [Run.self, Inject.self] }

    /// The programs that are links to `coffer`.
    package static var links: [any Executable.Type] {
        [CargoCredentialProvider.self, DockerCredentialHelper.self, GitCredentialHelper.self]
    }
}
