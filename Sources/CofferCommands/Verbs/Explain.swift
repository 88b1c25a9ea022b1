internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire
internal import Glibc

/// The verb `coffer explain`, with its options.
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say where an item is or would go, and why.",
        discussion: """
            TARGET is the name of an item that is stored, or a file that might be. With facts alone, such as --kind and \
            --size, no target is needed.
            """
    )

    @Argument(help: ArgumentHelp("An item's name, or a file.", valueName: "target"))
    var target: String?

    @OptionGroup var wishes: WishOptions

    @Option(help: ArgumentHelp("The size, in bytes.", valueName: "bytes"))
    var size: Int64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        if let target, let name = try? ItemName(argument: target), let item = try stored(name, client) {
            return try explain(item, name, client)
        }
        guard let target else {
            guard size != nil || wishes.kind != nil else {
                throw CofferError(
                    .param,
                    "nothing to explain",
                    hint: "name an item or a file, or give --kind or --size"
                )
            }
            return try explainFacts(client)
        }
        try explainFile(target, client)
    }

    private func stored(_ name: ItemName, _ client: CofferClient) throws(CofferError) -> ItemInfo? {
        do {
            return try client.show(name)
        } catch  where error.code == .itemNotFound {
            return nil
        }
    }

    private func explain(_ item: ItemInfo, _ name: ItemName, _ client: CofferClient) throws(CofferError) {
        let params = ExplainParameters(name: name, byteCount: size, wishes: wishes.wishes(isPresentedAsFile: false))
        let placement = try client.explain(params)
        let state = try client.status().state
        if format.json {
            var object = placement.json
            object.set("stored", .object(item.json))
            return Output.standardOutput.line(object)
        }
        let output = Output.standardOutput
        output.line("\(name.quoted) is in the \(item.protection.store.words) as \(item.protection.name)")
        output.line(
            item.isReadable
                ? "it can be read now: the vault is \(state.rawValue)"
                : "it can't be read now, the vault is \(state.rawValue); it can after 'coffer unlock'"
        )
        output.line("a put of it now would go to the \(placement.protection.store.words):")
        output.line(placement.explanation)
    }

    private func explainFacts(_ client: CofferClient) throws(CofferError) {
        let params = ExplainParameters(name: nil, byteCount: size, wishes: wishes.wishes(isPresentedAsFile: false))
        report(try client.explain(params), "it")
    }

    private func explainFile(_ path: String, _ client: CofferClient) throws(CofferError) {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            throw CofferError(
                .itemNotFound,
                "there is neither an item nor a file \(quotedForDisplay(path))",
                hint: "'coffer list' shows the items"
            )
        }
        let file = OwnedDescriptor(owning: number)
        let sample: SecretBytes? = try SecretInput.readAll(
            from: file.number,
            limit: Limits.structuredBytes,
            quotedForDisplay(path)
        )
        let byteCount: Int64
        do { byteCount = Int64(try file.status().st_size) } catch { throw error.cofferError("can't look at the file") }
        let params = ExplainParameters(
            name: nil,
            byteCount: size ?? byteCount,
            wishes: wishes.wishes(isPresentedAsFile: true)
        )
        report(try client.explain(params, sample: sample), quotedForDisplay(path))
    }

    private func report(_ placement: Placement, _ subject: String) {
        if format.json { return Output.standardOutput.line(placement.json) }
        Output.standardOutput.line(
            "\(subject) would go to the \(placement.protection.store.words) as \(placement.protection.name)"
        )
        Output.standardOutput.line(placement.explanation)
    }
}
