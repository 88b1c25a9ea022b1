internal import ArgumentParser

/// Whether a verb prints text or JSON.
package struct FormatOptions: ParsableArguments {
    @Flag(help: "Print JSON: members may be added, and never change their meaning.")
    package var json = false
}
