internal import ArgumentParser
package import CofferClient

/// The option of verbs that read: to wait for what is locked.
package struct WaitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("If it is locked, wait at most this time for an unlock.", valueName: "seconds"))
    var wait: SecondsArgument?

    /// Waits until a named item can be read.
    ///
    /// The caller reads once, afterwards: what was written to a pipe before a lock could not be taken back.
    package func untilReadable(_ name: ItemName, in group: String?, _ client: BlockingClient) throws(CofferError) {
        try untilReadable([name], in: group, client)
    }

    /// Waits until several items can be read.
    package func untilReadable(_ names: [ItemName], in group: String?, _ client: BlockingClient) throws(CofferError) {
        guard let wait else { return }
        let waiting = Waiting(client, for: .seconds(wait.count))
        for name in names {
            try waiting.until("\(name.quoted) is locked") { () throws(CofferError) in
                try client.canRead(name, in: group)
            }
        }
    }

    /// Repeats a request that leaves nothing behind if it is refused, as long as what it reads is locked.
    package func repeating<Result>(
        on client: BlockingClient,
        _ request: () throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        guard let wait else { return try request() }
        var result: Result?
        try Waiting(client, for: .seconds(wait.count)).until("it is locked") { () throws(CofferError) in
            do throws(CofferError) {
                result = try request()
                return true
            } catch {
                guard error.code == .interactionNotAllowed else { throw error }
                return false
            }
        }
        guard let result else { throw CofferError(.internal, "the wait ended without a result") }
        return result
    }
}

extension BlockingClient {
    /// Whether the key of an item is in memory.
    package func canRead(_ name: ItemName, in group: String?) throws(CofferError) -> Bool {
        do throws(CofferError) {
            return try call(ItemShowParameters(name: name, group: group)).value.isReadable
        } catch {
            // Before the first unlock, not even its name can be read.
            guard error.code == .interactionNotAllowed else { throw error }
            return false
        }
    }
}

/// Waits for the events of a vault.
package struct Waiting {
    private let client: BlockingClient
    private let end: ContinuousClock.Instant?

    /// - Parameter time: `nil` for ever.
    package init(_ client: BlockingClient, for time: Duration?) {
        self.client = client
        end = time.map { .now + $0 }
    }

    /// Subscribes to what the wait depends on.
    ///
    /// Whom only an access rule lets in gets no events of items, but those of the lock.
    private func subscribe(_ items: GroupOptions?) throws(CofferError) {
        guard let items else { return try client.watch([]) }
        do throws(CofferError) { try client.watch(.items, in: items.group) } catch {
            guard error.code == .missingEntitlement else { throw error }
            try client.watch([])
        }
    }

    /// Waits until something holds, which is checked now and after each event.
    ///
    /// - Parameters:
    ///   - what: What does not hold, for the error text.
    ///   - items: The group of the items on which it depends; `nil` if it depends on none.
    ///   - holds: Whether it does; what it throws ends the wait.
    /// - Throws: `interactionNotAllowed` if the time is over.
    package func until(
        _ what: String,
        itemsOf items: GroupOptions? = nil,
        _ holds: () throws(CofferError) -> Bool
    ) throws(CofferError) {
        if try holds() { return }
        // The subscription comes before the next check, so that no event is lost between.
        try subscribe(items)
        while try !holds() {
            guard try client.nextEvent(until: end) != nil else {
                throw CofferError(
                    .interactionNotAllowed,
                    "the time to wait is over, and \(what)",
                    hint: "run 'coffer unlock', or wait longer"
                )
            }
        }
    }
}
