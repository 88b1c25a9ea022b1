package import ArgumentParser

/// The option that names the access group of what a verb is about.
package struct GroupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The access group (default: your first one).", valueName: "group"),
        completion: .group
    )
    package var group: String?

    package init() {}
}
