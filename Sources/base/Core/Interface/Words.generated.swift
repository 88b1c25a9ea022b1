// packaging/tools/interface writes this file from proto-docs/openrpc.json.

extension AccessControl {
    /// A word of an access control, with the names of SecAccessControlCreateFlags.
    public enum Flag: String, CaseIterable, Sendable {
        /// The presence of the user: the passcode, as long as there is no other proof.
        case userPresence
        /// The passcode of the vault.
        case devicePasscode
        /// A password of the item, on which its key depends.
        case applicationPassword
        /// The private key may be used; without this word, an access control allows only reading it.
        case privateKeyUsage
        /// One of the constraints suffices.
        case or
        /// All of the constraints must be met; this is the default.
        case and
        /// The constraints must also be met for changing and deleting the item.
        case protectWrites
    }
}

/// Whether an access rule allows, or makes an exception.
public enum AccessRuleKind: String, CaseIterable, Sendable {
    /// It allows.
    case allow
    /// It makes an exception to the rules that allow.
    case deny
}

/// In which states of the vault the key of a keychain item is in memory.
///
/// The names are those of kSecAttrAccessible; WhenUnlockedDeposit is Coffer's.
public enum Accessibility: String, CaseIterable, Sendable {
    /// The default (`ak`): readable while unlocked.
    case whenUnlocked = "WhenUnlocked"
    /// Readable after the first unlock since boot (`ck`): background work.
    case afterFirstUnlock = "AfterFirstUnlock"
    /// Readable in every state (`dk`).
    ///
    /// Deprecated: accepted with a warning.
    case always = "Always"
    /// As WhenUnlocked, and not restored from a backup to another device (`aku`).
    case whenUnlockedThisDeviceOnly = "WhenUnlockedThisDeviceOnly"
    /// As AfterFirstUnlock, and not restored from a backup to another device (`cku`).
    case afterFirstUnlockThisDeviceOnly = "AfterFirstUnlockThisDeviceOnly"
    /// As Always, and not restored from a backup to another device (`dku`).
    ///
    /// Deprecated.
    case alwaysThisDeviceOnly = "AlwaysThisDeviceOnly"
    /// As WhenUnlocked, only in a vault with a passcode, never exported (`akpu`).
    case whenPasscodeSetThisDeviceOnly = "WhenPasscodeSetThisDeviceOnly"
    /// As WhenUnlocked, but can be added and replaced in every state (`bk`): a drop box.
    ///
    /// It has no access control.
    case whenUnlockedDeposit = "WhenUnlockedDeposit"
}

/// An attribute of a keychain item, with the names of kSecAttr.
public enum KeychainAttribute: String, CaseIterable, Sendable {
    case accessGroup
    case accessible
    case synchronizable
    case creationDate
    case modificationDate
    case expiryDate
    case label
    case description
    case comment
    case creator
    case type
    case isInvisible
    case isNegative
    case account
    case service
    case generic
    case securityDomain
    case server
    case `protocol`
    case authenticationType
    case port
    case path
    case certificateType
    case certificateEncoding
    case subject
    case issuer
    case serialNumber
    case subjectKeyID
    case publicKeyHash
    case keyClass
    case applicationLabel
    case applicationTag
    case keyType
    case keySizeInBits
    case effectiveKeySize
    case isExtractable
    case canEncrypt
    case canDecrypt
    case canDerive
    case canSign
    case canVerify
    case canWrap
    case canUnwrap
}

/// What a person presents to open the vault.
public enum Credential: String, CaseIterable, Sendable {
    /// The passcode, used together with the device key.
    case passcode
    /// A recovery key, which opens the vault without the device key.
    case recoveryKey
}

/// What can be wrong with a row.
public enum Damage: String, CaseIterable, Sendable {
    /// An index does not lead to each of its rows.
    case index
    /// Its pages are damaged.
    case pages
    /// Another row was stored under its name, because a damaged index hid it.
    case duplicate
    /// Its row has impossible values.
    case row
    /// Its metadata is not authentic.
    case metadata
    /// Its metadata has an unknown form.
    case metadataForm
    /// Its secret is not the one that its metadata names.
    case exchangedSecret
    /// Its secret does not open, although its key is in memory.
    case secret
    /// It is filed under another name than its own.
    case name
    /// It is not found by some of its attributes.
    case missingTags
    /// An entry of the search index leads to a row that lacks the attribute, or to no row.
    case strayTags
    /// Its item or directory is missing or damaged.
    case missingOwner
    /// The stored number is wrong.
    case count
    /// Parts of its content are damaged or missing.
    case content
    /// Its content as a whole is not as it was written, although each of its parts is authentic.
    case contentForm

