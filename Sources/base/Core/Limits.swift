/// Every bound of the system, with its reason.
///
/// Each is checked before memory is allocated for what it bounds.
public enum Limits {
    /// The bytes of a frame's JSON: a listing of a thousand items with long names fits.
    public static let frameJSONBytes = 1 << 20
    /// The bytes of a frame's payload: four chunks of a file.
    ///
    /// It is allocated in locked memory, which may be limited to 8 MiB.
    public static let framePayloadBytes = 256 << 10
    /// Nested containers in a JSON text: requests need three.
    public static let jsonDepth = 32
    /// The bytes of an item's name: a path, as in `PATH_MAX`.
    public static let nameBytes = 4096
    /// The bytes of one component of a name, as in `NAME_MAX`.
    public static let nameComponentBytes = 255
    /// The components of a name: each directory costs a look-up, and a listing holds their names.
    public static let nameComponents = 2048
    /// The bytes of a keychain secret: a larger item is a document.
    public static let secretBytes = 32 << 10
    /// The bytes of a keychain item's attributes, serialised.
    public static let metadataBytes = 4 << 10
    /// The bytes of a passcode: more than a person types, and too few for a denial of service.
    public static let passcodeBytes = 1024
    /// The wrong passcodes after which no more are accepted.
    public static let passcodeAttempts = 10
    /// The keyslots of a vault: its owner must keep track of each recovery key.
    public static let keyslots = 8
    /// The bytes of content that can be a structured secret.
    public static let structuredBytes = 4 << 10
    /// The requests of one connection in one turn of the event loop, before other connections get their turn.
    public static let requestsPerTurn = 64
    /// The bytes of a listing's JSON, as estimated beforehand: with any names, the JSON fits into a frame.
    public static let pageJSONBytes = 512 << 10
    /// The unanswered requests of one connection: beyond that, the daemon reads no more from it.
    public static let requestsInFlight = 32
    /// The bytes of these requests, with the same effect.
    public static let requestBytes = 2 << 20
    /// The operations on many rows, of all connections together, that span turns of the event loop; more wait.
    public static let slicedWorks = 32
    /// The concurrent transfers by descriptor of one connection; more wait.
    public static let transfersPerConnection = 4
    /// The changes of one turn of the event loop that are reported individually to those who watch.
    public static let toldChanges = 1024
    /// The bytes that wait for a watching peer, beyond which it misses events.
    public static let eventBytes = 256 << 10
    /// The bytes of events that wait for all watching peers together: no identity gets more than three quarters.
    package static let transitEventBytes = 16 << 20
    /// The memory of a waiting event beside its bytes.
    package static let eventOverheadBytes = 512
    /// The connections of the agent for SSH at a time: for another one, the longest silent one is closed.
    package static let agentConnections = 32
    /// The questions that wait until the one that is shown is answered, and those who wait for the same answer.
    package static let waitingPrompts = 64
    /// The items in one page of a listing: bounds the memory of a listing, regardless of the number of items.
    public static let pageItems = 1000
    /// The disk space that is reserved for removals: enough for the log of several, or for some hundred small files.
    public static let diskReserveBytes = 256 << 10
    /// The bytes of a value in a row of the catalog: the largest is a block of the audit with a different program in
    /// each record.
    public static let columnBytes = 4 << 20
    /// The contents whose directory entries are synced together: until then, each also keeps its name in the staging
    /// directory.
    public static let stagedPlaces = 8
    /// The frames of the database's log, beyond which each commit checkpoints it: 4 MiB, SQLite's default.
    public static let logFrames = 1000
    /// The same where commits are deferred, which a checkpoint would sync: 32 MiB.
    package static let deferredLogFrames = 8000
    /// The bytes of the log that are written at once: those of a few changes.
    package static let logWriteBytes = 64 << 10
    /// The bytes of the lines of a listing that are written to standard output at once.
    package static let outputBytes = 64 << 10
    /// The time without a commit after which the log is checkpointed, so that little data depends on it.
    public static let logDelayMilliseconds = 1000
    /// The time after which changes are synced whose sync clients have deferred.
    package static let syncDelayMilliseconds = 1000
    /// The time after which clients are notified of changes that are not synced.
    package static let unsyncedDelayMilliseconds = 500
    /// The closed files that are synced together.
    package static let closedFilesAtOnce = 128
    /// The files from which on one sync of the whole file system takes less than a sync of each.
    package static let syncsAtOnce = 4
    /// The closed files that are not synced yet, beyond which a close waits for its sync.
    package static let closedFiles = 512
    /// The items, or files, that a count is believed to have, at most: more is damage of the count.
    package static let countedRows = 1 << 40
    /// The damaged logs that are kept beside the database.
    public static let keptLogs = 8
    /// The plaintext bytes of one chunk of a file, at most.
    public static let chunkBytes = 64 << 10
    /// The plaintext bytes of one chunk of a file that handles share, at most: programs read and write parts of it.
    package static let sharedChunkBytes = 16 << 10
    /// The bytes of a file: chunk counters and offsets stay far from overflow.
    public static let fileBytes: Int64 = 1 << 40
    /// The bytes of buffered payloads of all connections: half the memory that a service may lock by default.
    public static let transitSecretBytes = 4 << 20
    /// The bytes that are received at once.
    package static let receiveBufferBytes = 64 << 10
    /// The bytes of buffered JSON of all connections: incomplete frames, and answers that were not read.
    public static let transitBytes = 64 << 20
    /// Seconds after which a peer that holds such bytes, or only its connection, is disconnected if they run short.
    public static let stallSeconds = 5
    /// Concurrent connections: each costs a descriptor and about a kilobyte.
    public static let connections = 4096
    /// Threads for key derivation and bulk file work: each transfer holds one.
    public static let workerThreads = 32
    /// Threads that wait for files of clients: one for each that is read, written or closed.
    package static let peerFileThreads = 32
    /// The descriptors of clients, of all of them together, that are not closed yet.
    package static let peerDescriptors = 1024
    /// The bytes in flight between a client's file and the daemon.
    package static let peerPipeBytes = 256 << 10
    /// Reply bytes waiting for a peer that does not read: beyond that, the daemon does not read from it either.
    public static let outboxBytes = 4 << 20
    /// Payload bytes waiting for a peer that does not read: beyond that, the daemon does not read from it either.
    public static let outboxSecretBytes = 1 << 20
    /// Days that something stays in the trash.
    package static let defaultTrashDays = 30
    package static let maximumTrashDays = 3650
    /// The space of one access group in the trash: the contents of its files stay on the disk.
    package static let defaultTrashBytes: Int64 = 1 << 30
    package static let maximumTrashMebibytes = 1 << 20
    /// The content of an item that is sent to another vault: with its description, it fits into one frame there.
    package static let parcelContentBytes = 128 << 10
    /// The name, the attributes and the dates of an item that is sent.
    package static let parcelDescriptionBytes = 64 << 10
    /// The text of a recipient, with comments.
    package static let recipientBytes = 4096
    /// Entries of the trash in one page.
    package static let trashPageEntries = 100
    /// The space of the versions of one file: their contents stay on the disk.
    package static let versionBytes: Int64 = 1 << 30
    /// How often the daemon looks for what has been in the trash for long enough: the clock may stand still in between.
    package static let trashIntervalSeconds = 86_400

