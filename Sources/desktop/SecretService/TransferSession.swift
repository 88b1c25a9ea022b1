internal import CofferBus
internal import CofferClient
internal import CofferCrypto
internal import CofferSystem
internal import Glibc

/// How secrets are passed between a client and the service, agreed on when the client opens a session.
final class TransferSession {
    /// The connection to the bus that has opened it, and may use it, or of the service with which this process has.
    let owner: String
    private let transfer: Transfer

    private enum Transfer: ~Copyable {
        /// Secrets as they are.
        case plain
        case encrypted(SessionCipher)
    }

    private init(_ owner: String, _ transfer: consuming Transfer) {
        self.owner = owner
        self.transfer = transfer
    }

    /// A session of this process with another service, which passes secrets as they are.
    convenience init(plainWith service: String) { self.init(service, .plain) }

    /// A session of this process with another service.
    convenience init(with service: String, encryptedBy cipher: consuming SessionCipher) {
        self.init(service, .encrypted(cipher))
    }

    /// The algorithm of a session that encrypts.
    static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Agrees on a session.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm that the client names.
    ///   - key: The client's public key.
    ///   - owner: The client's connection to the bus.
    /// - Returns: The session, and the service's public key; `nil` if the algorithm has none.
    static func open(
        _ algorithm: String,
        with key: Secret,
        for owner: String
    ) throws -> (session: TransferSession, publicKey: [UInt8]?) {
        switch algorithm {
        case "plain": return (TransferSession(owner, .plain), nil)
        case Self.algorithm:
            guard let exchange = try OakleyExchange() else {
                throw BusFailure(bus: "NotSupported", "this machine has no libcrypto.so.3, which encrypts")
            }
            let cipher = try key.withBytes { (bytes) throws(CryptoError) in try exchange.cipher(with: bytes) }
            return (TransferSession(owner, .encrypted(cipher)), exchange.publicKey)
        default:
            throw BusFailure(bus: "NotSupported", "no session has the algorithm \(quotedForDisplay(algorithm))")
        }
    }

    /// The secret that a client has passed.
    ///
    /// - Parameters:
    ///   - value: The secret as it was passed.
    ///   - vector: The initialization vector.
    func opened(_ value: Secret, _ vector: Secret) throws(CryptoError) -> Secret {
        switch transfer {
        case .plain: return value
        case .encrypted(let cipher):
            return try value.withBytes { (ciphertext) throws(CryptoError) in
                try vector.withBytes { (vector) throws(CryptoError) in
                    Secret(try cipher.decrypt(ciphertext, vector: vector))
                }
            }
        }
    }

    /// Appends a secret as the session passes it.
    ///
    /// - Parameter path: The path of the session.
    func append(_ secret: Secret, _ contentType: String, in path: String, to writer: BusWriter) throws(SystemError) {
        try writer.openStructure(of: "oayays")
        try writer.objectPath(path)
        switch transfer {
        case .plain:
            try writer.bytes(RawSpan())
            try secret.withBytes { (bytes) throws(SystemError) in try writer.bytes(bytes) }
        case .encrypted(let cipher):
            let sealed: (vector: [UInt8], ciphertext: [UInt8])
            do { sealed = try secret.withBytes { (bytes) throws(CryptoError) in try cipher.encrypt(bytes) } } catch {
                throw SystemError("encrypt", code: ENOMEM)
            }
            try unsafe writer.bytes(sealed.vector.span.bytes)
            try unsafe writer.bytes(sealed.ciphertext.span.bytes)
        }
        try writer.text(contentType)
        try writer.close()
    }
}
