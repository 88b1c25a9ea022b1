import CofferCore
import Foundation

/// A gnome-keyring on its own bus, unlocked from the start, because a prompt would block for ever.
final class GnomeKeyring {
    let client: LibsecretClient
    private(set) var items: Int
    private let bus: PrivateBus
    private let process: Process

    static var isInstalled: Bool { PrivateBus.isInstalled && Command.path(of: "gnome-keyring-daemon") != nil }

    /// Starts a keyring.
    ///
    /// - Parameters:
    ///   - setting: The directory.
    ///   - name: The name of its own directory.
    ///   - items: How many it has from the start, in a file without a password, which it reads at once. Without them, it has
    ///     a password, and a file that is encrypted.
    init(_ setting: Setting, _ name: String, items: Int = 0) throws {
        let home = "\(setting.directory)/\(name)"
        let keyrings = "\(home)/keyrings"
        let bus = try PrivateBus(home)
        try FileManager.default.createDirectory(atPath: keyrings, withIntermediateDirectories: true)
        try Data("login".utf8).write(to: URL(filePath: "\(keyrings)/default"))
        if items > 0 { try Data(Self.file(of: items).utf8).write(to: URL(filePath: "\(keyrings)/login.keyring")) }
        let process = Process()
        let passcode = Pipe()
        process.standardInput = passcode
        let command = ["gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock"]
        try process.start(command, bus.environment)
        passcode.fileHandleForWriting.write(Data(BenchmarkDaemon.passcode))
        try passcode.fileHandleForWriting.close()
        for _ in 0..<500 where !FileManager.default.fileExists(atPath: "\(keyrings)/login.keyring") { usleep(10_000) }
        client = try LibsecretClient(on: bus)
        (self.bus, self.process, self.items) = (bus, process, items)
    }

    deinit { process.stop() }

    func fill(to count: Int) throws {
        _ = try client.store(items..<count)
        items = count
    }

    /// The items that a client of libsecret makes, as a file.
    private static func file(of items: Int) -> String {
        var text = "[keyring]\ndisplay-name=login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        for item in 0..<items {
            let account = "user-\(item.padded(to: 7))@example.net"
            let attributes = [
                ("service", "site-\((item / 10).padded(to: 6)).example.org"), ("account", account),
                ("xdg:schema", "org.example.Benchmark"),
            ]
            let secret = String(decoding: KeychainOperation.secret, as: UTF8.self)
            text += "\n[\(item + 1)]\nitem-type=0\ndisplay-name=\(account)\nsecret=\(secret)\nmtime=0\nctime=0\n"
            for (number, (name, value)) in attributes.enumerated() {
                text += "\n[\(item + 1):attribute\(number)]\nname=\(name)\ntype=string\nvalue=\(value)\n"
            }
        }
        return text
    }
}

extension Int {
    /// With zeros in front.
    fileprivate func padded(to digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