    /// Seconds from a lock until the keys of class A are wiped, by default.
    public static let defaultGraceSeconds = 10
    /// The longest grace that can be set: a lock that takes longer protects nothing.
    public static let maximumGraceSeconds = 10
    /// Seconds from the end of the grace until the keys of class CX are wiped, by default.
    public static let defaultInactiveSeconds = 600
    /// Seconds from the end of the grace until the vault is as before its first unlock, by default: three days.
    public static let defaultForgetSeconds = 72 * 3600
    /// Seconds after which a completion of a shell offers nothing, if the daemon is silent and the line names no time.
    package static let completionSeconds = 2
    /// The names that a shell is offered: of more, it gets the next parts.
    package static let completions = 256
    /// The next parts of names that a shell is offered.
    package static let completedParts = 1000
    /// The bytes of names that the daemon keeps opened for completions, with their groups: about 200,000 names.
    package static let keptNameBytes = 8 << 20
    /// The mounts that a status names because they have not confirmed a lock: more tell nothing new.
    package static let unconfirmedMounts = 16
    /// Milliseconds for which `coffer lock` waits for mounts to confirm: dropping all pages takes some.
    package static let confirmationMilliseconds = 1000
    /// Seconds for which a client waits, by default, for a daemon that is silent during a call.
    public static let answerSeconds = 30
    /// Seconds without a use of a protected key until a lock, by default on a machine without a seat.
    public static let defaultIdleLockSeconds = 15 * 60
    /// The longest delay of a lock, or of what follows one: a year, which is far from overflow.
    public static let maximumLockDelaySeconds = 365 * 24 * 3600
    /// The user-defined attributes of a keychain item: more than any form has fields.
    public static let userAttributes = 64
    /// The former values of a keychain secret that can be kept: each takes as much space as the secret.
    public static let historyValues = 100
    /// The former values of a keychain secret that are kept by default.
    public static let defaultHistoryValues = 10
    /// The items that one query scans before it answers with a cursor: each costs decrypting its metadata.
    public static let queryItems = 4096
    /// The items that a query reads from the store at a time: bounds the memory of a query.
    public static let queryBatch = 64
    /// The references that the error for an ambiguous name gives.
    public static let namedReferences = 4
    /// The seconds for which an authentication can be reused.
    public static let contextSeconds = 300
    /// The bytes of the cursor of a query.
    public static let cursorBytes = 256
    /// The bits of the modulus of an RSA key at least: shorter ones are no longer safe.
    public static let leastRSABits = 2048
    /// The bits of the modulus of an RSA key: a signature with a longer one takes tenths of a second.
    public static let rsaBits = 8192
    /// Files that one connection has open: each holds a key and two descriptors.
    public static let handles = 256
    /// Files that the programs of one mount have open.
    package static let handlesOfMount = 2048
    /// Mounts that one daemon answers.
    package static let mounts = 64
    /// Directories of a mount whose paths are remembered.
    package static let pathsOfMount = 512
    /// Changes of which the daemon has not told a mount's kernel yet: that takes a notice within microseconds, unless a client
    /// takes requests from its own mount.
    package static let noticesOfMount = 64 << 10
    /// Nodes that a mount's kernel knows: for so many, it needs gigabytes of its own.
    package static let nodesOfMount = 4 << 20
    /// Directories of a mount that were removed while programs may be in them.
    package static let removedDirectoriesOfMount = 1024
    /// Users whose rights are remembered for a mount.
    package static let usersOfMount = 64
    /// The bytes that a daemon leaves to the next one of a mount.
    package static let mountMemoryBytes = 512 << 10
    /// The seconds for which the kernel believes the attributes and the name of a file: a notice ends them when another client
    /// changes the file.
    package static let kernelBelievesSeconds: UInt64 = 3600
    /// The seconds for which the kernel believes that a file has a name, if it can't be told to look all names up again when
    /// they are sealed.
    package static let kernelBelievesNamesSeconds: UInt64 = 60
    /// The seconds for which the kernel does not ask again for a name that no file has.
    package static let kernelBelievesMissingSeconds: UInt64 = 1
    /// Requests that the kernel sends without waiting for the answers, such as reads ahead.
    package static let kernelRequestsInBackground = 12
    /// Requests of a mount that are carried out at a time: each may have ``framePayloadBytes`` of content.
    package static let kernelRequestsAtOnce = 16
    /// Requests of all mounts that are carried out at a time; beyond, each mount has one of them.
    package static let kernelRequestsOfMounts = 24
    /// Messages of the kernel that are taken before other work gets its turn, if none is a request.
    package static let kernelMessagesAtOnce = 64
    /// Files that all connections have open together: within the descriptor limit of the daemon.
    public static let openFiles = 2048
    /// The names of a file: a change of its class writes the row of each.
    public static let links = 1000
    /// The bytes of what a symbolic link leads to: a path, as in `PATH_MAX` without its end.
    public static let linkTargetBytes = 4095
    /// The bytes of the name of an extended attribute, as in `XATTR_NAME_MAX`.
    public static let extendedAttributeNameBytes = 255
    /// The bytes of the value of an extended attribute, as in `XATTR_SIZE_MAX`.
    public static let extendedAttributeBytes = 64 << 10
    /// The extended attributes of a file: they are sealed and opened together with its name.
    public static let extendedAttributes = 256
    /// The bytes of all of them, names and values.
    public static let extendedAttributesBytes = 128 << 10
    /// The bytes of a configuration file: far more than a person writes by hand.
    public static let configurationBytes = 1 << 20
    /// The bytes of an access group's name: that of a program has the program's path, with four bytes for some of its
    /// bytes.
    public static let groupBytes = 1024
    /// The access groups of one client: a query searches all of them.
    public static let groups = 64
    /// The greatest rate that an entitlement can set for an identity: more than the daemon can serve.
    public static let requestsPerSecond = 1_000_000
    /// The refused requests of one identity per second, over time: a client that keeps requesting what it may not have,
    /// or what is invalid, is throttled.
    public static let refusalsPerSecond = 1024
    /// The refused requests of one identity in a burst: a program that is fixed soon is not throttled.
    public static let refusals = 4096
    /// The bytes of the vault's audit: beyond that, the oldest records become a summary.
    public static let auditBytes = 16 << 20
    /// The records of the audit that are sealed together.
    public static let auditBlockRecords = 256
    /// The bytes of a block beyond which no more records join it.
    public static let auditBlockBytes = 64 << 10
    /// The records that wait to be written: if the disk is full, further ones are only counted.
    public static let auditWaitingRecords = 4096
    /// The milliseconds that the record of a read waits for others.
    public static let auditDelayMilliseconds = 250
    /// The blocks of the audit that one request scans.
    public static let auditPageBlocks = 64
    /// The clients whose readings of the audit are recorded once each ``auditReadingMilliseconds``; those of more
    /// clients are recorded each time.
    public static let auditReaders = 64
    /// The milliseconds in which the readings of a client are one.
    public static let auditReadingMilliseconds: Int64 = 60_000
    /// The bytes by which records of readings may exceed ``auditBytes``, so that reading drops no older record.
    public static let auditReadingBytes = 1 << 20
    /// The items that one record names.
    public static let auditedItems = 8
    /// The bytes of a refusal's message, and of the reason, in a record.
    public static let auditedTextBytes = 256
    /// The clients that the summary of the oldest records distinguishes.
    public static let auditTallies = 64
    /// Access rules: those of a client are searched for what its own rights don't cover.
    public static let accessRules = 512
    /// The rules by which one user shares items; the shares of all users take at most half of ``accessRules``, so that
    /// the administrator can always add a rule.
    public static let sharesOfUser = 32
    /// The seconds of a rule that ends by its time.
    public static let accessRuleSeconds = 30 * 24 * 3600
    /// The uses of a rule: a greater number is no limit.
    public static let accessRuleUses = 1_000_000
    /// The bytes of the reason of a rule.
    public static let accessRuleReasonBytes = 512
    /// The bytes of the place of a repository, which the vault keeps for people to read.
    package static let repositoryBytes = 4096
    /// The bytes of the reason why a backup failed.
    package static let backupFailureBytes = 512
    /// The bytes of the label of a recovery key.
    package static let slotLabelBytes = 128
    /// The bytes of what is signed of a snapshot.
    package static let snapshotDigestBytes = 32
    /// The bytes of such a digest with its signature.
    package static let snapshotProofBytes = 96
    /// Seconds that the daemon for a snapshot waits for the program that has started it.
    package static let scratchSeconds = 60
    /// The contents of one page of a backup: each is looked for on the disk.
    package static let backupPage = 128
    /// The pages of the catalog that are copied before others are asked whether they wait.
    package static let copiedPages = 32
    /// The contents written during a backup that are known to be none of it, and so are removed at once.
    package static let newContentsOfBackup = 65_536
    /// The bytes of a credential and of its name: a service manager accepts no more.
    public static let credentialBytes = 1 << 20
    /// The bytes of the names of a unit and its credential together: a service manager connects from an address with
    /// both, for which the kernel takes 107 bytes.
    package static let credentialNameBytes = 83
    /// Concurrent connections of service managers, each of which is also held by the service manager's descriptor
    /// store.
    public static let credentialConnections = 128
    /// The longest time that a unit waits for a credential: a service manager itself does not end such a wait.
    public static let maximumCredentialWaitSeconds = 3600

