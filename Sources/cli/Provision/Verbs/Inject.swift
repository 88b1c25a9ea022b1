internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Inject: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inject",
        abstract: "Fill secrets into a template.",
        discussion: #"""
            In the template, {{ coffer "NAME" }} stands for a secret without a line end at its end, and \#
            {{ coffer "NAME" "FIELD" }} for one field of it; \{{ coffer is that text itself. All other text stays as it is. \#
            Nothing is written unless all secrets can be read.
            """#
    )

    @Argument(help: "The template; without it, or with '-', standard input.", completion: .file())
    var template: String?

    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let path = template == "-" ? nil : template
        let file = try SecretInput.open(path)
        let name = path ?? "standard input"
        try refuseOverwriting(file, name)
        let template = try Template(try Self.content(of: file, name), named: name)
        let session = try authentication.connect()
        let names = template.places.map(\.reference.name)
        try waiting.untilReadable(names, in: access.group, session.client)
        var reader = SecretReader(session, in: access.group)
        var values: [Secret] = []
        for place in template.places {
            do throws(CofferError) {
                values.append(try reader.text(place.reference))
            } catch {
                throw error.prefixed("\(quotedForDisplay(name)), line \(place.line): ")
            }
        }
        try output.write(try template.text(with: values), "the result")
    }

    private static func content(of file: borrowing OwnedDescriptor, _ name: String) throws(CofferError) -> Secret {
        let limit = Limits.templateBytes
        let content = Secret(try SecretInput.readAll(from: file.number, limit: limit + 1, quotedForDisplay(name)))
        guard content.count <= limit else {
            throw CofferError(.dataTooLarge, "\(quotedForDisplay(name)) has more than \(limit) bytes")
        }
        return content
    }

    /// Refuses a template that the result would replace, under whatever name.
    private func refuseOverwriting(_ file: borrowing OwnedDescriptor, _ name: String) throws(CofferError) {
        do throws(SystemError) {
            let target = output.output.flatMap { $0 == "-" ? nil : $0 }
            guard try file.isFile(at: target, orOpenAs: STDOUT_FILENO) else { return }
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(output.output ?? "standard output"))")
        }
        throw CofferError(
            .param,
            "\(quotedForDisplay(name)) is the template and the output: it would be lost",
            hint: "write to another file"
        )
    }
}
