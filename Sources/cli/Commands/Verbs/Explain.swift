internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say where an item is or would go, why, and who can read it when.",
        discussion: """
            TARGET is the name of an item that is stored, a file that might be, or - for standard input. With facts alone, \
            such as --kind and --size, no target is needed. Nothing is stored, and no rights are checked: --state and \
            --as ask about another state of the vault and another client.
            """
    )

    @Argument(help: ArgumentHelp("An item's name, a file, or -.", valueName: "target"), completion: .itemName)
    var target: String?

    @OptionGroup var wishes: PlacementArguments

    @Option(help: ArgumentHelp("The size, in bytes.", valueName: "bytes"))
    var size: Int64?

    @OptionGroup var situation: SituationOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let pattern = try situation.pattern()
        guard let target else {
            guard size != nil || wishes.kind != nil else {
                throw CofferError(
                    .param,
                    "nothing to explain",
                    hint: "name an item or a file, or give --kind or --size"
                )
            }
            return report(try connection.connect().call(parameters(pattern)).value, "it")
        }
        if target == "-" {
            let sample = try Self.sample(of: STDIN_FILENO, "standard input")
            return report(try connection.connect().call(parameters(pattern), payload: sample).value, "standard input")
        }
        let daemon = try connection.connect()
        if let name = try? ItemName(argument: target) {
            let explanation = try daemon.call(parameters(pattern, name)).value
            if explanation.stored != nil || explanation.isSealed { return report(explanation, name.quoted) }
        }
        try explainFile(target, pattern, daemon)
    }

    private func parameters(
        _ pattern: ClientPattern?,
        _ name: ItemName? = nil,
        ofFile byteCount: Int64? = nil,
        _ options: PlacementOptions? = nil
    ) -> ItemExplainParameters {
        ItemExplainParameters(
            name: name,
            byteCount: size ?? byteCount,
            state: situation.state,
            client: pattern,
            wishes: options ?? wishes.wishes
        )
    }

    /// The bytes by which a put decides: one more than the limit makes it too large for the keychain, whatever
    /// follows.
    private static func sample(of number: Int32, _ subject: String) throws(CofferError) -> Secret {
        Secret(try SecretInput.readAll(from: number, limit: Limits.secretBytes + 1, subject))
    }

    private func explainFile(_ path: String, _ pattern: ClientPattern?, _ daemon: BlockingClient) throws {
        guard let file = try? SecretInput.open(path) else {
            throw CofferError(
                .itemNotFound,
                "there is neither an item nor a file \(quotedForDisplay(path))",
                hint: "'coffer list' shows the items"
            )
        }
        let sample = try Self.sample(of: file.number, quotedForDisplay(path))
        let byteCount: Int64
        do { byteCount = Int64(try file.status().st_size) } catch { throw error.cofferError("can't look at the file") }
        let params = parameters(pattern, ofFile: byteCount, wishes.wishes.presenting(file))
        report(try daemon.call(params, payload: sample).value, quotedForDisplay(path))
    }

    private func report(_ explanation: Explanation, _ subject: String) {
        format.show(
            ExplanationReport(
                explanation: explanation,
                subject: subject,
                client: try? situation.pattern(),
                isSupposed: situation.state != nil
            )
        )
    }
}

/// The placement of an item, and what a client may do with it.
private struct ExplanationReport: Printable {
    let explanation: Explanation
    let subject: String
    let client: ClientPattern?
    /// Whether the state was given as an option.
    let isSupposed: Bool

    var json: JSONObject { explanation.json }

    var text: [Line] {
        let access = explanation.access
        let who = client.map { "as \($0.ruleWords), " } ?? ""
        let when = isSupposed ? "while the vault is" : "now, the vault is"
        var lines = place + [explanation.placement.explanation, "readable: \(access.readable)"]
        lines.append("\(who)\(when) \(access.state.words): \(Self.words(for: access))")
        if [access.read, access.write, access.remove].contains(.no(.interactionNotAllowed)) {
            lines.append("what is locked works after 'coffer unlock'")
        }
        return lines
    }

    private var place: [Line] {
        let target = explanation.placement.protection
        let place = "\(target.store.words), readable \(target.words)"
        if explanation.isSealed {
            return [
                "\(subject) is there, and can be described after 'coffer unlock' only",
                "a put of it now would go to the \(place):",
            ]
        }
        guard let stored = explanation.stored?.protection else { return ["\(subject) would go to the \(place)"] }
        let stand: Line = "\(subject) is in the \(stored.store.words), readable \(stored.words)"
        return explanation.isKept ? [stand] : [stand, "a put of it now would go to the \(place):"]
    }

    private static func words(for access: ItemAccess) -> String {
        [("get", access.read), ("put", access.write), ("remove", access.remove)]
            .compactMap { verb, answer in answer.map { "\(verb) \(words(for: $0))" } }
            .joined(separator: ", ")
    }

    private static func words(for answer: ItemAccess.Answer) -> String {
        switch answer {
        case .yes: "works"
        case .no(.interactionNotAllowed): "is locked"
        case .no(.interactionRequired): "requires authentication"
        case .no(.missingEntitlement): "is not allowed"
        case .no(.notAvailable): "finds no vault that can be used"
        case .no(let code): "fails: \(code.rawValue)"
        }
    }
}