    /// What it is, as part of a sentence.
    public var words: String {
        switch self {
        case .index: "an index does not lead to each of its rows"
        case .pages: "its pages are damaged"
        case .duplicate: "another row was stored under its name, because a damaged index hid it"
        case .row: "its row has impossible values"
        case .metadata: "its metadata is not authentic"
        case .metadataForm: "its metadata has an unknown form"
        case .exchangedSecret: "its secret is not the one that its metadata names"
        case .secret: "its secret does not open, although its key is in memory"
        case .name: "it is filed under another name than its own"
        case .missingTags: "it is not found by some of its attributes"
        case .strayTags: "an entry of the search index leads to a row that lacks the attribute, or to no row"
        case .missingOwner: "its item or directory is missing or damaged"
        case .count: "the stored number is wrong"
        case .content: "parts of its content are damaged or missing"
        case .contentForm: "its content as a whole is not as it was written, although each of its parts is authentic"
        }
    }
}

/// What an error means for a program that has more errors than codes, as a file system has.
public enum ErrorReason: String, CaseIterable, Sendable {
    /// There is an extended attribute of the name.
    case attributeExists
    /// The extended attributes of the file would be too many or too large.
    case attributesFull
    /// The connection has no file open by that handle, or not for this.
    case badHandle
    /// A directory would contain itself.
    case insideItself
    /// A directory is there, and the method is for a file.
    case isDirectory
    /// A symbolic link is there; the daemon follows none.
    case isSymbolicLink
    /// A name, or a part of it, has too many bytes, or too many parts.
    case nameTooLong
    /// There is no extended attribute of the name.
    case noAttribute
    /// A part of the path, or what has to be a directory, is a file.
    case notDirectory
    /// A directory is not empty.
    case notEmpty
    /// The method can't be applied to what is there.
    case notPermitted
    /// The vault does not keep such a thing.
    case notSupported
    /// A file would have too many names.
    case tooManyLinks
    /// Too many files are open.
    case tooManyOpen
    /// Another handle has the file open for writing.
    case writerElsewhere
}

/// What an entry of a directory is.
public enum FileType: String, CaseIterable, Sendable {
    /// A file, with a content.
    case file
    /// A directory.
    case directory
    /// A symbolic link: a path for the programs that open it.
    case symbolicLink
}

extension ItemChange {
    /// What happened to the item.
    public enum Kind: String, CaseIterable, Sendable {
        /// The item is new.
        case added
        /// Its secret or content, its attributes or its protection have changed.
        case changed
        /// The item was removed.
        case removed
        /// The item has a new name; formerName is the old one.
        ///
        /// The content of a directory has moved with it.
        case renamed
        /// The expiry date of the item has passed.
        ///
        /// The item itself has not changed.
        case expired
    }
}

/// The class of a keychain item, with the names of kSecClass.
public enum ItemClass: String, CaseIterable, Sendable {
    /// A password for a service.
    case genericPassword
    /// A password for a server.
    case internetPassword
    /// An X.509 certificate.
    case certificate
    /// A cryptographic key.
    case key
    /// Never stored: a certificate together with the private key of the same public key.
    case identity
}

/// How much a guess at the passcode costs.
public enum PasscodeCost: String, CaseIterable, Sendable {
    /// 64 MiB, about 50 ms.
    case interactive
    /// 256 MiB, about 400 ms: the default.
    case moderate
    /// 1 GiB, some seconds.
    case sensitive
}

/// The type of a private key.
public enum KeyType: String, CaseIterable, Sendable {
    /// Signatures: RFC 8032.
    case ed25519
    /// Key agreement: RFC 7748.
    case x25519
}

/// What opens the keyslot.
public enum KeyslotKind: String, CaseIterable, Sendable {
    /// The device key alone: the vault has no passcode.
    case device
    /// The passcode, and the device key.
    case passcode
    /// A recovery key.
    case recoveryKey
}

/// What an item is.
public enum ItemKind: String, CaseIterable, Sendable {
    /// A secret that a person types.
    case password
    /// A secret that a program presents.
    case token
    /// A cryptographic key.
    case key
    /// A certificate.
    case certificate
    /// Something a person wrote or received.
    case document
    /// A database file.
    case database
    /// A picture.
    case image
    /// A download that is kept.
    case download
    /// Something that can be created again.
    case cache
    /// Something needed for a short time only.
    case temporary
}

/// In which states of the vault the key of a file is in memory.
///
/// The names are those of FileProtectionType.
public enum ProtectionClass: String, CaseIterable, Sendable {
    /// Class A: readable only while unlocked; open handles end when the grace after a lock ends.
    case complete
    /// Class B: created, and used through that handle, in every state; opened again only while unlocked.
    case completeUnlessOpen
    /// Class C, the default of a file: readable after the first unlock since boot.
    case completeUntilFirstUserAuthentication
    /// Class CX: as class C, until the vault has been locked for a time.
    case completeWhenUserInactive
    /// Class D: not protected by the passcode; encrypted under the device key.
    case none
}

