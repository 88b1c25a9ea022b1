internal import ArgumentParser
package import CofferCore
package import CofferMemory

/// The source of the passphrase of an encrypted key.
package struct PassphraseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passphrase of an encrypted key from this descriptor.", valueName: "number"))
    var passphraseFd: Int32?

    /// Reads it, or asks for it on the terminal.
    package func read() throws(CofferError) -> SecretBytes {
        if let passphraseFd { return try SecretInput.line(from: passphraseFd, "the passphrase") }
        return try SecretInput.ask(
            "Passphrase of the key: ",
            limit: Limits.passcodeBytes,
            orElse: "the key is encrypted: give its passphrase by --passphrase-fd"
        )
    }
}
