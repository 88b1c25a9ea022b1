internal import ArgumentParser

/// The option that names the access group of what a verb is about.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The access group; your first one if none is named.", valueName: "group"))
    var group: String?
}
