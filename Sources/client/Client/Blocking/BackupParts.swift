internal import CofferCore
package import CofferSystem
internal import CofferWire

extension BlockingClient {
    /// A descriptor, open for reading, of a part of the vault that the backup of this connection reads.
    ///
    /// - Parameter part: `keybag`, `anchor`, `catalog`, the id of a content, or that and `.overlay`.
    /// - Returns: The descriptor; its offset is 0.
    /// - Throws: `itemNotFound` if there is no such part; `notAvailable` if no backup is under way.
    package func backupPart(_ part: String) throws(CofferError) -> OwnedDescriptor {
        let receiver: DescriptorReceiver
        do throws(SystemError) { receiver = try DescriptorReceiver.make() } catch {
            throw error.cofferError("can't receive a part of the vault")
        }
        try call(BackupReadParameters(part: part), passing: receiver.sender.number)
        // The daemon has sent it before it answered.
        do throws(SystemError) {
            if let descriptor = try receiver.receive() { return descriptor }
        } catch {
            throw error.cofferError("can't receive a part of the vault")
        }
        throw CofferError(.protocolViolation, "the daemon sent no descriptor of \(quotedForDisplay(part))")
    }
}
