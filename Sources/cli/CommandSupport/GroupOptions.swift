package import ArgumentParser

/// The option that names the access group of what a verb is about.
package struct GroupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Whose items: an access group (default: your own).", valueName: "group"),
        completion: .group
    )
    package var group: String?

    package init() {}
}
