// The keys and values of Security's dictionaries, as on iOS; `proto-docs/FOUNDATION.md` lists them as well.

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
/// A certificate with its private key; it can be found, but not added.
public let kSecClassIdentity = "idnt"

// MARK: Attributes

/// When the secret is available: a value of `kSecAttrAccessible…`.
public let kSecAttrAccessible = "pdmn"
/// The required authentication: a ``SecAccessControl``, instead of `kSecAttrAccessible`.
public let kSecAttrAccessControl = "accc"
/// The access group: text.
public let kSecAttrAccessGroup = "agrp"
/// Whether the item is marked for synchronization, which is part of its primary key: a truth value.
public let kSecAttrSynchronizable = "sync"
/// When the item was added: a date.
public let kSecAttrCreationDate = "cdat"
/// When the item was changed: a date.
public let kSecAttrModificationDate = "mdat"
/// The label: text.
public let kSecAttrLabel = "labl"
/// The description: text.
public let kSecAttrDescription = "desc"
/// A comment: text.
public let kSecAttrComment = "icmt"
/// The creator: a number.
public let kSecAttrCreator = "crtr"
/// Its type: a number.
public let kSecAttrType = "type"
/// Whether a user interface hides it: a truth value.
public let kSecAttrIsInvisible = "invi"
/// Whether the item has no password: a truth value.
public let kSecAttrIsNegative = "nega"
/// The account: text.
public let kSecAttrAccount = "acct"
/// The service: text.
public let kSecAttrService = "svce"
/// User-defined data: bytes.
public let kSecAttrGeneric = "gena"
/// The security domain: text.
public let kSecAttrSecurityDomain = "sdmn"
/// The server: text.
public let kSecAttrServer = "srvr"
/// The protocol: text, such as `kSecAttrProtocolHTTPS`.
public let kSecAttrProtocol = "ptcl"
/// The authentication scheme: text, such as `kSecAttrAuthenticationTypeDefault`.
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
/// The hash of the public key of the pair: bytes.
public let kSecAttrApplicationLabel = "klbl"
/// A private tag of the program: bytes.
public let kSecAttrApplicationTag = "atag"
/// The kind of a key: `kSecAttrKeyTypeEd25519` or `kSecAttrKeyTypeX25519`.
public let kSecAttrKeyType = "type"
/// The size of a key: a number.
public let kSecAttrKeySizeInBits = "bsiz"
/// The effective size of a key: a number.
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

// MARK: Availability

/// While the vault is unlocked; the default.
public let kSecAttrAccessibleWhenUnlocked = "ak"
/// After the first unlock.
public let kSecAttrAccessibleAfterFirstUnlock = "ck"
/// Always; deprecated.
public let kSecAttrAccessibleAlways = "dk"
/// While the vault is unlocked; not restored to another device.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = "aku"
/// After the first unlock; not restored to another device.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
/// Always; deprecated; not restored to another device.
public let kSecAttrAccessibleAlwaysThisDeviceOnly = "dku"
/// While the vault is unlocked, as long as it has a passcode.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = "akpu"
/// While the vault is unlocked, but added and replaced in every state; not of iOS.
public let kSecAttrAccessibleWhenUnlockedDeposit = "bk"

// MARK: Queries

/// In a query, as the value of `kSecAttrSynchronizable`: items with and without the mark.
public let kSecAttrSynchronizableAny = "syna"
/// The maximum number of items: a number from 1, or one of the next two; one by default.
public let kSecMatchLimit = "m_Limit"
/// One item.
public let kSecMatchLimitOne = "m_LimitOne"
/// All items.
public let kSecMatchLimitAll = "m_LimitAll"
/// Whether to return the secret: a truth value.
public let kSecReturnData = "r_Data"
/// Whether to return the attributes: a truth value.
public let kSecReturnAttributes = "r_Attributes"
/// Whether to return a ``SecItemReference``: a truth value.
public let kSecReturnRef = "r_Ref"
/// Whether to return the persistent reference: a truth value.
public let kSecReturnPersistentRef = "r_PersistentRef"
/// The secret: bytes.
public let kSecValueData = "v_Data"
/// The ``SecItemReference`` of an item; only the class may be given with it.
public let kSecValueRef = "v_Ref"
/// The persistent reference of an item, bytes; only the class may be given with it.
public let kSecValuePersistentRef = "v_PersistentRef"
/// Whether to use the data protection keychain: always true, because there is no other.
public let kSecUseDataProtectionKeychain = "nleg"
/// The authentication: an ``LAContext``.
public let kSecUseAuthenticationContext = "u_AuthCtx"
/// Whether a prompt is allowed, which never appears here: one of the next three.
public let kSecUseAuthenticationUI = "u_AuthUI"
/// A prompt is allowed.
public let kSecUseAuthenticationUIAllow = "u_AuthUIA"
/// A prompt is not allowed: an item that wants authentication is `errSecInteractionNotAllowed`.
public let kSecUseAuthenticationUIFail = "u_AuthUIF"
/// `SecItemCopyMatching` leaves out the items that want authentication.
public let kSecUseAuthenticationUISkip = "u_AuthUIS"

// MARK: Keys

/// A public key.
public let kSecAttrKeyClassPublic = "0"
/// A private key.
public let kSecAttrKeyClassPrivate = "1"
/// A symmetric key.
public let kSecAttrKeyClassSymmetric = "2"
/// Signing keys; a name of Coffer.
public let kSecAttrKeyTypeEd25519 = "ed25519"
/// Key agreement keys; a name of Coffer.
public let kSecAttrKeyTypeX25519 = "x25519"

// MARK: Protocols and authentication schemes

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
