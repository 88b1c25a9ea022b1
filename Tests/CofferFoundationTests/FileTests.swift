import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// What the calls on files do besides protecting them.
@Suite struct FileTests {
    private let device: Device
    private let url = CofferURL(fileURLWithPath: "/Documents/a b.txt")
    private let manager = CofferFileManager.default

    init() throws { device = try Device(passcode: nil) }

    private func protection(of url: CofferURL) throws -> FileProtectionType? {
        try manager.attributesOfItem(atPath: url.path)[.protectionKey] as? FileProtectionType
    }

    @Test func `content of every size comes back`() throws {
        try device.run {
            for count in [0, 1, Limits.framePayloadBytes, Limits.framePayloadBytes + 1, 3 * Limits.framePayloadBytes] {
                let data = Data(pseudoRandomBytes(count))
                for options: Data.WritingOptions in [[], .atomic] {
                    try data.write(to: url, options: options)
                    let isSame = try Data(contentsOf: url) == data
                    #expect(isSame, "\(count)")
                }
            }
            let slice = Data("0123456789".utf8)[3..<6]
            try slice.write(to: url)
            #expect(try String(contentsOf: url, encoding: .utf8) == "345")
            try "grün".write(to: url, atomically: true, encoding: .isoLatin1)
            #expect(try Data(contentsOf: url).count == 4)
            let outcome = try FileOutcome { _ = try String(contentsOf: url, encoding: .utf8) }
            #expect(outcome == .failed(CocoaError.fileReadInapplicableStringEncoding.rawValue))
        }
    }

    @Test func `an option gives a file its class, also one that exists`() throws {
        try device.run {
            try Data().write(to: url)
            #expect(try protection(of: url) == .completeUntilFirstUserAuthentication)
            try Data([1]).write(to: url, options: .completeFileProtection)
            #expect(try protection(of: url) == .complete)
            try Data([2]).write(to: url)
            #expect(try protection(of: url) == .complete)
            try Data([3]).write(to: url, options: [.atomic, .completeFileProtectionUnlessOpen])
            #expect(try protection(of: url) == .completeUnlessOpen)
            try Data([4]).write(to: url, options: .atomic)
            #expect(try protection(of: url) == .completeUnlessOpen, "stricter than the directory's")
            #expect(try Data(contentsOf: url) == Data([4]))
            #expect(try manager.contentsOfDirectory(atPath: "/Documents") == ["a b.txt"])
        }
    }

    @Test func `content never lies under a weaker class than was asked for`() throws {
        let device = try Device()
        try device.run {
            try Data("before".utf8).write(to: url)
            try device.lock()
            try expect(.cannotWrite) { try Data("after".utf8).write(to: url, options: .completeFileProtection) }
            #expect(try String(contentsOf: url, encoding: .utf8) == "before")
        }
    }

    @Test func `two protections together are refused, and nothing is written`() throws {
        try device.run {
            let both = Data.WritingOptions(rawValue: 0xF000_0000)
            let outcome = try FileOutcome { try Data().write(to: url, options: both) }
            #expect(outcome == .failed(CocoaError.fileWriteUnknown.rawValue))
            #expect(!manager.fileExists(atPath: url.path))
        }
    }

    @Test func `what exists is not overwritten where that is asked for`() throws {
        try device.run {
            for options: Data.WritingOptions in [.withoutOverwriting, [.withoutOverwriting, .atomic]] {
                try Data([1]).write(to: url, options: options)
                let outcome = try FileOutcome { try Data([2]).write(to: url, options: options) }
                #expect(outcome == .failed(516))
                #expect(try Data(contentsOf: url) == Data([1]))
                #expect(try manager.contentsOfDirectory(atPath: "/Documents").count == 1)
                try manager.removeItem(at: url)
            }
        }
    }

    @Test func `what fails says why in Foundation's words, and Coffer's are underneath`() throws {
        try device.run {
            do {
                _ = try Data(contentsOf: url)
                Issue.record("there is no such file")
            } catch let error as CocoaError {
                #expect(error.code == .fileReadNoSuchFile)
                #expect(error.cofferError?.code == .itemNotFound)
                #expect(error.filePath == url.path)
                #expect(error.localizedDescription == error.cofferError?.message)
            }
            try expect(.failed(260)) { try manager.removeItem(at: url) }
            try expect(.failed(260)) { _ = try CofferFileHandle(forReadingFrom: url) }
            let root = CofferURL(fileURLWithPath: "/")
            try expect(.failed(512)) { try Data().write(to: root) }
            let dots = CofferURL(fileURLWithPath: "/a/../b")
            try expect(.failed(256)) { _ = try Data(contentsOf: dots) }
        }
    }

    @Test func `attributes that Coffer has not are refused`() throws {
        try device.run {
            let unsupported = FileOutcome.failed(CocoaError.featureUnsupported.rawValue)
            let attributes: [FileAttributeKey: Any] = [
                .protectionKey: FileProtectionType.complete, .posixPermissions: 1,
            ]
            #expect(!manager.createFile(atPath: url.path, contents: nil, attributes: attributes))
            #expect(manager.createFile(atPath: url.path, contents: nil))
            try expect(unsupported) { try manager.setAttributes(attributes, ofItemAtPath: url.path) }
            let text: [FileAttributeKey: Any] = [.protectionKey: "NSFileProtectionComplete"]
            try expect(unsupported) { try manager.setAttributes(text, ofItemAtPath: url.path) }
            #expect(try protection(of: url) == .completeUntilFirstUserAuthentication)
            try expect(unsupported) { _ = try url.resourceValues(forKeys: [.isHiddenKey]) }
        }
    }

