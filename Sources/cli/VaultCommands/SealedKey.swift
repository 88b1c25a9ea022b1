internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferProcesses
internal import CofferSystem

/// A device key that `systemd-creds` has sealed: it opens only on one machine, and may be stored anywhere.
struct SealedKey {
    /// What is required to open it.
    enum Holder: String, CaseIterable, ExpressibleByArgument {
        /// The machine's chip, if it has one, and its disk; or its disk alone.
        case auto
        /// A secret on the machine's disk.
        case host
        /// The machine's chip.
        case tpm2
        /// Both.
        case hostAndChip = "host+tpm2"
    }

    /// The credential name in the service manager, which is sealed with the key.
    static let credentialName = "device-key"
    /// The size of the key.
    static let keyBytes = 32

    /// The sealed bytes.
    let bytes: [UInt8]

    /// Reads a sealed key; `nil` if the file does not exist.
    init?(at path: String) throws(CofferError) {
        do {
            guard let found = try OwnedDescriptor.content(ofFile: path, upTo: Limits.sealedKeyBytes) else { return nil }
            bytes = found
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    /// Seals a key and checks that it opens on this machine.
    init(_ key: borrowing SecretBytes, to holder: Holder) throws(CofferError) {
        var failure: CofferError?
        for option in Self.chipOptions(of: holder) {
            do throws(CofferError) {
                let sealed = try Self(key, to: holder, option)
                if try sealed.opened().isEqual(to: key) {
                    self = sealed
                    return
                }
                failure = CofferError(.io, "what was sealed opens as something else")
            } catch {
                failure = error
            }
        }
        throw failure ?? CofferError(.io, "nothing was sealed")
    }

    /// The PCRs that the TPM checks: none, because firmware changes with every update.
    ///
    /// systemd 252 can seal without a PCR, but not open the result. The debug PCR 16 never changes and is
    /// equivalent.
    private static func chipOptions(of holder: Holder) -> [[String]] {
        holder == .host ? [[]] : [["--tpm2-pcrs="], ["--tpm2-pcrs=16"]]
    }

    private init(_ key: borrowing SecretBytes, to holder: Holder, _ options: [String]) throws(CofferError) {
        let arguments = ["encrypt", "--name=\(Self.credentialName)", "--with-key=\(holder.rawValue)"] + options
        let sealed = try key.withBytes { (input) throws(CofferError) in
            try Self.run(arguments, input, upTo: Limits.sealedKeyBytes, "can't seal the device key")
        }
        bytes = sealed.exposeBytes()
    }

    /// Opens the key.
    ///
    /// - Throws: `decode` if it does not open on this machine.
    func opened() throws(CofferError) -> SecretBytes {
        let failure = "the sealed device key does not open on this machine"
        let arguments = ["decrypt", "--name=\(Self.credentialName)"]
        return unsafe try Self.run(arguments, bytes.span.bytes, upTo: Self.keyBytes + 1, failure)
    }

    /// Whether the machine has a TPM that firmware, kernel and systemd support.
    static var hasChip: Bool {
        var nothing: [UInt8] = [0]
        let outcome = unsafe nothing.withUnsafeMutableBytes { buffer in
            unsafe try? Tool.run("systemd-creds", ["has-tpm2", "--quiet"], into: buffer)
        }
        return outcome?.isSuccess == true
    }

    /// Runs `systemd-creds` with input and output through pipes.
    private static func run(
        _ arguments: [String],
        _ input: RawSpan,
        upTo limit: Int,
        _ failure: String
    ) throws(CofferError) -> SecretBytes {
        var output: SecretBytes
        do { output = try SecretBytes(zeros: limit) } catch { throw .noSecretMemory }
        let outcome: Tool.Outcome
        do throws(SystemError) {
            outcome = unsafe try output.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                unsafe try Tool.run("systemd-creds", arguments + ["-", "-"], input: input, into: buffer)
            }
        } catch {
            throw error.cofferError("can't run 'systemd-creds', of the package 'systemd'")
        }
        guard outcome.isSuccess else {
            throw CofferError(.decode, "\(failure): systemd-creds: \(quotedForDisplay(outcome.lastWords))")
        }
        output.truncate(to: outcome.count)
        return output
    }
}
