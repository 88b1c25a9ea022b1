package import CofferClient
internal import CofferMemory
internal import CofferProcesses
internal import CofferSystem

/// A QR code of a secret in characters of a terminal, made by `qrencode`.
package struct QRCode {
    private let characters: Secret

    /// Makes the code; `nil` if `qrencode` is not installed.
    package init?(of secret: Secret) throws(CofferError) {
        var output: SecretBytes
        do { output = try SecretBytes(zeros: Limits.qrCodeBytes) } catch { throw .noSecretMemory }
        let outcome = secret.withBytes { input in
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe try? Tool.run("qrencode", ["--type=ANSIUTF8", "--output=-"], input: input, into: buffer)
            }
        }
        guard let outcome, outcome.isSuccess else { return nil }
        output.truncate(to: outcome.count)
        characters = Secret(output)
    }

    /// Draws the code.
    package func write(to terminal: Int32) throws(CofferError) { try characters.write(to: terminal, "the QR code") }
}
