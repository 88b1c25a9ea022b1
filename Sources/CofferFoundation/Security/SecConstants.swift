// The names of Security's dictionaries, with the values that they have on iOS. `proto-docs/FOUNDATION.md` has them, too.

// MARK: Classes

/// The class of an item.
public let kSecClass = "class"
/// A password for a service.
public let kSecClassGenericPassword = "genp"
/// A password for a server.
public let kSecClassInternetPassword = "inet"
/// An X.509 certificate.
public let kSecClassCertificate = "cert"
/// A cryptographic key.
public let kSecClassKey = "keys"
/// A certificate joined with its private key: found, never added.
public let kSecClassIdentity = "idnt"

// MARK: Attributes

/// When the secret is there: a value of `kSecAttrAccessible…`.
public let kSecAttrAccessible = "pdmn"
/// What has to be shown: a ``SecAccessControl``, in place of `kSecAttrAccessible`.
public let kSecAttrAccessControl = "accc"
/// The access group: text.
public let kSecAttrAccessGroup = "agrp"
/// Whether the item is one of those to be synchronized, which is a part of its primary key: a truth value.
public let kSecAttrSynchronizable = "sync"
/// When it was added: a date.
public let kSecAttrCreationDate = "cdat"
/// When it was changed: a date.
public let kSecAttrModificationDate = "mdat"
/// What it is called: text.
public let kSecAttrLabel = "labl"
/// What it is: text.
public let kSecAttrDescription = "desc"
/// A comment: text.
public let kSecAttrComment = "icmt"
/// Who made it: a number.
public let kSecAttrCreator = "crtr"
/// Its type: a number.
public let kSecAttrType = "type"
/// Whether it is not to be shown: a truth value.
public let kSecAttrIsInvisible = "invi"
/// Whether there is no password: a truth value.
public let kSecAttrIsNegative = "nega"
/// The account: text.
public let kSecAttrAccount = "acct"
/// The service: text.
public let kSecAttrService = "svce"
/// Anything: bytes.
public let kSecAttrGeneric = "gena"
/// The security domain: text.
public let kSecAttrSecurityDomain = "sdmn"
/// The server: text.
public let kSecAttrServer = "srvr"
/// The protocol: text, such as `kSecAttrProtocolHTTPS`.
public let kSecAttrProtocol = "ptcl"
/// How one logs in: text, such as `kSecAttrAuthenticationTypeDefault`.
public let kSecAttrAuthenticationType = "atyp"
/// The port: a number.
public let kSecAttrPort = "port"
/// The path: text.
public let kSecAttrPath = "path"
/// The subject of a certificate: bytes.
public let kSecAttrSubject = "subj"
/// The issuer of a certificate: bytes.
public let kSecAttrIssuer = "issr"
/// The serial number of a certificate: bytes.
public let kSecAttrSerialNumber = "slnr"
/// The key identifier of a certificate: bytes.
public let kSecAttrSubjectKeyID = "skid"
/// The hash of a certificate's public key: bytes.
public let kSecAttrPublicKeyHash = "pkhh"
/// The type of a certificate: a number.
public let kSecAttrCertificateType = "ctyp"
/// The encoding of a certificate: a number.
public let kSecAttrCertificateEncoding = "cenc"
/// The class of a key: `kSecAttrKeyClassPublic`, `…Private` or `…Symmetric`.
public let kSecAttrKeyClass = "kcls"
/// The hash of a pair's public key: bytes.
public let kSecAttrApplicationLabel = "klbl"
/// A mark of the program's own: bytes.
public let kSecAttrApplicationTag = "atag"
/// The kind of a key: `kSecAttrKeyTypeEd25519` or `kSecAttrKeyTypeX25519`.
public let kSecAttrKeyType = "type"
/// The size of a key: a number.
public let kSecAttrKeySizeInBits = "bsiz"
/// The size of a key as far as it counts: a number.
public let kSecAttrEffectiveKeySize = "esiz"
/// Whether a key may leave the daemon: a truth value.
public let kSecAttrIsExtractable = "extr"
/// Whether a key encrypts: a truth value.
public let kSecAttrCanEncrypt = "encr"
/// Whether a key decrypts: a truth value.
public let kSecAttrCanDecrypt = "decr"
/// Whether keys are derived from it: a truth value.
public let kSecAttrCanDerive = "drve"
/// Whether a key signs: a truth value.
public let kSecAttrCanSign = "sign"
/// Whether a key verifies: a truth value.
public let kSecAttrCanVerify = "vrfy"
/// Whether a key wraps others: a truth value.
public let kSecAttrCanWrap = "wrap"
/// Whether a key unwraps others: a truth value.
public let kSecAttrCanUnwrap = "unwp"

// MARK: When a secret is there

