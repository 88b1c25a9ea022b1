/// The format in which a private key is written.
package enum KeyFormat: String, CaseIterable {
    /// OpenSSH's, not encrypted.
    case openssh
    /// PKCS#8 in PEM, not encrypted.
    case pkcs8
    /// As it is stored: 32 bytes, or PKCS#8 in DER.
    case raw
}
