package import CofferCore
package import CofferMemory

/// Converts certificates from the usual file formats to DER, which the daemon requires.
package enum CertificateInput {
    /// Returns the DER of a certificate that is given as DER or PEM.
    ///
    /// - Parameter input: The whole file. Input that begins like DER is passed on unchecked, and the daemon
    ///   checks it. Any other input must be PEM, of which the first CERTIFICATE block is used; a private key
    ///   in the same file is not sent.
    /// - Returns: The DER.
    /// - Throws: `param` with the line if there is no certificate, or a block is malformed.
    package static func der(from input: consuming SecretBytes) throws(CofferError) -> SecretBytes {
        let isDER = input.withBytes { $0.isDER }
        if isDER { return input }
        return try input.withBytes { (text) throws(CofferError) in
            try PEM(.certificate).block(in: text).takeBytes()
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
