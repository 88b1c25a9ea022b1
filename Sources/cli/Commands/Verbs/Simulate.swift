internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show what a client could do with each item in a state of the vault.",
        discussion: """
            Prints one item a line: whether get, put and remove work, the store, when it can be read, \
            and the name. Changes nothing.
            """
    )

    @OptionGroup var situation: SituationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let pattern = try situation.pattern()
        let daemon = try connection.connect()
        var items: [SimulatedItem] = []
        var damagedCount = 0
        var sealedCount = 0
        try forEachPage { (after: String?) throws(CofferError) in
            let params = ItemSimulateParameters(
                state: situation.state,
                client: pattern,
                group: access.group,
                after: after
            )
            let page = try daemon.call(params).value
            items += page.items
            damagedCount += page.damagedCount
            sealedCount += page.sealedCount
            return page.next
        }
        items.sortByName(\.name)
        if !items.isEmpty { format.say(SimulatedItem.head) }
        for item in items { format.show(item) }
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 { throw CofferError.damagedItems(damagedCount) }
    }
}

extension SimulatedItem: Printable {
    private static let width = 9

    fileprivate static var head: Line {
        let columns = ["get", "put", "remove"].map { $0.padded(to: width) }.joined()
        return "\(columns)\("store".padded(to: 10))\("readable".padded(to: 36))name"
    }

    var text: [Line] {
        let answers = [read, write, remove].map { $0.word.padded(to: Self.width) }.joined()
        let place = protection.store.rawValue.padded(to: 10) + protection.words.padded(to: 36)
        return ["\(answers)\(place)\(name: name)"]
    }
}

extension ItemAccess.Answer {
    fileprivate var word: String {
        switch self {
        case .yes: "yes"
        case .no(.interactionNotAllowed): "locked"
        case .no(.interactionRequired): "asks"
        case .no(.missingEntitlement): "denied"
        case .no(.notAvailable): "no vault"
        case .no(let code): code.rawValue
        }
    }
}
