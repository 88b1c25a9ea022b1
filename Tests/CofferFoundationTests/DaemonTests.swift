import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// How the library comes to the daemon.
@Suite struct DaemonTests {
    private let url = CofferURL(fileURLWithPath: "/a")

    @Test func `the next call connects to a restarted daemon`() throws {
        let device = try Device(passcode: nil)
        try device.run {
            try Data([1]).write(to: url)
            try device.reboot()
            #expect(try Data(contentsOf: url) == Data([1]))
            let query = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "anna"]
            #expect(SecItemAdd(query, nil) == errSecSuccess)
            try device.reboot()
            #expect(SecItemAdd(query, nil) == errSecDuplicateItem)
        }
    }

    @Test func `a daemon that is not there is an error, in the words of the call`() throws {
        let directory = try TemporaryDirectory()
        try CofferDaemon.with(CofferDaemon(socketPath: directory.appending("none"))) {
            try expect(.failed(CocoaError.fileReadUnknown.rawValue)) { _ = try Data(contentsOf: url) }
            try expect(.failed(CocoaError.fileWriteUnknown.rawValue)) { try Data().write(to: url) }
            #expect(SecItemDelete([kSecClass: kSecClassKey]) == errSecNotAvailable)
            #expect(SecCopyLastError()?.code == .notAvailable)
            #expect(!CofferDaemon.shared.isProtectedDataAvailable)
            #expect(!CofferFileManager.default.fileExists(atPath: "/a"))
        }
    }

    @Test func `a vault that is not there is an error, and later there`() throws {
        let process = try DaemonProcess()
        try CofferDaemon.with(CofferDaemon(socketPath: process.socketPath)) {
            try expect(.failed(CocoaError.fileWriteUnknown.rawValue)) { try Data().write(to: url) }
            try process.connect().makeVault(passcode: nil)
            try Data().write(to: url)
        }
    }

    @Test func `a request that was sent is not sent again when the daemon goes in the middle`() throws {
        let daemon = try DyingDaemon()
        try CofferDaemon.with(CofferDaemon(socketPath: daemon.path)) {
            let query = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "anna"]
            #expect(SecItemAdd(query, nil) == errSecNotAvailable)
            #expect(SecItemDelete(query) == errSecNotAvailable)
            try expect(.failed(CocoaError.fileWriteUnknown.rawValue)) { try Data().write(to: url) }
        }
        let count = try daemon.end()
        #expect(count == 3)
    }

    @Test func `many threads use one daemon concurrently`() throws {
        let device = try Device(passcode: nil)
        try device.run {
            let daemon = CofferDaemon.shared
            let threads = (0..<8).map { number in
                Background {
                    try CofferDaemon.with(daemon) {
                        for turn in 0..<20 {
                            let data = Data("\(number) \(turn)".utf8)
                            try data.write(to: CofferURL(fileURLWithPath: "/\(number)"))
                            guard try Data(contentsOf: CofferURL(fileURLWithPath: "/\(number)")) == data else {
                                throw POSIXError(.EIO)
                            }
                        }
                    }
                }
            }
            for thread in threads { try thread.wait() }
            #expect(try CofferFileManager.default.contentsOfDirectory(atPath: "/").count == 8)
        }
    }

    @Test func `protected data is there while the vault is unlocked`() throws {
        let device = try Device()
        try device.run {
            #expect(CofferDaemon.shared.isProtectedDataAvailable)
            try device.lock()
            #expect(!CofferDaemon.shared.isProtectedDataAvailable)
            try device.unlock()
            #expect(CofferDaemon.shared.isProtectedDataAvailable)
            try device.reboot()
            #expect(!CofferDaemon.shared.isProtectedDataAvailable)
        }
    }

    @Test func `the socket of the environment is taken, as coffer takes it`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device(passcode: nil)
            for (variable, path) in [
                ("COFFER_SOCKET", device.process.socketPath), ("XDG_RUNTIME_DIR", device.process.directory.path),
            ] {
                setenv("COFFER_SOCKET", "", 1)
                setenv(variable, path, 1)
                let hasDaemon = CofferDaemon().isProtectedDataAvailable
                guard hasDaemon == (variable == "COFFER_SOCKET") else { exit(1) }
            }
            let runtime = device.process.directory.appending("coffer")
            try Foundation.FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
            try Foundation.FileManager.default.createSymbolicLink(
                atPath: "\(runtime)/coffer.sock",
                withDestinationPath: device.process.socketPath
            )
            // Root has no socket of its own.
            guard CofferDaemon.shared.isProtectedDataAvailable == (geteuid() != 0) else { exit(2) }
        }
    }
}