    /// The bytes of a file of variables: more than the kernel gives a program in an environment of usual size.
    package static let environmentFileBytes = 128 << 10
    /// The bytes of a template: it is in locked memory, as it may have secrets of its own.
    package static let templateBytes = 256 << 10

    /// The bytes of the user name of a login that is an attribute of its item, too.
    package static let loginNameBytes = 255
    /// The bytes of the addresses of a login that are an attribute of its item, too.
    package static let loginAddressBytes = 1024

    // MARK: Import

    /// The bytes of a file that is imported: some hundred thousand times those of an entry, and it is read as a whole.
    package static let importFileBytes = 64 << 20
    /// The entries of an import: each is looked for in the vault before the first is stored.
    package static let importEntries = 20_000
    /// The fields of an entry, and the columns of a row.
    package static let importFields = 256
    /// The bytes of a field: beyond those of a secret, so that long notes become files.
    package static let importFieldBytes = 1 << 20
    /// The values of a JSON file: each costs some tens of bytes beside those of the file.
    package static let importValues = 2_000_000
    /// The names that a refusal lists; the others are counted.
    package static let importNamesShown = 20

    // MARK: Expiry

    /// How long the daemon waits at most until it compares the next expiry date with the clock again, which may have been
    /// set.
    package static let expiryWaitMilliseconds: Int64 = 86_400_000
    /// After how long a search for expiry dates that has failed is repeated.
    package static let expiryRetryMilliseconds: Int64 = 60_000

