import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// Ported programs do not meet each other's items, unless they name a group that they share.
@Suite struct GroupTests {
    private let device: Device
    private let url = CofferURL(fileURLWithPath: "/settings")
    private let password: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "userPassword"]
    /// The group of the program that runs the tests.
    private var own: String {
        get throws {
            let path = try Foundation.FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return try #require(AccessGroup.program(at: path))
        }
    }

    init() throws { device = try Device(passcode: nil) }

    private func add(_ secret: String, _ more: [String: Any] = [:]) -> OSStatus {
        SecItemAdd(password.merging([kSecValueData: Data(secret.utf8)]) { $1 }.merging(more) { $1 }, nil)
    }

    private func find(_ more: [String: Any] = [:]) -> String? {
        var result: CFTypeRef?
        let query = password.merging([kSecReturnData: true]) { $1 }.merging(more) { $1 }
        guard SecItemCopyMatching(query, &result) == errSecSuccess else { return nil }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `the sample's userPassword of another program is neither in the way nor read`() throws {
        #expect(try device.process.coffer(["put", "userPassword"], input: [1]).status == 0)
        let own = try own
        device.run {
            #expect(find() == nil)
            #expect(add("own") == errSecSuccess)
            #expect(find() == "own")
            var result: CFTypeRef?
            let all: [String: Any] = [
                kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            #expect(SecItemCopyMatching(all, &result) == errSecSuccess)
            #expect((result as? [[String: Any]])?.map { $0[kSecAttrAccessGroup] as? String } == [own])
        }
        let found = try device.process.coffer(["get", "userPassword", "--group", own])
        #expect(found.text == "own", "\(found.errors)")
        #expect(try device.process.coffer(["get", "userPassword"]).output == [1])
    }

    @Test func `a file is in the program's group, and stays there over a restart of the daemon`() throws {
        #expect(try device.process.coffer(["file", "create", "settings"], input: [1]).status == 0)
        try device.run {
            #expect(!CofferFileManager.default.fileExists(atPath: "/settings"))
            try Data([2]).write(to: url, options: .atomic)
            try device.reboot()
            #expect(try Data(contentsOf: url) == Data([2]))
            #expect(try CofferFileHandle(forReadingFrom: url).readToEnd() == Data([2]))
        }
        #expect(try device.process.coffer(["file", "read", "settings", "--group", try own]).output == [2])
        #expect(try device.process.coffer(["file", "read", "settings"]).output == [1])
    }

    @Test func `programs share what they put in a group that both name`() throws {
        device.run {
            #expect(add("shared", [kSecAttrAccessGroup: "team"]) == errSecSuccess)
            #expect(find() == nil)
            #expect(find([kSecAttrAccessGroup: "team"]) == "shared")
        }
        let team = CofferDaemon(socketPath: device.process.socketPath, group: "team")
        try CofferDaemon.with(team) {
            #expect(find() == "shared")
            try Data([3]).write(to: url)
        }
        #expect(try device.process.coffer(["file", "read", "settings", "--group", "team"]).output == [3])
    }
}
