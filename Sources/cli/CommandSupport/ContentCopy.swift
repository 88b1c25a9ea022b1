package import CofferClient
internal import CofferSystem
internal import CofferTerminal

extension BlockingClient {
    /// Stores the content of an item once more.
    ///
    /// - Parameter other: The vault that gets the copy; by default the one that has the item.
    package func copy(
        _ name: ItemName,
        _ info: ItemInfo,
        as copy: ItemPutParameters,
        to other: BlockingClient? = nil
    ) throws(CofferError) -> Placement {
        let original = ItemGetParameters(name: name, group: info.group)
        let target = other ?? self
        if info.byteCount <= Limits.secretBytes { return try target.call(copy, payload: call(original).payload).value }
        // Larger content passes through memory without a name, and never through a disk.
        let memory = try orFail(name) { () throws(SystemError) in try AnonymousMemory("coffer copy") }
        let returned = try call(original, passing: memory.number)
        if returned.value.delivery == .payload { try returned.payload.write(to: memory.number) }
        try orFail(name) { () throws(SystemError) in try memory.rewind() }
        return try target.call(copy, passing: memory.number).value
    }

    private func orFail<Result: ~Copyable>(
        _ name: ItemName,
        _ step: () throws(SystemError) -> Result
    ) throws(CofferError) -> Result {
        do throws(SystemError) { return try step() } catch { throw error.cofferError("can't copy \(name.quoted)") }
    }
}
