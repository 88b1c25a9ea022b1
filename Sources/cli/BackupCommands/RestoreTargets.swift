internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal

/// Where items are restored to.
protocol RestoreTarget {
    /// Restores an item.
    ///
    /// - Throws: `duplicateItem` if something else is in its place.
    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> RestoreOutcome
}

/// What became of an item.
enum RestoreOutcome {
    /// It was there already.
    case same
    /// It is there now, without so many of its former values.
    case restored(lostValueCount: Int)
}

/// A directory that gets the contents of items, for the user only.
struct DirectoryTarget: RestoreTarget {
    private let path: String
    /// `nil` if nothing is written.
    private let tree: OutputTree?

    init(_ path: String, isDry: Bool) throws(CofferError) {
        self.path = path
        do throws(SystemError) {
            tree = isDry ? nil : try OutputTree(making: path)
            try tree?.requireUnshared()
        } catch {
            throw Self.refusal(of: path, error)
        }
    }

    /// Refuses a directory whose content other users could exchange, before anything is asked or written.
    static func check(_ path: String) throws(CofferError) {
        do throws(SystemError) { try OutputTree.requireUnshared(path) } catch { throw refusal(of: path, error) }
    }

    private static func refusal(of path: String, _ error: SystemError) -> CofferError {
        guard let finding = error.finding else { return error.cofferError("can't make \(quotedForDisplay(path))") }
        return CofferError(
            .param,
            "can't restore to \(quotedForDisplay(path)): \(finding.message)",
            hint: "\(finding.hint), or name a new directory below one of yours"
        )
    }

    /// The items of the owner's group are at the top, those of another group below a directory of its name.
    private func components(of item: ItemInfo) throws(CofferError) -> [String] {
        let name = try ItemName(item.name).components.map(String.init)
        return item.group == AccessGroup.owners ? name : ["@" + item.group.replacing("/", with: "%2F")] + name
    }

    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> RestoreOutcome {
        let components = try components(of: item)
        guard let tree else { return .restored(lostValueCount: 0) }
        let shown = "\(path)/\(components.joined(separator: "/"))"
        let output = try OutputFile(new: components, in: tree, shownAs: shown)
        let params = ItemGetParameters(name: try ItemName(item.name), group: item.group)
        let returned = try client.call(params, passing: output.number)
        if returned.value.delivery == .payload { try returned.payload.write(to: output.number) }
        try output.finish()
        return .restored(lostValueCount: 0)
    }
}
