internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferTerminal
internal import CofferWire

struct DeviceKeyVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-key",
        abstract: "Show how the key of this machine is stored, or seal it to the TPM.",
        subcommands: [CheckDeviceKey.self, SealDeviceKey.self]
    )
}

/// The options that locate the device key of the machine's vault.
struct DeviceKeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The vault's state directory.", valueName: "dir"))
    var state = DeviceKeyFiles().state

    @Option(help: ArgumentHelp("Where the sealed key is.", valueName: "file"), completion: .file())
    var sealed = DeviceKeyFiles().sealed

    var files: DeviceKeyFiles { DeviceKeyFiles(state: state, sealed: sealed) }
}

struct CheckDeviceKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say how the device key is held.",
        discussion: "For root only: no other user may read the key, or have it opened. No daemon is asked."
    )

    @OptionGroup var places: DeviceKeyOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let isPlain = try places.files.plainKey() != nil
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

    @OptionGroup var places: DeviceKeyOptions

    @Option(help: "What it takes to open it.")
    var withKey = SealedKey.Holder.auto

    @Flag(help: "Leave the plain key where it is.")
    var keep = false

    func run() throws {
        let holder = try places.files.seal(to: withKey, keepsPlain: keep)
        Output.standardOutput.line("sealed to \(holder.words)")
        Output.standardError.line(
            """
            A unit that is not the package's wants the line
            LoadCredentialEncrypted=\(SealedKey.credentialName):\(places.sealed)
            """
        )
    }
}
