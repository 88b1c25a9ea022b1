import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// Copies and replacements of files, as `FileManager` makes them.
@Suite struct CopyingTests {
    private let manager = CofferFileManager.default

    private func write(_ text: String, to path: String, _ options: Data.WritingOptions = []) throws {
        try Data(text.utf8).write(to: CofferURL(fileURLWithPath: path), options: options)
    }

    private func text(_ path: String) -> String? {
        manager.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func protection(_ path: String) throws -> FileProtectionType? {
        try manager.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
    }

    private func code(_ body: () throws -> Void) -> CocoaError.Code? {
        do { try body() } catch { return (error as? CocoaError)?.code }
        return nil
    }

    @Test func `a copy is a new file with the same content, and replaces nothing`() throws {
        let device = try Device()
        try device.run {
            let long = String(repeating: "0123456789abcdef", count: 40_000)
            try write(long, to: "/a", .completeFileProtection)
            try manager.createDirectory(
                atPath: "/open",
                withIntermediateDirectories: true,
                attributes: [.protectionKey: FileProtectionType.none]
            )
            try manager.copyItem(atPath: "/a", toPath: "/open/b")
            #expect(text("/open/b") == long)
            #expect(try protection("/open/b") == .complete)
            #expect(try protection("/a") == .complete)
            try write("open", to: "/open/c")
            try manager.copyItem(atPath: "/open/c", toPath: "/d")
            #expect(try protection("/d") == .completeUntilFirstUserAuthentication)
            #expect(code { try manager.copyItem(atPath: "/a", toPath: "/open/b") } == .fileWriteFileExists)
            #expect(code { try manager.copyItem(atPath: "/no", toPath: "/c") } == .fileReadNoSuchFile)
        }
    }

    @Test func `what can't be read is not copied, and leaves nothing`() throws {
        let device = try Device()
        try device.run {
            try write("secret", to: "/a", .completeFileProtection)
            try device.lock()
            #expect(code { try manager.copyItem(atPath: "/a", toPath: "/b") } == .fileReadNoPermission)
            #expect(!manager.fileExists(atPath: "/b"))
        }
    }

    @Test func `the copy of a directory has no weaker protection for new files`() throws {
        let device = try Device()
        try device.run {
            for (path, type) in [("/strict", FileProtectionType.complete), ("/weak", .none)] {
                let attributes = [FileAttributeKey.protectionKey: type]
                try manager.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: attributes)
            }
            try manager.copyItem(atPath: "/strict", toPath: "/weak/strict")
            try manager.copyItem(atPath: "/weak", toPath: "/strict/weak")
            #expect(try protection("/weak/strict") == .complete)
            #expect(try protection("/strict/weak") == FileProtectionType?.none)
            try write("x", to: "/strict/weak/a")
            #expect(try protection("/strict/weak/a") == .complete)
        }
    }

    @Test func `a directory is copied with what is in it, but not into itself`() throws {
        let device = try Device()
        try device.run {
            for path in ["/d/one", "/d/e/two"] { try write(path, to: path) }
            try manager.copyItem(atPath: "/d", toPath: "/copy")
            #expect(text("/copy/one") == "/d/one")
            #expect(text("/copy/e/two") == "/d/e/two")
            #expect(code { try manager.copyItem(atPath: "/d", toPath: "/d/e/f") } == .featureUnsupported)
            #expect(code { try manager.copyItem(atPath: "/d", toPath: "/copy") } == .fileWriteFileExists)
        }
    }

    @Test func `a replacement has the protection of what it replaces, unless its own is wanted`() throws {
        let device = try Device()
        try device.run {
            let (old, new) = (CofferURL(fileURLWithPath: "/old"), CofferURL(fileURLWithPath: "/new"))
            try write("1", to: "/old", .completeFileProtection)
            try write("2", to: "/new", .noFileProtection)
            #expect(try manager.replaceItemAt(old, withItemAt: new) == old)
            #expect(text("/old") == "2")
            #expect(try protection("/old") == .complete)
            #expect(!manager.fileExists(atPath: "/new"))
            try write("3", to: "/weak", .noFileProtection)
            try write("4", to: "/strict", .completeFileProtection)
            let weak = CofferURL(fileURLWithPath: "/weak")
            try manager.replaceItemAt(weak, withItemAt: CofferURL(fileURLWithPath: "/strict"))
            #expect(text("/weak") == "4")
            #expect(try protection("/weak") == .complete)
            try write("3", to: "/new", .noFileProtection)
            try manager.replaceItemAt(
                old,
                withItemAt: new,
                backupItemName: "kept",
                options: [.usingNewMetadataOnly, .withoutDeletingBackupItem]
            )
            #expect(text("/old") == "3")
            #expect(try protection("/old") == FileProtectionType.none)
            #expect(text("/kept") == "2")
            #expect(code { try manager.replaceItemAt(old, withItemAt: new) } == .fileReadNoSuchFile)
            #expect(text("/old") == "3")
        }
    }
}
