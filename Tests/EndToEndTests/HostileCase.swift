import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A verb that asks a daemon, and all that it asks.
struct HostileCase: CustomTestStringConvertible, Sendable {
    let verb: [String]
    let arguments: [String]
    let methods: [String]
    let state: String
    let hasJSON: Bool
    /// Of a verb that listens until the daemon goes: how much it asks before.
    let requestCount: Int?

    private init(
        _ verb: String,
        _ options: String = "",
        _ methods: [String],
        state: String = "unlocked",
        json: Bool = true,
        requestCount: Int? = nil
    ) {
        self.verb = verb.split(separator: " ").map(String.init)
        arguments = self.verb + options.split(separator: " ").map(String.init)
        self.methods = methods
        self.state = state
        hasJSON = json
        self.requestCount = requestCount
    }

    var testDescription: String { arguments.joined(separator: " ") }

    /// What the daemon says as it is: the vault is that of the frozen repository.
    var fixed: [String: JSONValue] {
        var fixed: [String: JSONValue] = ["state": .string(state), "delivery": "payload"]
        if usesRepository { fixed["vaultID"] = "000102030405060708090a0b0c0d0e0f" }
        return fixed
    }

    /// Whether it needs a repository in its directory.
    var usesRepository: Bool { arguments.contains(Self.repository) }

    /// What a person is shown of items that expire takes.
    private static let expiry = ["entitlement.explain", "item.list"]

    /// The name of the repository in the directory.
    static let repository = "repository"

    /// Methods that verbs call once they have got what a hostile daemon can't give, the descriptor of a part, or beside
    /// programs of the system, as `mount` and `umount` do.
    static let unreached: Set = ["backup.contents", "backup.end", "file.syncTree", "mount.serve"]

    /// The verbs that have none below them.
    static func verbs(of command: JSONValue, below path: [String] = []) -> [String] {
        let below = command.objectValue?["subcommands"]?.arrayValue ?? []
        if below.isEmpty { return [path.joined(separator: " ")] }
        return below.flatMap { verb in
            verbs(of: verb, below: path + [verb.objectValue?["commandName"]?.stringValue ?? ""])
        }
    }

    static let all: [HostileCase] = everyday + keychain + files + vault + rights + backup

    private static let everyday = [
        HostileCase("put", "a pass --explain", ["item.put"]),
        HostileCase("get", "a --passcode-fd 3", ["item.get", "context.authenticate"], json: false),
        HostileCase("get", "a --output out", ["item.get"], json: false),
        HostileCase("list", "", ["item.list"]),
        HostileCase("list", "--long", ["item.list"]),
        HostileCase("search", "a", ["item.list"]),
        HostileCase("show", "a", ["item.show", "entitlement.list", "access.list"]),
        HostileCase("history", "a", ["item.show", "keychain.history"]),
        HostileCase("restore", "a", ["item.show", "keychain.history", "keychain.restore"], json: false),
        HostileCase("move", "a b --passcode-fd 3", ["item.move", "context.authenticate"]),
        HostileCase("remove", "a --passcode-fd 3", ["item.remove", "context.authenticate"], json: false),
        HostileCase("protect", "a complete --passcode-fd 3", ["item.protect", "context.authenticate"]),
        HostileCase("explain", "a", ["item.explain"]),
        HostileCase("explain", "--kind token --as uid:1", ["item.explain"]),
        HostileCase("simulate", "--state locked --as uid:1", ["item.simulate"]),
        HostileCase("wait", "unlocked", ["vault.status"], json: false),
    ]

    private static let keychain = [
        HostileCase("keychain add", "pass --account a", ["keychain.add"]),
        HostileCase("keychain add", "--generate ed25519 --label a", ["keychain.add"]),
        HostileCase("keychain find", "--account a", ["keychain.find"], json: false),
        HostileCase("keychain find", "--all --attributes", ["keychain.find"]),
        HostileCase(
            "keychain update",
            "pass --account a --passcode-fd 4",
            ["keychain.update", "context.authenticate"]
        ),
        HostileCase(
            "keychain delete",
            "--account a --passcode-fd 3",
            ["keychain.delete", "context.authenticate"]
        ),
        HostileCase("keychain sign", "pass --label a", ["keychain.sign"], json: false),
        HostileCase(
            "keychain agree",
            "--peer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= --label a",
            ["keychain.agree"],
            json: false
        ),
        HostileCase("keychain public-key", "--label a", ["keychain.publicKey"]),
        HostileCase("keychain history", "--account a", ["keychain.history"]),
        HostileCase("keychain history", "--account a --number 1", ["keychain.history"], json: false),
        HostileCase("keychain restore", "1 --account a", ["keychain.restore"], json: false),
    ]

