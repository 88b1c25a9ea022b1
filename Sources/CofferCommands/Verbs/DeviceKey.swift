internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

struct DeviceKeyVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-key",
        abstract: "The key that binds the machine's vault to the machine: how it is held, and how to hold it better.",
        subcommands: [CheckDeviceKey.self, SealDeviceKey.self]
    )
}

/// The locations of the device key of the machine's vault.
struct DeviceKeyPlaces: ParsableArguments {
    @Option(help: ArgumentHelp("The vault's state directory.", valueName: "dir"))
    var state = "/var/lib/coffer"

    @Option(help: ArgumentHelp("Where the sealed key is.", valueName: "file"), completion: .file())
    var sealed = "/etc/credstore.encrypted/coffer.device-key"

    /// The file name of the unsealed key in the state directory.
    static let plainName = "device.key"

    /// The state directory.
    func directory() throws(CofferError) -> Directory {
        do { return try Directory(openingPath: state) } catch {
            throw error.cofferError("can't open the state directory \(quotedForDisplay(state))")
        }
    }

    /// The unsealed key; `nil` if it does not exist.
    func plainKey() throws(CofferError) -> SecretBytes? {
        let directory = try directory()
        let found: OwnedDescriptor?
        do { found = try directory.openIfPresent(Self.plainName) } catch {
            throw error.cofferError("can't read the device key")
        }
        guard let file = found else { return nil }
        let key = try SecretInput.readAll(from: file.number, limit: SealedKey.keyBytes + 1, "the device key")
        guard key.count == SealedKey.keyBytes else {
            throw CofferError(.decode, "'\(Self.plainName)' has not exactly \(SealedKey.keyBytes) bytes")
        }
        return key
    }
}

struct CheckDeviceKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say how the device key is held.",
        discussion: "For root only: no other user may read the key, or have it opened. No daemon is asked."
    )

    @OptionGroup var places: DeviceKeyPlaces
    @OptionGroup var format: FormatOptions

    func run() throws {
        let isPlain = try places.plainKey() != nil
        let sealed = try SealedKey(at: places.sealed)
        let trouble = sealed.flatMap { sealed -> CofferError? in
            do throws(CofferError) { _ = try sealed.opened() } catch { return error }
            return nil
        }
        format.show(DeviceKeyReport(isPlain: isPlain, opens: sealed.map { _ in trouble == nil }))
        if let trouble { throw trouble }
        if !isPlain && sealed == nil {
            throw CofferError(
                .itemNotFound,
                "there is no device key in \(quotedForDisplay(places.state)), and none is sealed",
                hint: "'coffer init' makes a vault with one; 'systemctl show cofferd' tells of other credentials"
            )
        }
    }
}

/// How a device key is stored.
private struct DeviceKeyReport: Printable {
    let isPlain: Bool
    /// Whether the sealed key opens; `nil` if there is none.
    let opens: Bool?

    var json: JSONObject {
        var answer: JSONObject = ["plain": .bool(isPlain), "sealed": .bool(opens != nil)]
        if let opens { answer.set("opens", .bool(opens)) }
        return answer
    }

    var text: [Line] {
        (isPlain ? ["plain: in the state directory, readable by anyone who gets the disk"] : [])
            + (opens == true ? ["sealed: it opens on this machine"] : [])
    }
}

struct SealDeviceKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal the device key, so that the disk alone is not enough.",
        discussion: """
            For root. 'systemd-creds' seals the key to the machine; it is opened again, and only then is the plain file \
            overwritten and removed. The unit of the package finds the sealed key by itself at its next start. The chip looks \
            at nothing but itself: updates of firmware and kernel change nothing.
            """
    )

    @OptionGroup var places: DeviceKeyPlaces

    @Option(help: "What it takes to open it.")
    var withKey = SealedKey.Holder.auto

    @Flag(help: "Leave the plain key where it is.")
    var keep = false

    func run() throws {
        guard let key = try places.plainKey() else {
            throw CofferError(
                .itemNotFound,
                "there is no plain device key in \(quotedForDisplay(places.state))",
                hint: "'coffer device-key check' says how it is held"
            )
        }
        if let other = try SealedKey(at: places.sealed), try !other.opened().isEqual(to: key) {
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(places.sealed)) is the key of another vault",
                hint: "name another file with --sealed, or move that one away"
            )
        }
        let holder = withKey == .auto ? SealedKey.hasChip ? .hostAndChip : .host : withKey
        try write(try SealedKey(key, to: holder))
        // Only the file on the disk counts.
        guard let written = try SealedKey(at: places.sealed), try written.opened().isEqual(to: key) else {
            throw CofferError(.io, "what was written to \(quotedForDisplay(places.sealed)) is not what was sealed")
        }
        if !keep { try destroyPlainKey() }
        Output.standardOutput.line("sealed to \(Self.words(for: holder))")
        Output.standardError.line(
            """
            A unit that is not the package's wants the line
            LoadCredentialEncrypted=\(SealedKey.credentialName):\(places.sealed)
            """
        )
    }

    private static func words(for holder: SealedKey.Holder) -> String {
        switch holder {
        case .auto, .host: "this machine's disk: anyone who gets the whole of it has the key"
        case .tpm2: "this machine's chip"
        case .hostAndChip: "this machine's chip and its disk"
        }
    }

    private func write(_ sealed: SealedKey) throws(CofferError) {
        let parts = places.sealed.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        do throws(SystemError) {
            let directory = try Directory(makingPath: parts.count > 1 ? folder + "/" : ".")
            try unsafe directory.replace(String(parts.last ?? ""), with: sealed.bytes.span.bytes)
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(places.sealed))")
        }
    }

    private func destroyPlainKey() throws(CofferError) {
        let directory = try places.directory()
        do throws(SystemError) {
            try directory.shredLeftovers(of: DeviceKeyPlaces.plainName)
            try directory.shred(DeviceKeyPlaces.plainName)
        } catch {
            throw error.cofferError("the key is sealed, and the plain one could not be destroyed")
        }
    }
}