/// While the vault is unlocked: where nothing else is said.
public let kSecAttrAccessibleWhenUnlocked = "ak"
/// From the first unlock on.
public let kSecAttrAccessibleAfterFirstUnlock = "ck"
/// Always, which is deprecated.
public let kSecAttrAccessibleAlways = "dk"
/// While the vault is unlocked, and in no backup to another device.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = "aku"
/// From the first unlock on, and in no backup to another device.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
/// Always, which is deprecated, and in no backup to another device.
public let kSecAttrAccessibleAlwaysThisDeviceOnly = "dku"
/// While the vault is unlocked, and as long as it has a passcode.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = "akpu"

// MARK: Looking for items

/// In a query, beside `kSecAttrSynchronizable`: the items that are, and those that are not.
public let kSecAttrSynchronizableAny = "syna"
/// How many items are wanted: a number from 1 on, or one of the two below; one if nothing is said.
public let kSecMatchLimit = "m_Limit"
/// One item.
public let kSecMatchLimitOne = "m_LimitOne"
/// All items.
public let kSecMatchLimitAll = "m_LimitAll"
/// Whether the secret is wanted: a truth value.
public let kSecReturnData = "r_Data"
/// Whether the attributes are wanted: a truth value.
public let kSecReturnAttributes = "r_Attributes"
/// Whether a ``SecItemReference`` is wanted: a truth value.
public let kSecReturnRef = "r_Ref"
/// Whether the persistent reference is wanted: a truth value.
public let kSecReturnPersistentRef = "r_PersistentRef"
/// The secret: bytes.
public let kSecValueData = "v_Data"
/// The ``SecItemReference`` of an item; beside it only the class.
public let kSecValueRef = "v_Ref"
/// The persistent reference of an item, bytes; beside it only the class.
public let kSecValuePersistentRef = "v_PersistentRef"
/// Whether it is the keychain of this kind that is meant: true, as there is no other.
public let kSecUseDataProtectionKeychain = "nleg"
/// What is shown: an ``LAContext``.
public let kSecUseAuthenticationContext = "u_AuthCtx"
/// Whether somebody may be asked, which never happens here: one of the two below.
public let kSecUseAuthenticationUI = "u_AuthUI"
/// Somebody may be asked.
public let kSecUseAuthenticationUIAllow = "u_AuthUIA"
/// Nobody may be asked.
public let kSecUseAuthenticationUIFail = "u_AuthUIF"

// MARK: Keys

/// A public key.
public let kSecAttrKeyClassPublic = "0"
/// A private key.
public let kSecAttrKeyClassPrivate = "1"
/// A symmetric key.
public let kSecAttrKeyClassSymmetric = "2"
/// Keys that sign: Coffer's own name.
public let kSecAttrKeyTypeEd25519 = "ed25519"
/// Keys that agree on secrets: Coffer's own name.
public let kSecAttrKeyTypeX25519 = "x25519"

// MARK: Protocols and ways to log in

/// The protocol.
public let kSecAttrProtocolFTP = "ftp "
/// The protocol.
public let kSecAttrProtocolHTTP = "http"
/// The protocol.
public let kSecAttrProtocolHTTPS = "htps"
/// The protocol.
public let kSecAttrProtocolIMAP = "imap"
/// The protocol.
public let kSecAttrProtocolIMAPS = "imps"
/// The protocol.
public let kSecAttrProtocolLDAP = "ldap"
/// The protocol.
public let kSecAttrProtocolLDAPS = "ldps"
/// The protocol.
public let kSecAttrProtocolPOP3 = "pop3"
/// The protocol.
public let kSecAttrProtocolPOP3S = "pops"
/// The protocol.
public let kSecAttrProtocolSMB = "smb "
/// The protocol.
public let kSecAttrProtocolSMTP = "smtp"
/// The protocol.
public let kSecAttrProtocolSOCKS = "sox "
/// The protocol.
public let kSecAttrProtocolSSH = "ssh "
/// The protocol.
public let kSecAttrProtocolTelnet = "teln"
/// The way to log in.
public let kSecAttrAuthenticationTypeDefault = "dflt"
/// The way to log in.
public let kSecAttrAuthenticationTypeHTMLForm = "form"
/// The way to log in.
public let kSecAttrAuthenticationTypeHTTPBasic = "http"
/// The way to log in.
public let kSecAttrAuthenticationTypeHTTPDigest = "httd"
/// The way to log in.
public let kSecAttrAuthenticationTypeNTLM = "ntlm"
/// The way to log in.
public let kSecAttrAuthenticationTypeMSN = "msna"
/// The way to log in.
public let kSecAttrAuthenticationTypeDPA = "dpaa"
/// The way to log in.
public let kSecAttrAuthenticationTypeRPA = "rpaa"