/// What a repair does.
public enum Repair: String, CaseIterable, Sendable {
    /// Moves the row aside, whole and unchanged.
    case quarantine
    /// Writes again what can be derived from other data.
    case rewrite
    /// Creates a directory in place of the missing one.
    case directory
    /// Nothing: the whole parts of the file can be saved, and the file must be stored again or removed.
    case salvage
    /// Nothing: what can still be read must be copied out of the vault.
    case copy
}

/// What is returned of an item.
///
/// The reference is returned with every item, even if it is not requested.
public enum KeychainReturn: String, CaseIterable, Sendable {
    /// The attributes, including user-defined ones.
    case attributes
    /// The secret.
    case data
    /// A transient reference.
    case reference
    /// A persistent reference: here the same.
    case persistentReference
}

/// What an item is used for.
public enum Scenario: String, CaseIterable, Sendable {
    /// Health records.
    case health
    /// Financial records.
    case financial
    /// A document that a person made.
    case userDocument
    /// A personal photograph.
    case personalPhoto
    /// A download that continues while the vault is locked.
    case download
    /// A recording that continues while the vault is locked.
    case recording
    /// An upload that continues while the vault is locked.
    case upload
    /// The data of a program.
    case appData
    /// A database file.
    case database
    /// A picture that can be downloaded again.
    case downloadedImage
    /// Something that can be created again.
    case cache
    /// Something needed for a short time only.
    case temporary
    /// A secret that a person types.
    case password
    /// A token that background work needs.
    case backgroundToken
}

/// The hash that a signature is made of.
public enum SignatureDigest: String, CaseIterable, Sendable {
    /// SHA-256: FIPS 180-4.
    case sha256
    /// SHA-384: FIPS 180-4.
    case sha384
    /// SHA-512: FIPS 180-4.
    case sha512
}

/// A stage of a check.
public enum CheckStage: String, CaseIterable, Sendable {
    /// The database file: each table with its indices, then the file as a whole.
    case database
    /// The items of the keychain.
    case keychainItems
    /// The search index of items.
    case keychainTags
    /// The files and directories of the catalog, without the contents of files.
    case files
    /// Former values of secrets, versions of files, the trash, and the contents that are kept for them.
    case past
    /// The numbers of items and files.
    case counts
    /// The contents of files: each chunk whose key is available now.
    case contents
}

/// The state of the vault.
public enum VaultState: String, CaseIterable, Sendable {
    /// There is no keybag yet.
    case noVault
    /// No passcode: every class key is in memory in every state, protected by the device key alone.
    case noPasscode
    /// The vault has not been unlocked since the daemon started, or was locked for so long that its keys
    /// were forgotten.
    case beforeFirstUnlock
    /// Every class key is in memory.
    case unlocked
    /// Locked, but during the grace: every class key stays in memory until it ends.
    case locking
    /// The keys of class A, the private key of class B and their keychain counterparts have been wiped.
    case locked
    /// Locked for so long that the key of class CX has been wiped as well.
    case lockedExpired
    /// There is a keybag, but not the device key with which it was made: a recovery key opens it.
    case deviceKeyMissing
}

/// The store that holds an item.
public enum StoreName: String, CaseIterable, Sendable {
    /// The keychain: small secrets.
    case keychain
    /// The file-protection store: files of any size.
    case file
}

/// A permission of a client.
public enum Verb: String, CaseIterable, Sendable {
    /// Reads items and files, and uses keys.
    case read
    /// Creates, changes, moves and protects them.
    case write
    /// Removes them.
    case delete
    /// Locks the vault.
    case lock
    /// Unlocks the vault, and authenticates with its passcode for single items.
    case unlock
    /// Lets other users read single items of the client's own user group.
    case share
    /// Creates, erases and repairs the vault, and manages its passcode and keyslots.
    case admin
    /// Reads the audit.
    case audit
    /// Reads the whole vault, sealed, for a backup that was set up.
    case backup
}

/// A factor that a client can present to authenticate its user.
public enum AuthenticationFactor: String, CaseIterable, Sendable {
    /// The passcode of the vault; a wrong one is counted.
    case passcode
    /// The password of an item; it is checked when the item is used.
    case applicationPassword
}

/// The access mode of a file handle.
public enum FileAccess: String, CaseIterable, Sendable {
    /// Reading only.
    case read
    /// Writing only.
    case write
    /// Reading and writing.
    case readWrite
}

/// The order in which a query returns its items.
public enum KeychainOrder: String, CaseIterable, Sendable {
    /// Oldest first.
    case creationDate
    /// Youngest first.
    case creationDateDescending = "-creationDate"
    /// Least recently changed first.
    case modificationDate
    /// Most recently changed first.
    case modificationDateDescending = "-modificationDate"
}

/// What to do with rows in quarantine.
public enum QuarantineAction: String, CaseIterable, Sendable {
    /// Lists them.
    case list
    /// Restores those that are authentic and whose place is free.
    case restore
    /// Destroys one of them.
    case discard
    /// Stops reporting past faults of the whole vault, and removes what was kept because of them.
    case acknowledge
}
