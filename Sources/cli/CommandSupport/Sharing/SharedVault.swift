package import CofferClient
internal import CofferCore
internal import CofferSystem
package import CofferTerminal
internal import Glibc

/// The machine's vault, by which users let each other read items.
package struct SharedVault {
    package let client: BlockingClient

    /// Connects to the machine's vault.
    ///
    /// - Throws: `notAvailable` if there is none; `missingEntitlement` if it does not admit the user, who then neither
    ///   shares anything nor has anything shared with it.
    package init(_ options: ConnectionOptions) throws(CofferError) {
        do throws(CofferError) {
            client = try options.connectToMachine()
        } catch {
            throw CofferError(
                .notAvailable,
                "users share by the machine's vault, and its daemon can't be reached",
                hint: "'sudo systemctl start cofferd.socket' starts it; the package cofferd has it"
            )
        }
        guard try client.status().state != .noVault else {
            throw CofferError(
                .notAvailable,
                "users share by the machine's vault, and there is none yet",
                hint: "'sudo coffer init --machine' makes it"
            )
        }
    }

    /// Makes requests whose errors say what a user can do about them.
    package func request<Result>(
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        do throws(CofferError) { return try body(client) } catch { throw error.explainedForSharing() }
    }

    /// What the user shares, and what is shared with it.
    package func items() throws(CofferError) -> [SharedItem] { try ownItems() + listed(.from) }

    /// What the user shares: nothing, if it may not.
    package func ownItems() throws(CofferError) -> [SharedItem] {
        do throws(CofferError) {
            return try listed(.to)
        } catch {
            guard error.code == .missingEntitlement else { throw error }
            return []
        }
    }

    private func listed(_ direction: SharedItem.Direction) throws(CofferError) -> [SharedItem] {
        var items: [SharedItem] = []
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(AccessListParameters(after: after, isOfCaller: direction == .from)).value
            items += page.rules.compactMap { SharedItem($0, direction) }
            return page.next
        }
        return items
    }

    /// The number of the user's shares; `nil` where there is no machine's vault, or it does not say.
    package static func shareCount(_ options: ConnectionOptions) -> Int? {
        guard options.isDefault, let items = try? SharedVault(options).ownItems() else { return nil }
        return items.count
    }

    /// The command by which the user reads what others share under a name; `nil` if there is nothing of that name.
    ///
    /// It is for a hint: what fails on the way to it is not reported.
    package static func way(to name: ItemName, _ options: ConnectionOptions) -> String? {
        guard options.isDefault, let vault = try? SharedVault(options), let items = try? vault.items() else {
            return nil
        }
        let sharers = items.filter { $0.direction == .from && $0.name == name.path }.map(\.userName)
        guard let sharer = sharers.first else { return nil }
        return "\(sharer) shares it with you: add '--from \(sharer)'"
    }
}

/// An item that a user lets another one read, by a rule of the machine's vault.
package struct SharedItem: Printable {
    package enum Direction: String {
        case to, from
    }

    package let rule: Int64
    package let direction: Direction
    /// The other user.
    package let userID: UInt32
    /// `nil` before the first unlock of the machine's vault.
    package let name: String?

    /// - Returns: `nil` if the rule is none by which a user shares.
    init?(_ rule: AccessRule, _ direction: Direction) {
        guard case .user(let reader) = rule.client, rule.kind == .allow, rule.verbs == [.read] else { return nil }
        guard let sharer = AccessGroup.userID(of: rule.group) else { return nil }
        // The administrator's list has what others share, too.
        if direction == .to && sharer != geteuid() { return nil }
        self.rule = rule.number
        self.direction = direction
        userID = direction == .to ? reader : sharer
        name = rule.name?.path ?? rule.pattern?.text
    }

    package var userName: String { UserDatabase.userName(of: userID) ?? "\(userID)" }

    package var json: JSONObject {
        var object: JSONObject = ["direction": .string(direction.rawValue), "userID": .integer(Int64(userID))]
        object.set("user", .string(userName))
        if let name { object.set("name", .string(name)) }
        object.set("rule", .integer(rule))
        return object
    }

    package var text: [Line] { [row.joined(separator: "  ")] }

    package static let columns = [
        Table.Column(title: "with"), Table.Column(title: "user"), Table.Column(title: "item"),
    ]

    /// The item in the columns of a listing.
    package var row: [Line] {
        [
            direction == .to ? "to" : "from", "\(name: userName)",
            name.map { "\(name: $0)" } ?? "(name after 'sudo coffer unlock')",
        ]
    }
}

extension CofferError {
    /// The error of a request to the machine's vault, with what its users can do about it.
    package func explainedForSharing() -> CofferError {
        switch code {
        case .interactionNotAllowed:
            CofferError(code, "the machine's vault is locked", hint: "'sudo coffer unlock' unlocks it")
        case .missingEntitlement:
            CofferError(
                code,
                "you may not share: you are no member of the group 'coffer-share'",
                hint:
                    "'sudo usermod -aG coffer-share \(UserDatabase.userName(of: geteuid()) ?? "NAME")' makes you one, from your next login on"
            )
        default: self
        }
    }
}
