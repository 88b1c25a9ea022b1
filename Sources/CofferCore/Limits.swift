/// Every bound of the system, with its reason.
///
/// Each is checked before memory is allocated for what it bounds.
public enum Limits {
    /// The bytes of a frame's JSON: a page of a thousand listed names of the longest usual kind fits.
    public static let frameJSONBytes = 1 << 20
    /// The bytes of a frame's payload: four chunks of a file.
    ///
    /// It is taken from locked memory, of which there may be 8 MiB only.
    public static let framePayloadBytes = 256 << 10
    /// Containers inside one another in a JSON text: requests need three.
    public static let jsonDepth = 32
    /// The bytes of an item's name: a path, as in `PATH_MAX`.
    public static let nameBytes = 4096
    /// The bytes of one component of a name, as in `NAME_MAX`.
    public static let nameComponentBytes = 255
    /// The components of a name: each directory costs a look-up, and a listing keeps their names.
    public static let nameComponents = 64
    /// The bytes of a keychain secret: above it, an item is a document.
    public static let secretBytes = 32 << 10
    /// The bytes of a keychain item's attributes, serialised.
    public static let metadataBytes = 4 << 10
    /// The bytes of a passcode: more than any person types, less than a denial of service.
    public static let passcodeBytes = 1024
    /// The wrong passcodes after which no more are taken: section 7 of the semantics.
    public static let passcodeAttempts = 10
    /// The keyslots of a vault: each recovery key is a way in that somebody has to look after.
    public static let keyslots = 8
    /// The bytes of content that may pass for a structured secret.
    public static let structuredBytes = 4 << 10
    /// The requests of one connection in one turn of the event loop: others get theirs in between.
    public static let requestsPerTurn = 64
    /// The bytes of a listing's JSON, as far as they can be told beforehand: within a frame's, whatever the names are.
    public static let pageJSONBytes = 512 << 10
    /// The requests of one connection that are not answered yet: with so many, no more is read from it.
    public static let requestsInFlight = 32
    /// The bytes of these requests, beyond which no more is read either.
    public static let requestBytes = 2 << 20
    /// Works on many rows, of all connections together, that go on over turns of the event loop; more wait.
    public static let slicedWorks = 32
    /// The transfers by descriptor of one connection at once; more wait.
    public static let transfersPerConnection = 4
    /// The changes of one turn of the event loop that those who watch are told one by one.
    public static let toldChanges = 1024
    /// The bytes that wait for a peer which watches, beyond which it misses events.
    public static let eventBytes = 256 << 10
    /// The names in one page of a listing: bounds the memory of a listing, whatever the number of items.
    public static let pageItems = 1000
    /// The bytes on the disk that are kept for removals: the log of some of them, or of some hundred small files.
    public static let diskReserveBytes = 256 << 10
    /// The bytes of a value in a row of the catalog: a block of the audit in which each record is of another program.
    public static let columnBytes = 4 << 20
    /// Contents whose places are synced together: until then, each has its name among the staged ones as well.
    public static let stagedPlaces = 8
    /// The frames of the database's log from which on each commit writes it back, as SQLite does by itself: 4 MiB.
    public static let logFrames = 1000
    /// The time without a commit after which the log is written back: little depends on it then.
    public static let logDelayMilliseconds = 1000
    /// The damaged logs that are kept beside the database.
    public static let keptLogs = 8
    /// The plaintext bytes of one chunk of a file.
    public static let chunkBytes = 64 << 10
    /// The bytes of a file: chunk counters and offsets stay far from overflow.
    public static let fileBytes: Int64 = 1 << 40
    /// The bytes of payloads on their way, of all connections together: half the memory that a service may lock by default.
    public static let transitSecretBytes = 4 << 20
    /// The bytes of JSON on their way, of all connections together: unfinished frames, and answers that nobody reads.
    public static let transitBytes = 64 << 20
    /// Seconds after which a peer that holds such bytes, or just its connection, gives way where room is short.
    public static let stallSeconds = 5
    /// Connections at once: each costs a descriptor and about a kilobyte.
    public static let connections = 4096
    /// Threads for key derivation and bulk file work: each transfer holds one.
    public static let workerThreads = 32
    /// Reply bytes waiting for a peer that does not read: beyond it the peer is not read from either.
    public static let outboxBytes = 4 << 20
    /// Payload bytes waiting for a peer that does not read: beyond it the peer is not read from either.
    public static let outboxSecretBytes = 1 << 20
    /// Seconds between a lock and the end of class A, by default.
    public static let defaultGraceSeconds = 10
    /// Seconds of grace that can be asked for: a lock that comes later is none.
    public static let maximumGraceSeconds = 10
    /// Seconds from the end of the grace to the end of class CX, by default.
    public static let defaultInactiveSeconds = 600
    /// Seconds from the end of the grace to before the first unlock, by default: three days.
    public static let defaultForgetSeconds = 72 * 3600
    /// Seconds that a lock, or what follows one, can be set to wait for: a year, which is far from overflow.
    public static let maximumLockDelaySeconds = 365 * 24 * 3600
    /// The user's own attributes of a keychain item: more than any form has fields.
    public static let userAttributes = 64
    /// The former values of a keychain secret that can be kept: each costs as much room as the secret.
    public static let historyValues = 100
    /// The former values of a keychain secret that are kept by default.
    public static let defaultHistoryValues = 10
    /// The items that one query looks at before it answers with a cursor: each costs an opening of its metadata.
    public static let queryItems = 4096
    /// The items that a query takes from the store at a time: bounds what is held of them.
    public static let queryBatch = 64
    /// The seconds for which what a client has shown of a person can be reused.
    public static let contextSeconds = 300
    /// The bytes of the cursor of a query.
    public static let cursorBytes = 256
    /// Files that one connection has open: each holds a key and two descriptors.
    public static let handles = 256
    /// Files that all connections have open together: the descriptors that there may be suffice.
    public static let openFiles = 2048
    /// The bytes of a configuration file: far more than anybody writes by hand.
    public static let configurationBytes = 1 << 20
    /// The bytes of an access group's name: that of the longest unit, with what stands before it.
    public static let groupBytes = 266
    /// The access groups of one client: a query looks in all of them.
    public static let groups = 64
    /// The requests of one identity in a second that an entitlement can allow: more than there is time for.
    public static let requestsPerSecond = 1_000_000
    /// The refused requests of one identity in a second, over time: who goes on asking for what it may not have, or what
    /// makes no sense, waits.
    public static let refusalsPerSecond = 1024
    /// The refused requests of one identity at once: a program that is put right meanwhile does not notice.
    public static let refusals = 4096
    /// The bytes of the vault's audit: above it, the oldest records become a summary.
    public static let auditBytes = 16 << 20
    /// The records of the audit that are sealed together.
    public static let auditBlockRecords = 256
    /// The bytes of them beyond which no more join.
    public static let auditBlockBytes = 64 << 10
    /// The records that wait to be written: where the disk takes none, further ones are counted only.
    public static let auditWaitingRecords = 4096
    /// The milliseconds that a record of what changes nothing waits for others.
    public static let auditDelayMilliseconds = 250
    /// The blocks of the audit that one request looks at.
    public static let auditPageBlocks = 64
    /// The items that one record names.
    public static let auditedItems = 8
    /// The bytes of the reason in a record.
    public static let auditedTextBytes = 256
    /// The clients that the summary of the oldest records tells apart.
    public static let auditTallies = 64
    /// Leases at once: whoever has no rights of his own is looked for in all of them.
    public static let leases = 256
    /// Seconds for which a lease can be granted: what lasts longer than thirty days is an entitlement.
    public static let leaseSeconds = 30 * 24 * 3600
    /// The uses that a lease can be bound to: more are no bound.
    public static let leaseUses = 1_000_000
    /// The bytes of what somebody says that a lease is for.
    public static let leaseReasonBytes = 512
    /// The bytes of a credential and of its name: a service manager takes no more.
    public static let credentialBytes = 1 << 20
    /// The connections of service managers at once, each held by the service manager's descriptor store as well.
    public static let credentialConnections = 128
    /// The seconds that a unit may be made to wait for a credential: a service manager itself does not end such a wait.
    public static let maximumCredentialWaitSeconds = 3600
}