    @Test func `a directory hands its protection down to new files`() throws {
        try device.run {
            let directory = CofferURL(fileURLWithPath: "/records")
            try manager.createDirectory(
                at: directory,
                withIntermediateDirectories: false,
                attributes: [.protectionKey: FileProtectionType.complete]
            )
            #expect(try protection(of: directory) == .complete)
            for (index, options) in [Data.WritingOptions(), .atomic].enumerated() {
                let file = directory.appendingPathComponent("below/\(index)")
                try Data().write(to: file, options: options)
                #expect(try protection(of: file) == .complete)
            }
            try manager.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: directory.path)
            #expect(try protection(of: directory) == FileProtectionType.none)
            #expect(try protection(of: directory.appending(path: "below/0")) == .complete)
            let again: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.completeUnlessOpen]
            try manager.createDirectory(at: directory, withIntermediateDirectories: true, attributes: again)
            #expect(try protection(of: directory) == .completeUnlessOpen)
            let outcome = try FileOutcome {
                try manager.createDirectory(at: directory, withIntermediateDirectories: false)
            }
            #expect(outcome == .failed(516))
        }
    }

    @Test func `files are listed, moved and removed`() throws {
        try device.run {
            for name in ["b/1", "b/.hidden", "b/c/2"] { try Data([1]).write(to: CofferURL(fileURLWithPath: name)) }
            let directory = CofferURL(fileURLWithPath: "/b")
            #expect(try manager.contentsOfDirectory(atPath: "/") == ["b"])
            let seen = try manager.contentsOfDirectory(
                at: directory,
                includingPropertiesForKeys: nil,
                options: .skipsHiddenFiles
            )
            #expect(seen.map(\.lastPathComponent) == ["1", "c"])
            let visible = manager.enumerator(at: directory, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            #expect(visible?.compactMap { ($0 as? CofferURL)?.path } == ["/b/1", "/b/c", "/b/c/2"])
            var why: (any Error)?
            let refused = manager.enumerator(
                at: directory,
                includingPropertiesForKeys: nil,
                options: .producesRelativePathURLs
            ) { _, error in
                why = error
                return true
            }
            #expect(refused == nil && (why as? CocoaError)?.code == .featureUnsupported)
            let all = manager.enumerator(at: directory, includingPropertiesForKeys: nil)?.compactMap {
                $0 as? CofferURL
            }
            #expect(all?.map(\.path) == ["/b/.hidden", "/b/1", "/b/c", "/b/c/2"])
            var isDirectory: ObjCBool = false
            #expect(manager.fileExists(atPath: "/b", isDirectory: &isDirectory) && isDirectory.boolValue)
            try expect(.failed(516)) { try manager.moveItem(atPath: "/b/1", toPath: "/b/c/2") }
            try manager.moveItem(at: directory, to: CofferURL(fileURLWithPath: "/d"))
            #expect(!manager.fileExists(atPath: "/b"))
            #expect(manager.contents(atPath: "/d/c/2") == Data([1]))
            try manager.removeItem(atPath: "/d")
            #expect(try manager.contentsOfDirectory(atPath: "/").isEmpty)
        }
    }

    @Test func `resource values tell and set the protection`() throws {
        try device.run {
            var url = url
            try Data([1, 2]).write(to: url)
            var values = CofferURLResourceValues()
            values.fileProtection = .complete
            try url.setResourceValues(values)
            let keys: Set<URLResourceKey> = [.fileProtectionKey, .fileSizeKey, .isDirectoryKey, .isRegularFileKey]
            let read = try url.resourceValues(forKeys: keys)
            #expect(read.fileProtection == .complete && read.fileSize == 2)
            #expect(read.isDirectory == false && read.isRegularFile == true && read.creationDate == nil)
        }
    }

    @Test func `a handle reads, writes, seeks and truncates`() throws {
        try device.run {
            try Data("0123456789".utf8).write(to: url)
            let handle = try CofferFileHandle(forUpdating: url)
            #expect(try handle.read(upToCount: 3) == Data("012".utf8))
            try handle.write(contentsOf: Data("ABC".utf8))
            #expect(try handle.offset() == 6)
            #expect(try handle.readToEnd() == Data("6789".utf8))
            #expect(try handle.readToEnd() == nil)
            try handle.truncate(atOffset: 4)
            #expect(try handle.seekToEnd() == 4)
            try handle.write(contentsOf: Data("!".utf8))
            try handle.synchronize()
            #expect(try String(contentsOf: url, encoding: .utf8) == "012A!")
            try handle.close()
            try expect(.failed(256)) { _ = try handle.readToEnd() }
        }
    }

    @Test func `locations are distinguished as in the file store`() {
        let composed = CofferURL(fileURLWithPath: "/\u{E9}")
        #expect(composed != CofferURL(fileURLWithPath: "/e\u{301}"))
        #expect(CofferURL(fileURLWithPath: "a//b/") == CofferURL(filePath: "/a/b"))
        #expect(url.absoluteString == "coffer:///Documents/a%20b.txt")
        #expect(url.pathExtension == "txt" && url.lastPathComponent == "a b.txt")
        #expect(url.deletingLastPathComponent().path == "/Documents")
        #expect(url.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path == "/")
        #expect(url.appendingPathExtension("bak").path == "/Documents/a b.txt.bak")
    }
}
