internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferSystem

/// A device key in the form that `systemd-creds` gives it: it opens on one machine only, and may lie anywhere.
struct SealedKey {
    /// What it takes to open one.
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

    /// The name that the service manager gives it by, and that is sealed in.
    static let credentialName = "device-key"
    /// The bytes of the key itself.
    static let keyBytes = 32
    /// The most that a sealed key has: one with a chip's part has about a kilobyte.
    private static let sealedBytes = 16 << 10

    /// The sealed form.
    let bytes: [UInt8]

    /// Reads one; `nil` where there is no such file.
    init?(at path: String) throws(CofferError) {
        do {
            guard let file = try OwnedDescriptor(openingIfPresent: path) else { return nil }
            bytes = try file.content(upTo: Self.sealedBytes)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    /// Seals a key, so that it opens again here and now.
    init(_ key: borrowing SecretBytes, to holder: Holder) throws(CofferError) {
        var failure: CofferError?
        for option in Self.chipOptions(of: holder) {
            do throws(CofferError) {
                let sealed = try Self(key, to: holder, option)
                if try sealed.opened().isEqual(to: key) {
                    self = sealed
                    return
                }
                failure = CofferError(.internal, "what was sealed opens as something else")
            } catch {
                failure = error
            }
        }
        throw failure ?? CofferError(.internal, "nothing was sealed")
    }

    /// What else the chip is to look at: nothing, for firmware changes with every update.
    ///
    /// systemd 252 can seal so, and not open it again. The register for debugging never changes, and comes to the same.
    private static func chipOptions(of holder: Holder) -> [[String]] {
        holder == .host ? [[]] : [["--tpm2-pcrs="], ["--tpm2-pcrs=16"]]
    }

    private init(_ key: borrowing SecretBytes, to holder: Holder, _ options: [String]) throws(CofferError) {
        var sealed = [UInt8](repeating: 0, count: Self.sealedBytes)
        let arguments = ["encrypt", "--name=\(Self.credentialName)", "--with-key=\(holder.rawValue)"] + options
        let count = try key.withBytes { (input) throws(CofferError) in
            let outcome = unsafe sealed.withUnsafeMutableBytes { buffer in
                Result { () throws(CofferError) in
                    unsafe try Self.run(arguments + ["-", "-"], input, buffer, "can't seal the device key")
                }
            }
            return try outcome.get()
        }
        bytes = Array(sealed.prefix(count))
    }

    /// The key.
    ///
    /// - Throws: `decode` where it does not open here.
    func opened() throws(CofferError) -> SecretBytes {
        var key: SecretBytes
        do { key = try SecretBytes(zeros: Self.keyBytes + 1) } catch { throw .noSecretMemory }
        let count = unsafe try key.withUnsafeMutableBytes { (buffer) throws(CofferError) in
            unsafe try Self.run(
                ["decrypt", "--name=\(Self.credentialName)", "-", "-"],
                bytes.span.bytes,
                buffer,
                "the sealed device key does not open on this machine"
            )
        }
        key.truncate(to: count)
        return key
    }

    /// Whether the machine has a chip that firmware, kernel and systemd can use.
    static var hasChip: Bool {
        var nothing: [UInt8] = [0]
        let outcome = unsafe nothing.withUnsafeMutableBytes { buffer in
            unsafe try? Tool.run("systemd-creds", ["has-tpm2", "--quiet"], into: buffer)
        }
        return outcome?.isSuccess == true
    }

    private static func run(
        _ arguments: [String],
        _ input: RawSpan,
        _ buffer: UnsafeMutableRawBufferPointer,
        _ failure: String
    ) throws(CofferError) -> Int {
        let outcome: Tool.Outcome
        do throws(SystemError) {
            outcome = unsafe try Tool.run("systemd-creds", arguments, input: input, into: buffer)
        } catch {
            throw error.cofferError("can't run 'systemd-creds', of the package 'systemd'")
        }
        if outcome.isSuccess { return outcome.count }
        throw CofferError(.decode, "\(failure): systemd-creds: \(quotedForDisplay(outcome.lastWords))")
    }
}