    // MARK: The daemon's turns

    /// How long a turn of the daemon carries out what changes something, and how long one step of it may last, while
    /// others wait.
    package static let quantum = Duration.milliseconds(3)
    /// How long it is while several tenants have something to change.
    package static let sharedQuantum = Duration.microseconds(500)
    /// How long a turn accepts connections.
    package static let acceptQuantum = Duration.milliseconds(1)
    /// After how long a turn polls for new requests.
    package static let pollInterval = Duration.microseconds(50)
    /// The connections of one tenant whose answers are sent together.
    package static let answersAtOnce = 8
    /// Steps after which the kernel is asked who else waits.
    package static let stepsPerPoll = 4
    /// Entries of a listing or a search that are visited in one quantum.
    package static let entriesPerQuantum = 512
    /// Entries after which the kernel is asked who else waits.
    package static let entriesPerPoll = 8
    /// How often the check of a directory that is to be moved begins in slices, because others have changed something
    /// meanwhile, before it is made in one step.
    package static let slicedMoveChecks = 3
    /// Bytes of contents after which a check answers, at the end of a file.
    package static let contentBytesPerCheck: Int64 = 64 << 20
    /// Damaged contents after which a check answers.
    package static let findingsPerCheck = 16
    /// Damaged parts of a content that a finding names; the bytes of the others are counted.
    package static let rangesPerFinding = 64
    /// Rows of chunks that are read in one step when a file is opened.
    package static let openingRows = 1024
    /// Rows of chunks that are removed in one step when a file is removed.
    package static let chunkRowsAtOnce = 512
    /// After how long rows of chunks that could not be removed are tried again.
    package static let orphanRetrySeconds = 60
    /// Rows of chunks that the daemon remembers of the files that were opened last, at eight bytes: those of 2 GiB.
    package static let rememberedRows = 128 << 10
    /// Chunks of an open file that one request turns into zeros: each is a small write to the disk.
    package static let punchedChunks = 512
    /// Chunks of an open file of which one request finds out whether they are holes.
    package static let extentChunks = 1024
    /// Chunks of an open file that were written and are not in the catalog: then they are synced.
    package static let pendingChunks = 4096
    /// Bytes of the log of unsynced changes, beyond which it is written anew without those that are synced: some thousand
    /// small writes.
    package static let unsyncedBytes: Int64 = 1 << 20
    /// Bytes of that log that a start reads: only clients that change much at once make it as long.
    package static let unsyncedLogBytes: Int64 = 8 << 20
    /// Bytes of one of its records: all changes of a file that are not synced.
    package static let unsyncedRecordBytes = 1 << 20
    /// Chunks of open files that are kept in plaintext until a lock or a close, each of at most ``chunkBytes`` of locked
    /// memory.
    package static let openedChunks = 8
    /// Chunks that one sync of an open file writes to the catalog's log instead of syncing their slots.
    package static let loggedChunks = 16
    /// Their bytes: a chunk of 64 KiB, or some of a database's page size.
    package static let loggedBytes = 80 << 10
    /// The bytes of a file that are in the log at most, and then are synced in their slots.
    package static let loggedBytesOfFile = 512 << 10
    /// The bytes of all files that are in the log at most: the next start after a crash writes them to their slots.
    package static let loggedBytesOfVault = 4 << 20
    /// Bytes of a content from which on libcrypto is loaded, which takes some milliseconds and a few MiB.
    package static let bulkBytes: Int64 = 4 << 20
    /// Bytes of chunks that are sealed and written while other requests wait: two chunks of a database's page size.
    package static let writeAtOnceBytes = 32 << 10
    /// Files that could not be changed and are named in an answer; the others are counted.
    package static let namedFiles = 100
    /// Bytes that are copied at once from one file to another.
    package static let copyBytes = 256 << 10
    /// Bytes of a file that are overwritten before it is removed, even if the disk says that they have no blocks.
    package static let shreddedBytes = 1 << 20
    /// Bytes of an answer that is sent however short memory is.
    package static let smallAnswerBytes = 4 << 10
    /// Bytes of JSON from which on the memory of a request is given back to the kernel.
    package static let largeRequestBytes = 64 << 10
    /// Nanoseconds between two scans for connections that have stalled.
    package static let stallScanNanoseconds: UInt64 = 100_000_000
    /// Nanoseconds that a listening socket rests when no connection can be accepted.
    package static let acceptPauseNanoseconds: UInt64 = 100_000_000
    /// Nanoseconds between two notifications of progress.
    package static let progressNanoseconds: UInt64 = 100_000_000
    /// Nanoseconds until a thread is tried again that could not be started.
    package static let threadRetryNanoseconds: UInt64 = 100_000_000
    /// Nanoseconds until the message bus is tried again.
    package static let busRetryNanoseconds: UInt64 = 30_000_000_000
    /// Messages of the bus that are handled in one turn.
    package static let busMessagesPerTurn = 32
    /// Records that wait to be written to the journal.
    package static let journalQueue = 2048
    /// The time between two batches for the journal, in milliseconds.
    package static let journalPauseMilliseconds = 5
}
