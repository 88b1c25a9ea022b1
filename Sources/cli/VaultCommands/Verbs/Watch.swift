internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of the vault, and then each event as it comes.",
        discussion: "Goes on until it is interrupted, or the daemon goes."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions
    @Flag(help: "Print the changes of items as well.")
    var items = false
    @Flag(help: "Print wrong passcodes and recovery keys as well.")
    var attempts = false
    @Option(
        help: ArgumentHelp("The access group of the items (default: yours).", valueName: "group"),
        completion: .group
    )
    var group: String?
    @Flag(help: "Print nothing: start and stop coffer-unlocked.target and coffer-first-unlock.target with the state.")
    var units = false

    func validate() throws {
        let printing: KeyValuePairs = [
            "--items": items, "--attempts": attempts, "--group": group != nil, "--json": format.json,
        ]
        for (option, isGiven) in printing { try exclude(["--units": units], [option: isGiven]) }
    }

    func run() throws {
        if units { try followUnits() }
        let client = try connection.connect()
        // The subscription comes first, so that no event is lost while the state is read.
        var selection: EventSelection = []
        if items { selection.insert(.items) }
        if attempts { selection.insert(.attempts) }
        try client.watch(selection, in: group)
        let status = try client.status()
        var first: JSONObject = ["state": .string(status.state.rawValue)]
        if status.sealedCount > 0 { first.set("sealedCount", .integer(Int64(status.sealedCount))) }
        format.show(first, status.state.words)
        if items { Output.warn(ofSealed: status.sealedCount) }
        while Output.failure == nil { format.show(EventReport(event: try client.nextEvent())) }
    }

    /// Keeps the units as the state is, which is read again after each event: some may have been missed.
    private func followUnits() throws(CofferError) -> Never {
        let targets = try LockTargets()
        let client = try connection.connect()
        try client.watch([])
        while true {
            try targets.follow(try client.status().state)
            _ = try client.nextEvent()
        }
    }
}

/// One event, as a line.
private struct EventReport: Printable {
    let event: VaultEvent

    var json: JSONObject {
        var object: JSONObject = ["event": .string(event.notification.rawValue)]
        for member in event.json.members { object.set(member.key, member.value) }
        return object
    }

    var text: [Line] {
        switch event {
        case .protectedDataWillBecomeUnavailable: ["locking"]
        case .protectedDataDidBecomeUnavailable: ["locked"]
        case .protectedDataDidBecomeAvailable: ["unlocked"]
        case .inactiveDataDidBecomeUnavailable: ["inactive keys wiped: what is readable until inactive can't be read"]
        case .firstUnlockDataDidBecomeUnavailable: ["locked as after a start: only what is always readable can be read"]
        case .itemsDidChange(let changes): changes.map { "\($0.line)" }
        case .attemptDidFail(let attempts): ["\(attempts.line)"]
        // Not subscribed here: 'coffer audit --follow' shows them.
        case .auditDidGrow: []
        case .eventsMissed(let count): ["\(counted(count, "event was", "events were")) missed"]
        }
    }
}

extension ItemChange {
    fileprivate var line: String {
        let what =
            name.map { quotedForDisplay($0) }
            ?? [itemClass?.rawValue, reference?.hexadecimal]
            .compactMap(\.self).joined(separator: " ")
        let former = formerName.map { " from \(quotedForDisplay($0))" } ?? ""
        return "\(kind.rawValue) \(store.rawValue) \(what)\(former)"
    }
}

extension FailedAttempts {
    fileprivate var line: String {
        let next = isEnded ? ", and no other is accepted" : retrySeconds.map { ", the next one in \($0) s" } ?? ""
        return (count == 1 ? "1 wrong passcode" : "\(count) wrong passcodes") + " since the last right one\(next)"
    }
}
