package import CofferCore
package import CofferSystem
package import CofferWire

/// Carries out in the daemon what follows from a change of the keys.
package protocol VaultObserver: AnyObject {
    /// The end of a lock's grace, in nanoseconds of boot time; `nil` outside a grace.
    var graceEnd: UInt64? { get }
    /// The idle time after which the vault is locked.
    var idleLock: IdleLock { get }
    /// The keys were loaded or wiped by a request or an erasure.
    ///
    /// - Parameter caller: The client that presented the credential; `nil` after an erasure.
    func keysDidChange(by caller: Caller?)
    /// A client asks for a lock.
    ///
    /// - Parameter graceSeconds: Its grace; `nil` for the configured one.
    func lock(graceSeconds: Int?)
    /// Withholds the payloads of pending answers whose keys are gone.
    func withholdPayloads(in state: VaultState)
    /// A client has presented a wrong credential.
    func attemptDidFail(_ attempts: FailedAttempts)
    /// A client has changed its subscription.
    func subscriptionsDidChange()
    /// A client cancels requests.
    func cancelRequest(_ id: RequestID, besides call: Call)
    /// The number of files that a tenant has open, and that of all tenants.
    func openFileCounts(of tenant: Int) -> (held: Int, used: Int)
    /// The mounts that have not confirmed that they have dropped what a lock ended.
    var unconfirmedMounts: [UnconfirmedMount] { get }
    /// What the connections use, in the order of their numbers.
    var uses: [ConnectionUse] { get }
    /// The answer that a service manager would get for a credential.
    func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer
    /// Answers a mount from now on.
    func serveMount(_ mount: NewMount, of caller: Caller) throws(CofferError)
    /// Commits the changes so far, and sends their answers.
    func commit()
}

/// A mount that a client has made, and that the daemon is to answer.
package final class NewMount {
    /// The absolute path at which the client says that it is.
    package let place: String
    package let group: String
    /// The number of the directory that is its root; 0 for all of the vault.
    package let directory: Int64
    package let isReadOnly: Bool
    private var descriptor: OwnedDescriptor?

    package init(
        at place: String,
        of group: String,
        directory: Int64,
        isReadOnly: Bool,
        _ descriptor: consuming OwnedDescriptor
    ) {
        (self.place, self.group, self.directory, self.isReadOnly) = (place, group, directory, isReadOnly)
        self.descriptor = .some(descriptor)
    }

    /// Takes its kernel's end out.
    package func takeDescriptor() throws(CofferError) -> OwnedDescriptor {
        guard let descriptor = descriptor.take() else { throw .takenTwice }
        return descriptor
    }
}

/// What a connection uses of the vault.
package struct ConnectionUse {
    package let number: Int
    package let caller: Caller
    /// The methods of its running transfers, and the items that they name.
    package let transfers: [(method: Method, name: String?)]

    package init(_ number: Int, _ caller: Caller, transfers: [(method: Method, name: String?)]) {
        self.number = number
        self.caller = caller
        self.transfers = transfers
    }
}
