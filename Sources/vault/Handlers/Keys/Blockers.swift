internal import CofferCore
internal import CofferFiles
package import CofferVault
package import CofferWire

extension VaultHandlers {
    package func vaultBlockers(_ params: VaultBlockersParameters, _ call: Call) throws -> Step {
        call.isFor("can't list what is in use")
        let files = try catalog.files
        let after = params.after ?? -1
        let wanted = (observer?.uses ?? []).flatMap { UsePosition.all(of: $0) }.filter { $0.number > after }
        let page = wanted.lazy.map { $0.blocker(files) }.firstPage { $0.jsonByteCount }
        let next = page.count < wanted.count ? wanted[page.count - 1].number : nil
        return .done(Reply(BlockerPage(blockers: page, next: next)))
    }
}

/// One use of a connection, and its position in the listing.
private struct UsePosition {
    private enum Use {
        case handle(OpenHandle)
        case transfer(Method, name: String?)
    }

    private let connection: ConnectionUse
    private let index: Int
    private let use: Use

    /// More than the handles and the requests that a connection can have.
    private static let usesPerConnection = Int64(Limits.handlesOfMount + Limits.requestsInFlight)

    var number: Int64 { Int64(connection.number) * Self.usesPerConnection + Int64(index) }

    static func all(of connection: ConnectionUse) -> [UsePosition] {
        let handles = connection.caller.handles.all.map { Use.handle($0) }
        let transfers = connection.transfers.map { Use.transfer($0.method, name: $0.name) }
        return (handles + transfers).enumerated().map { UsePosition(connection: connection, index: $0, use: $1) }
    }

    /// The client with its process, which the audit leaves out.
    private var client: ClientIdentity {
        var client = connection.caller.recorded
        client.processID = connection.caller.identity.processID
        return client
    }

    func blocker(_ files: FileStore) -> Blocker {
        switch use {
        case .handle(let handle):
            let protectionClass = handle.file.protectionClass
            return Blocker(
                connection: Int64(connection.number),
                client: client,
                use: .handle,
                // What is damaged, or was removed, has no name.
                name: (try? files.openFiles.item(of: handle.file))?.path,
                protectionClass: protectionClass,
                writes: handle.access.writes,
                endsAtLock: !protectionClass.permits(.proceed, in: .locked)
            )
        case .transfer(let method, let name):
            return Blocker(
                connection: Int64(connection.number),
                client: client,
                use: .transfer,
                method: method.rawValue,
                name: name,
                writes: method == .itemPut,
                endsAtLock: method != .itemPut && endsAtLock(name, files)
            )
        }
    }

    /// Whether a lock ends the reading of a file.
    private func endsAtLock(_ name: String?, _ files: FileStore) -> Bool {
        guard let name = name.flatMap({ try? ItemName($0) }), let group = connection.caller.groups.first,
            let file = try? files.find(name, in: group)
        else { return false }
        return !file.protectionClass.permits(.proceed, in: .locked)
    }
}

extension Blocker {
    fileprivate var jsonByteCount: Int { JSONValue.object(json).serialized().count }
}
