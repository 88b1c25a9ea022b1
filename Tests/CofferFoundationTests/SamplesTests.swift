import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// What samples print: where a test listens, it is kept.
enum Transcript {
    @TaskLocal fileprivate static var current: Shared<[String]>?

    /// Runs a sample.
    ///
    /// - Returns: What it printed.
    static func of(_ body: () throws -> Void) rethrows -> [String] {
        let lines = Shared<[String]>([])
        try $current.withValue(lines, operation: body)
        return lines.value
    }
}

func print(_ value: Any) {
    let line = "\(value)"
    Transcript.current?.change { $0.append(line) }
}

/// The samples of the documents that Coffer was made after, with the outcomes that their text tells.
@Suite struct SamplesTests {
    private let device: Device
    private let file = URL(fileURLWithPath: "/Documents/file")
    private let data = Data("content".utf8)

    init() throws { device = try Device() }

    private func readable(_ url: URL) throws -> FileOutcome { try FileOutcome { _ = try Data(contentsOf: url) } }

    @Test func `complete: cannot be read from or written to while the device is locked or booting`() throws {
        try device.run {
            try saveSensitiveData(data, to: file)
            #expect(try checkFileProtection(at: file) == .complete)
            for change in [device.lock, device.reboot] {
                try change()
                #expect(try readable(file) == .cannotRead)
                try expect(.cannotWrite) { try saveSensitiveData(data, to: file) }
                try expect(.cannotWrite) { try saveSensitiveData(data, to: URL(fileURLWithPath: "/new")) }
                try device.unlock()
                #expect(try Data(contentsOf: file) == data)
                try saveSensitiveData(data, to: file)
            }
        }
    }

    @Test func `completeUnlessOpen: a download goes on while locked, and is encrypted when closed`() throws {
        try device.run {
            try startBackgroundDownload(url: URL(fileURLWithPath: "/source"), destination: file) { handle in
                try handle.write(contentsOf: Data("first, ".utf8))
                try device.lock()
                try handle.write(contentsOf: Data("second".utf8))
            }
            #expect(try checkFileProtection(at: file) == .completeUnlessOpen)
            #expect(try readable(file) == .cannotRead)
            try device.unlock()
            #expect(try String(contentsOf: file, encoding: .utf8) == "first, second")
            try device.reboot()
            #expect(try readable(file) == .cannotRead)
            // New files can be made while locked, and are opened again only after an unlock.
            try expect(.cannotWrite) {
                try startBackgroundDownload(url: file, destination: URL(fileURLWithPath: "/new")) { _ in }
            }
            #expect(FileManager.default.fileExists(atPath: "/new"))
        }
    }

    @Test func `completeUntilFirstUserAuthentication: after the first unlock, also while locked`() throws {
        try device.run {
            try saveAppData(data, to: file)
            try device.lock()
            #expect(backgroundTaskCanAccessFile(url: file) == data)
            try saveAppData(Data("more".utf8), to: file)
            try device.reboot()
            #expect(backgroundTaskCanAccessFile(url: file) == nil)
            #expect(try readable(file) == .cannotRead)
            try expect(.cannotWrite) { try saveAppData(data, to: file) }
            try device.unlock()
            #expect(backgroundTaskCanAccessFile(url: file) == Data("more".utf8))
        }
    }

    @Test func `none: always`() throws {
        try device.run {
            try cachePublicThumbnail(data, to: file)
            for change in [device.lock, device.reboot] {
                try change()
                #expect(try Data(contentsOf: file) == data)
                try cachePublicThumbnail(data, to: file)
            }
        }
    }

    @Test func `a protection is set at creation, later, and for a directory, and can be checked`() throws {
        try device.run {
            try atFileCreation(userData: UserData(text: "{}"), fileURL: file)
            #expect(Transcript.of { usage(fileURL: file) } == ["Maximum protection"])
            let directory = URL(fileURLWithPath: "/data")
            let inside = directory.appendingPathComponent("file")
            try cachePublicThumbnail(data, to: inside)
            #expect(Transcript.of { usage(fileURL: inside) } == ["Other protection"])
            try defaultForDirectory(directoryURL: directory)
            try data.write(to: directory.appendingPathComponent("new"))
            let new = directory.appendingPathComponent("new")
            #expect(Transcript.of { usage(fileURL: new) } == ["Standard protection"])
            #expect(Transcript.of { usage(fileURL: inside) } == ["Other protection"])
            try onExistingFile(fileURL: inside)
            #expect(Transcript.of { usage(fileURL: inside) } == ["Maximum protection"])
            try device.lock()
            #expect(try readable(inside) == .cannotRead)
            #expect(try readable(new) == .done)
            try expect(.cannotWrite) { try onExistingFile(fileURL: new) }
            #expect(Transcript.of { usage(fileURL: URL(fileURLWithPath: "/none")) }.isEmpty)
        }
    }

