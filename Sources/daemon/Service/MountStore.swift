package import CofferSystem

/// Keeps the kernel's ends of mounts while no daemon runs, for example in the descriptor store of a service manager.
package struct MountStore: Sendable {
    /// What an earlier daemon has left of a mount.
    package struct Found: Sendable {
        let name: String
        let device: Int32
        let memory: Int32

        /// - Parameters:
        ///   - name: Its name in the store.
        ///   - device: The descriptor of its kernel's end, which has no other owner.
        ///   - memory: That of what the daemon has written beside it, which has no other owner.
        package init(_ name: String, device: Int32, memory: Int32) {
            (self.name, self.device, self.memory) = (name, device, memory)
        }
    }

    /// What each name begins with.
    package static let namePrefix = "coffer-mount-"

    let found: [Found]
    let keep: @Sendable (_ name: String, borrowing OwnedDescriptor) throws(SystemError) -> Void
    let remove: @Sendable (_ name: String) throws(SystemError) -> Void

    /// Describes the storage.
    ///
    /// - Parameters:
    ///   - found: Its content when the daemon started.
    ///   - keep: Stores a descriptor.
    ///   - remove: Removes what was stored under a name.
    package init(
        found: [Found],
        keep: @escaping @Sendable (_ name: String, borrowing OwnedDescriptor) throws(SystemError) -> Void,
        remove: @escaping @Sendable (_ name: String) throws(SystemError) -> Void
    ) {
        (self.found, self.keep, self.remove) = (found, keep, remove)
    }
}
