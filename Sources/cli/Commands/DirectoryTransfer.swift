internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// A progress bar for several transfers, one after the other.
final class GatheredProgress {
    private let bar = ProgressBar()
    private let total: Int64
    private var done: Int64 = 0

    init(total: Int64) { self.total = total }

    /// The progress of the transfer that runs; `nil` if there is nothing to show it on.
    var current: ((TransferProgress) -> Void)? {
        guard let bar else { return nil }
        return { [self] in bar.update(done + $0.done, of: total) }
    }

    /// Counts a transfer that has ended.
    func add(_ byteCount: Int64) {
        done += byteCount
        bar?.update(done, of: total)
    }

    func finish() { bar?.finish() }
}

extension Put {
    /// Stores each file below a directory under its path below the name.
    ///
    /// - Throws: The exit code of the first file that could not be stored; the others are.
    func putDirectory(_ path: String, below name: ItemName, _ wishes: PlacementOptions) throws {
        let entries = try DirectoryWalk.entries(below: path.withoutFinalSlashes)
        let client = try authentication.connection.connect()
        let progress = GatheredProgress(total: entries.reduce(0) { $0 + $1.byteCount })
        var (secretCount, fileCount) = (0, 0)
        var first: ExitStatus?
        do throws(ExitStatus) {
            try forEachGoingOn(entries) { (entry) throws(CofferError) in
                if let fault = entry.fault {
                    throw CofferError(
                        .param,
                        "can't store \(quotedForDisplay(entry.path)): \(fault)",
                        hint: "only regular files are stored; the other files of the directory are"
                    )
                }
                let itemName = try ItemName(argument: "\(name.path)/\(entry.relativePath)")
                let placement = try put(entry, as: itemName, wishes, client, progress)
                if format.json { Output.standardOutput.line(placement.named(itemName)) }
                client.warnIfNotLoadable(itemName, in: wishes.group, byteCount: entry.byteCount)
                if placement.protection.store == .file { fileCount += 1 } else { secretCount += 1 }
            }
        } catch {
            first = error
        }
        progress.finish()
        let stored = secretCount + fileCount
        format.say(
            "stored \(stored) of \(counted(entries.count, "file", "files")) below \(name.quoted)\(secretCount > 0 ? ": \(secretCount) as secrets, as small ones are" : "")"
        )
        if let first { throw first }
    }

    private func put(
        _ entry: DirectoryWalk.Entry,
        as name: ItemName,
        _ wishes: PlacementOptions,
        _ client: BlockingClient,
        _ progress: GatheredProgress
    ) throws(CofferError) -> Placement {
        let source = try SecretInput.open(entry.path)
        let content = Secret(
            try SecretInput.readAll(
                from: source.number,
                limit: Limits.secretBytes + 1,
                quotedForDisplay(entry.path)
            )
        )
        let isComplete = content.count <= Limits.secretBytes
        let report = isComplete ? nil : progress.current
        let params = ItemPutParameters(
            name: name,
            wishes: wishes.presenting(source),
            isIfAbsent: ifAbsent,
            wantsProgress: report != nil
        )
        let placement = try client.call(
            params,
            payload: content,
            passing: isComplete ? nil : source.number,
            progress: report
        ).value
        progress.add(entry.byteCount)
        Output.warn(placement.warnings)
        return placement
    }
}

extension Get {
    /// The items below a name; `nil` if there are none, if the name is that of an item, or if a part of one is wanted.
    func itemsBelow(_ name: ItemName, _ client: BlockingClient) throws(CofferError) -> [ItemInfo]? {
        if range != nil { return nil }
        var items: [ItemInfo] = []
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try client.call(ItemListParameters(prefix: name.path, after: after, group: try source.group()))
                .value
            items += page.items
            return page.next
        }
        if items.contains(where: { $0.name.hasSameBytes(as: name.path) }) { return nil }
        let below = items.filter { $0.name.utf8.starts(with: "\(name.path)/".utf8) }
        return below.isEmpty ? nil : below
    }

    /// Writes items to files below a directory, which is made if it is missing.
    ///
    /// - Throws: The exit code of the first item that could not be written; the others are.
    func getDirectory(_ items: [ItemInfo], below name: ItemName, to folder: String, _ session: Session) throws {
        let progress = GatheredProgress(total: items.reduce(0) { $0 + $1.byteCount })
        defer { progress.finish() }
        let tree: OutputTree
        do throws(SystemError) { tree = try OutputTree(making: folder) } catch {
            throw error.cofferError("can't make \(quotedForDisplay(folder))")
        }
        try forEachGoingOn(items) { (item) throws(CofferError) in
            let below = item.name.utf8.dropFirst(name.path.utf8.count + 1)
            let components = below.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
            let shown = "\(folder.withoutFinalSlashes)/\(Substring(below))"
            let file = try OutputFile(new: components, in: tree, shownAs: shown)
            let itemName = try ItemName(item.name)
            let report = progress.current
            let params = ItemGetParameters(name: itemName, wantsProgress: report != nil, group: item.group)
            try session.satisfy { () throws(CofferError) in
                let returned = try session.client.call(params, passing: file.number, progress: report)
                if returned.value.delivery == .payload { try returned.payload.write(to: file.number) }
            }
            try file.finish()
            progress.add(item.byteCount)
        }
    }
}

extension CofferError {
    /// The answer to a get of a name that only has items below it.
    static func isFolder(_ name: ItemName, count: Int) -> CofferError {
        CofferError(
            .itemNotFound,
            "\(name.quoted) is no item; \(counted(count, "item is", "items are")) below it",
            hint: "'coffer get \(name.path) --output DIRECTORY' writes them to files"
        )
    }
}

extension String {
    /// A path as it is before slashes at its end; `/` itself is left.
    fileprivate var withoutFinalSlashes: String {
        var path = self[...]
        while path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
        return String(path)
    }
}
