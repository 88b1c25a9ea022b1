internal import ArgumentParser
internal import CofferProvision
internal import CofferCommandSupport

/// The programs that the binary is: `coffer`, and those that are links to it.
package enum Executables {
    /// Runs the program that has the name of this process, and exits with the code of the result.
    package static func run() -> Never {
        let name = CommandLine.arguments.first.flatMap { $0.split(separator: "/").last } ?? ""
        let program = ProgramVerbs.links.first { $0.configuration.commandName.map { $0 == name } ?? false }
        (program ?? CofferCommand.self).run()
    }
}