    private static let files = [
        HostileCase("file create", "a pass", ["file.open", "file.write", "file.close"], json: false),
        HostileCase("file read", "a", ["file.open", "file.read", "file.close"], json: false),
        HostileCase("file read", "a --output out", ["file.open", "file.read", "file.close"], json: false),
        HostileCase("file write", "a pass", ["file.open", "file.write", "file.close"], json: false),
        HostileCase("file append", "a pass", ["file.open", "file.write", "file.close"], json: false),
        HostileCase("file truncate", "a 1", ["file.open", "file.truncate", "file.close"], json: false),
        HostileCase("file stat", "a", ["file.stat"]),
        HostileCase("file list", "--long --recursive", ["file.list"]),
        HostileCase("file mkdir", "a", ["file.mkdir"], json: false),
        HostileCase("file remove", "a", ["file.remove"], json: false),
        HostileCase("file move", "a b", ["file.rename"], json: false),
        HostileCase("file protect", "a none --recursive", ["file.protect"]),
        HostileCase("file versions", "a", ["file.versions"]),
        HostileCase("file versions", "a --keep 3", ["file.keepVersions"]),
        HostileCase("file versions", "a --remove all --yes", ["file.removeVersions"]),
        HostileCase("file restore", "a", ["file.versions", "file.restore"], json: false),
        HostileCase("file link", "a b", ["file.link"], json: false),
        HostileCase("file link", "a b --symbolic", ["file.symlink"], json: false),
        HostileCase("file attribute", "a", ["file.listExtendedAttributes"]),
        HostileCase("file attribute", "a user.b", ["file.getExtendedAttribute"], json: false),
        HostileCase("file attribute", "a user.b --write", ["file.setExtendedAttribute"], json: false),
        HostileCase("file attribute", "a user.b --remove", ["file.removeExtendedAttribute"], json: false),
    ]

    private static let vault = [
        HostileCase("init", "--passcode-fd 3", ["vault.status", "vault.init"], state: "noVault", json: false),
        HostileCase(
            "init",
            "--passcode-fd 3 --recovery-key-file out",
            ["vault.status", "vault.init"],
            state: "noVault"
        ),
        HostileCase("unlock", "--passcode-fd 3", ["vault.status", "vault.unlock"] + expiry),
        HostileCase("unlock", "--recovery-key-fd 3", ["vault.status", "vault.unlock"] + expiry),
        HostileCase("lock", "--now", ["vault.lock", "vault.status"]),
        HostileCase("status", "", ["vault.status"] + expiry, state: "locking"),
        HostileCase("status", "", ["vault.status", "slot.list"], state: "deviceKeyMissing"),
        HostileCase("status", "--blockers", ["vault.status", "vault.blockers", "access.list"] + expiry),
        HostileCase("passcode set", "--new-passcode-fd 3", ["vault.status", "passcode.set"], state: "noPasscode"),
        HostileCase(
            "passcode change",
            "--passcode-fd 3 --new-passcode-fd 4",
            ["vault.status", "passcode.change"]
        ),
        HostileCase("passcode remove", "--yes --passcode-fd 3", ["vault.status", "item.list", "passcode.remove"]),
        HostileCase("slot list", "", ["slot.list"]),
        HostileCase("slot add", "--passcode-fd 3", ["vault.status", "slot.add"], json: false),
        HostileCase("slot remove", "1 --passcode-fd 3", ["vault.status", "slot.remove"], json: false),
        HostileCase("slot test", "--passcode --passcode-fd 3", ["vault.status", "slot.test"]),
        HostileCase("erase", "--yes", ["vault.status", "vault.erase"]),
        HostileCase("watch", "--items --attempts", ["vault.watch", "vault.status"], requestCount: 2),
        HostileCase("doctor", "", ["vault.status", "vault.check", "vault.quarantine"]),
        HostileCase("doctor", "--quick", ["vault.status", "vault.check", "vault.quarantine"]),
        HostileCase("doctor", "--repair", ["vault.status", "vault.check", "vault.quarantine"]),
        HostileCase("doctor", "--restore", ["vault.quarantine"]),
        HostileCase("doctor", "--discard --yes", ["vault.quarantine"]),
        HostileCase("doctor", "--acknowledge --yes", ["vault.status", "vault.quarantine"]),
        HostileCase("doctor", "--salvage a --output out", ["file.salvage"]),
    ]