    @Test func `small secrets go to the keychain, WhenUnlocked, and files beside it`() throws {
        try device.run {
            smallSecretsInKeychain(password: "pa$$word")
            try filesWithFileProtection(user: User(name: "Anna"), fileURL: file)
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "userPassword",
                kSecReturnData as String: true,
            ]
            var item: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess)
            #expect(item as? Data == Data("pa$$word".utf8))
            for change in [device.lock, device.reboot] {
                try change()
                #expect(SecItemCopyMatching(query as CFDictionary, &item) == -25308)
                smallSecretsInKeychain(password: "other")
                #expect(SecCopyLastError()?.code == .duplicateItem)
                #expect(try readable(file) == .cannotRead)
                try device.unlock()
                #expect(SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess)
                #expect(try JSONDecoder().decode(User.self, from: try Data(contentsOf: file)).name == "Anna")
            }
        }
    }

    @Test func `background work fails on complete files, and says so`() throws {
        try device.run {
            try saveSensitiveData(data, to: file)
            let task = BackgroundTask(sensitiveFileURL: file)
            #expect(task.performBackgroundSync() == data)
            #expect(try readFile(at: file) == data)
            try device.lock()
            #expect(task.performBackgroundSync() == nil)
            let said = try Transcript.of {
                let nothing = try readFile(at: file)
                #expect(nothing == nil)
            }
            #expect(said == ["File protected, device locked"])
            try expect(.failed(260)) { _ = try readFile(at: URL(fileURLWithPath: "/none")) }
            let other = URL(fileURLWithPath: "/other")
            try writeForBackground(data, fileURL: other)
            #expect(BackgroundTask(sensitiveFileURL: other).performBackgroundSync() == data)
        }
    }

    @Test func `there is no iCloud, and the sample knows what that means`() throws {
        try device.run {
            try saveToICloud(data: data, filename: "file")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/").isEmpty)
        }
    }

    @Test func `a program's directories hand their protection down`() throws {
        try device.run {
            configureDefaultFileProtection()
            let documents = try #require(FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first)
            #expect(documents.path == "/app/Documents")
            #expect(try checkFileProtection(at: documents) == .completeUntilFirstUserAuthentication)
            let database = try encryptDatabase()
            #expect(database.path == "/app/Library/Application Support/app.sqlite")
            #expect(try checkFileProtection(at: database) == .completeUntilFirstUserAuthentication)
            try device.lock()
            #expect(try readable(database) == .done)
            try device.reboot()
            #expect(try readable(database) == .cannotRead)
        }
    }

    @Test func `a protection is lowered for background access, while it can be`() throws {
        try device.run {
            try saveSensitiveData(data, to: file)
            let warning = "❌ Can't access in background when locked"
            #expect(Transcript.of { debugAccess(url: file) }.last == warning)
            try device.lock()
            try expect(.cannotWrite) { try enableBackgroundAccess(for: file) }
            try device.unlock()
            try enableBackgroundAccess(for: file)
            #expect(Transcript.of { debugAccess(url: file) }.count == 1)
            try device.lock()
            #expect(try Data(contentsOf: file) == data)
        }
    }

    @Test func `a directory's protection is for new files, and existing ones are changed one by one`() throws {
        try device.run {
            let directory = URL(fileURLWithPath: "/records")
            let old = directory.appendingPathComponent("below/old")
            try data.write(to: old)
            try newDirectory(directoryURL: directory)
            let new = directory.appendingPathComponent("new")
            try data.write(to: new, options: .atomic)
            #expect(try checkFileProtection(at: new) == .complete)
            #expect(try checkFileProtection(at: old) == .completeUntilFirstUserAuthentication)
            #expect(Transcript.of { existingFiles(directoryURL: directory) }.isEmpty)
            #expect(try checkFileProtection(at: old) == .complete)
            #expect(try checkFileProtection(at: old.deletingLastPathComponent()) == .complete)
            try data.write(to: directory.appendingPathComponent("third"), options: .noFileProtection)
            try device.lock()
            let said = Transcript.of { existingFiles(directoryURL: directory) }
            #expect(said.count == 1 && said[0].hasPrefix("Failed to set protection level for file /records/third"))
            try expect(.cannotWrite) { try newFile(data, fileURL: old) }
            let missing = Transcript.of { existingFiles(directoryURL: URL(fileURLWithPath: "/none")) }
            #expect(missing.last == "Could not create directory enumerator at /none")
        }
    }

    @Test func `listing 1 and listing 2 encrypt, and handle errors`() throws {
        try device.run {
            let listing1 = Transcript.of { encryptOnFirstWrite(data, fileURL: file) }
            #expect(try listing1.isEmpty && checkFileProtection(at: file) == .complete)
            let other = URL(fileURLWithPath: "/other")
            try data.write(to: other)
            let listing2 = Transcript.of { encryptExistingFile(fileURL: other) }
            #expect(try listing2.isEmpty && checkFileProtection(at: other) == .complete)
            try device.lock()
            #expect(Transcript.of { encryptOnFirstWrite(data, fileURL: file) }.count == 1)
            #expect(Transcript.of { encryptExistingFile(fileURL: URL(fileURLWithPath: "/none")) }.count == 1)
        }
    }
}
