internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferTerminal

extension SecretInput {
    /// A certificate as DER, given as DER or as PEM.
    static func certificate(of file: String?) throws(CofferError) -> SecretBytes {
        // PEM is a third longer than DER, and often has words and a private key beside it.
        try CertificateInput.der(from: try content(of: file, prompt: "Certificate: ", limit: 4 * Limits.secretBytes))
    }
}