    private static let backup = [
        HostileCase(
            "backup init",
            "new --kdf interactive --passcode-fd 3 --passphrase-fd 4 --recovery-key-file out",
            ["vault.status", "backup.register", "slot.add", "slot.remove"],
            json: false
        ),
        HostileCase(
            "backup create",
            "repository",
            ["vault.status", "backup.status", "backup.begin", "backup.sign", "entitlement.explain", "backup.read"],
            json: false
        ),
        HostileCase("backup create", "", ["vault.status", "backup.status"], json: false),
        HostileCase(
            "backup restore",
            "--into-vault --passphrase-fd 3",
            ["vault.status", "backup.status"],
            json: false
        ),
        HostileCase(
            "backup status",
            "--repository repository",
            ["vault.status", "backup.status", "entitlement.explain", "item.list"]
        ),
    ]

    private static let rights = [
        HostileCase("audit", "", ["audit.list"]),
        HostileCase("audit", "--lines 9", ["audit.list"]),
        HostileCase("audit", "--verify", ["audit.verify", "vault.status"]),
        HostileCase("audit", "--follow", ["vault.watch", "audit.list"], requestCount: 3),
        HostileCase("entitlement list", "", ["entitlement.list"]),
        HostileCase("entitlement explain", "", ["entitlement.explain"]),
        HostileCase("unit", "ci.service", ["vault.status", "entitlement.explain"]),
        HostileCase("grant", "a --to gid:1 --for 10m", ["access.allow"]),
        HostileCase(
            "allow",
            "group 1 read --item a --passcode-fd 3",
            ["access.allow", "item.list"]
        ),
        HostileCase("deny", "user 1 read --item a", ["access.deny"]),
        HostileCase("access list", "", ["access.list"]),
        HostileCase("access remove", "1", ["access.remove"], json: false),
        HostileCase("trash list", "", ["trash.list"]),
        HostileCase("trash restore", "--entry 1", ["trash.restore"]),
        HostileCase("trash empty", "--entry 1", ["trash.empty"]),
        HostileCase("login enable", "--passcode-fd 3", ["vault.status", "vault.unlock"], json: false),
        HostileCase(
            "login unlock",
            "--passcode-fd 3",
            ["vault.status", "vault.unlock"],
            state: "locked",
            json: false
        ),
        HostileCase(
            "login change",
            "--passcode-fd 3 --new-passcode-fd 4",
            ["vault.status", "passcode.change"],
            json: false
        ),
    ]
}

/// Runs a program with a terminal as standard output and standard error, which shows what it is given and adds nothing.
///
/// - Returns: What the terminal got, and the exit code.
func onPlainTerminal(
    _ program: String,
    _ arguments: [String],
    _ environment: [String: String],
    in folder: TemporaryDirectory
) throws -> (text: String, status: Int32) {
    let terminal = FileHandle(fileDescriptor: open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), closeOnDealloc: true)
    let number = terminal.fileDescriptor
    var isLocked: Int32 = 0
    try #require(ioctl(number, ioctlUnlockTerminal, &isLocked) == 0)
    let other = ioctl(number, ioctlOpenOtherSide, O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(other >= 0)
    let side = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    var settings = termios()
    try #require(tcgetattr(side.fileDescriptor, &settings) == 0)
    settings.c_oflag &= ~tcflag_t(OPOST)
    try #require(tcsetattr(side.fileDescriptor, TCSANOW, &settings) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["60", program] + arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    process.currentDirectoryURL = URL(filePath: folder.path)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = side
    process.standardError = side
    try process.run()
    try side.close()
    let shown = drain(number)
    process.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    return (String(decoding: shown, as: UTF8.self), status)
}

// TIOCSPTLCK and TIOCGPTPEER, which Swift does not see.
private let ioctlUnlockTerminal: UInt = 0x4004_5431
private let ioctlOpenOtherSide: UInt = 0x5441
