package import CofferCore
package import CofferMemory

/// Certificates as people have them, as the daemon wants them: in DER.
package enum CertificateInput {
    /// Gives a certificate's DER, whether it comes in DER or in PEM.
    ///
    /// - Parameter input: All of a file. What begins like DER is passed on as it is, for the daemon to judge; anything else
    ///   has to be PEM, and its first block of a CERTIFICATE counts. A private key beside it stays here.
    /// - Returns: The DER.
    /// - Throws: `param` where there is no certificate, or a block is malformed, with its line.
    package static func der(from input: consuming SecretBytes) throws(CofferError) -> SecretBytes {
        let isDER = input.withBytes { bytes in bytes.byteCount > 0 && bytes.byte(at: 0) == 0x30 }
        if isDER { return input }
        return try input.withBytes { (bytes) throws(CofferError) in
            try PEM(bytes.byteCount, .certificate).block(in: bytes).takeBytes()
        }
    }
}

extension PEM.Subject {
    fileprivate static let certificate = PEM.Subject(
        name: "the certificate",
        labels: ["CERTIFICATE"],
        hint: "give an X.509 certificate in PEM, from its line '-----BEGIN CERTIFICATE-----' on, or in DER"
    )
}
