import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The calls of the file tree.
@Suite struct FileTreeTests {
    /// A vault in a state of the oracle, with a file of each class and a directory.
    private struct Fixture {
        let stepper: Stepper

        init(_ state: TestState) throws {
            stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
            for protectionClass in ProtectionClass.allCases {
                try stepper.put("d/\(protectionClass)", [1, 2, 3]) {
                    $0.kind = .document
                    $0.protectionClass = protectionClass
                }
            }
            try stepper.makeDirectory(try ItemName("made"), class: .complete)
            try stepper.reach(state)
        }
    }

    private static func names(_ page: FilePage) -> [String] {
        page.entries.map { $0.name + ($0.isDirectory ? "/" : "") }.sortedByBytes()
    }

    private static func code(_ body: () throws -> Void) -> ErrorCode? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            return error.code
        } catch {
            Issue.record(error)
            return .internal
        }
    }

    @Test func `before the first unlock, names are told of class none only, and the rest is counted`() throws {
        let fixture = try Fixture(.beforeFirstUnlock)
        let stepper = fixture.stepper
        let listed = try stepper.listFiles()
        // The directory is part of the name of a file of class none.
        #expect(Self.names(listed) == ["d/"])
        #expect(listed.sealedCount == 1)
        let below = try stepper.listFiles(in: try ItemName("d"))
        #expect(Self.names(below) == ["d/none"])
        #expect(below.sealedCount == 4 && below.damagedCount == 0)
        let all = try stepper.listFiles(recursive: true)
        #expect(Self.names(all) == ["d/", "d/none"])
        #expect(all.sealedCount == 5)
        #expect(try stepper.status().sealedCount == 4)
        for name in ["d/complete", "d/completeUnlessOpen", "made"] {
            let name = try ItemName(name)
            #expect(Self.code { _ = try stepper.fileInfo(name) } == .interactionNotAllowed)
            #expect(Self.code { try stepper.moveFile(name, to: try ItemName("z")) } == .interactionNotAllowed)
            #expect(Self.code { try stepper.moveFile(try ItemName("d/none"), to: name) } == .duplicateItem)
        }
        #expect(Self.code { _ = try stepper.fileInfo(try ItemName("d/nothing")) } == .itemNotFound)
        // What is made now can be moved, though nobody reads its name.
        let made = try stepper.makeDirectory(try ItemName("x/y"), class: .completeUnlessOpen, parents: true)
        #expect(made.isDirectory && made.childCount == 0)
        try stepper.put("x/y/note", [1]) { $0.store = .file }
        let moved = try stepper.moveFile(try ItemName("x/y/note"), to: try ItemName("x/y/moved"))
        #expect(moved.protectionClass == .completeUnlessOpen, "its directory's class is obeyed")
        #expect(Self.code { _ = try stepper.fileInfo(try ItemName("x/y/moved")) } == .interactionNotAllowed)
        #expect(try stepper.listFiles(recursive: true).sealedCount == 8)
        // Removing wants no name.
        #expect(try stepper.removeFile(try ItemName("d/complete")) == 1)
        try stepper.unlock()
        let rest = try Self.names(stepper.listFiles(recursive: true))
        #expect(
            rest == [
                "d/", "d/completeUnlessOpen", "d/completeUntilFirstUserAuthentication", "d/completeWhenUserInactive",
                "d/none", "made/", "x/", "x/y/", "x/y/moved",
            ]
        )
        #expect(try stepper.status().sealedCount == 0)
    }

    @Test(arguments: TestState.allCases.filter { $0 != .beforeFirstUnlock })
    func `names are dealt with from the first unlock on in every state`(state: TestState) throws {
        let fixture = try Fixture(state)
        let stepper = fixture.stepper
        let listed = try Self.names(stepper.listFiles())
        #expect(listed == ["d/", "made/"])
        let below = try stepper.listFiles(in: try ItemName("d"))
        #expect(below.entries.count == ProtectionClass.allCases.count)
        #expect(below.damagedCount == 0)
        for entry in below.entries {
            let protectionClass = try #require(entry.protectionClass)
            #expect(entry.name == "d/\(protectionClass)")
            #expect(entry.byteCount == 3)
            #expect(entry.isReadable == protectionClass.permits(.read, in: state.name))
            let shown = try stepper.fileInfo(try ItemName(entry.name))
            #expect(shown == entry)
        }
        let made = try stepper.makeDirectory(try ItemName("x/y"), class: ProtectionClass.none, parents: true)
        #expect(made.isDirectory)
        #expect(made.childCount == 0)
        let moved = try stepper.moveFile(try ItemName("d/complete"), to: try ItemName("x/y/moved"))
        #expect(moved.protectionClass == .complete)
        try stepper.moveFile(try ItemName("d"), to: try ItemName("x/d"))
        // What would be weaker there is no replacement while the key of the other one is away.
        let (weaker, stricter) = (try ItemName("x/d/none"), try ItemName("x/y/moved"))
        let replacing = try Outcome { try stepper.moveFile(weaker, to: stricter, replace: true) }
        let isLocked = !ProtectionClass.complete.permits(.create, in: state.name)
        #expect(replacing == (isLocked ? .locked : .done))
        if isLocked {
            let kept = FileRenameParameters(name: weaker, target: stricter, replaces: true, keepsClass: true)
            try stepper.call(kept)
        }
        let over = try stepper.fileInfo(stricter)
        #expect(over.protectionClass == (isLocked ? ProtectionClass.none : .complete))
        let all = try Self.names(stepper.listFiles(recursive: true))
        #expect(
            all == [
                "made/", "x/", "x/d/", "x/d/completeUnlessOpen", "x/d/completeUntilFirstUserAuthentication",
                "x/d/completeWhenUserInactive", "x/y/", "x/y/moved",
            ]
        )
        let removed = try stepper.removeFile(try ItemName("x/d"), recursive: true)
        #expect(removed == 4)
        #expect(try stepper.removeFile(try ItemName("x/y/moved")) == 1)
        #expect(try stepper.removeFile(try ItemName("made")) == 1)
        let rest = try Self.names(stepper.listFiles(recursive: true))
        #expect(rest == ["x/", "x/y/"])
    }

    @Test func `before the first unlock, a class is changed of what has a name`() throws {
        let fixture = try Fixture(.beforeFirstUnlock)
        let stepper = fixture.stepper
        let change = try stepper.protectFile(try ItemName("d"), as: .completeUnlessOpen, .everything)
        #expect(change.changedCount == 2, "the directory, and the file of class none")
        #expect(change.unchanged.map(\.name) == ["d", "d", "d", "d"])
        #expect(change.unchanged.allSatisfy { $0.code == .interactionNotAllowed })
        #expect(try stepper.fileInfo(try ItemName("d")).protectionClass == .completeUnlessOpen)
        #expect(Self.code { _ = try stepper.fileInfo(try ItemName("d/none")) } == .interactionNotAllowed)
        try stepper.unlock()
        #expect(try stepper.fileInfo(try ItemName("d/none")).protectionClass == .completeUnlessOpen)
    }

    @Test(arguments: TestState.allCases.filter { $0 != .beforeFirstUnlock }, ProtectionClass.allCases)
    func `a class is changed where both keys are there`(state: TestState, target: ProtectionClass) throws {
        let fixture = try Fixture(state)
        let stepper = fixture.stepper
        func isPermitted(_ old: ProtectionClass) -> Bool {
            old == target || (old.permits(.read, in: state.name) && target.permits(.create, in: state.name))
        }
        let permitted = ProtectionClass.allCases.filter(isPermitted)
        let expected = ProtectionClass.allCases.filter { $0 != target }
        let change = try stepper.protectFile(try ItemName("d"), as: target, .everything)
        // The directory is counted as well: it gets a class for new files.
        #expect(change.changedCount == permitted.filter { $0 != target }.count + 1)
        #expect(change.unchangedCount == expected.count - permitted.filter { $0 != target }.count)
        #expect(change.unchanged.count == change.unchangedCount)
        #expect(change.unchanged.allSatisfy { $0.code == .interactionNotAllowed })
        let kept = Set(change.unchanged.map(\.name))
        #expect(kept == Set(ProtectionClass.allCases.filter { !isPermitted($0) }.map { "d/\($0)" }))
        for old in ProtectionClass.allCases {
            let entry = try stepper.fileInfo(try ItemName("d/\(old)"))
            #expect(entry.protectionClass == (isPermitted(old) ? target : old))
        }
        let directory = try stepper.fileInfo(try ItemName("d"))
        #expect(directory.protectionClass == target)
    }

    @Test func `new files have the class of their directory`() throws {
        let fixture = try Fixture(.unlocked)
        let stepper = fixture.stepper
        let content = pseudoRandomBytes(40_000)
        let inherited = try stepper.put("made/below/file", content)
        #expect(inherited.protection == .file(.complete))
        #expect(inherited.protectionSource == "directory")
        let named = try stepper.put("made/named", content) { $0.protectionClass = .completeUnlessOpen }
        #expect(named.protection == .file(.completeUnlessOpen))
        let replaced = try stepper.put("made/named", content)
        #expect(replaced.protection == .file(.complete))
        try stepper.put("elsewhere", content)
        try stepper.moveFile(try ItemName("elsewhere"), to: try ItemName("made/moved"))
        let moved = try stepper.fileInfo(try ItemName("made/moved"))
        #expect(moved.protectionClass == .completeUntilFirstUserAuthentication)
        let open = FileOpenParameters(name: try ItemName("made/handle"), access: .write, creates: true)
        let opened = try stepper.call(open).value
        #expect(opened.protectionClass == .complete)
        let writing = try stepper.fileInfo(try ItemName("made/handle"))
        #expect(writing.isOpenForWriting)
        try stepper.call(FileCloseParameters(handle: opened.handle))
        let change = try stepper.protectFile(try ItemName("made"), as: ProtectionClass.none, .newFiles)
        #expect(change == FileProtectionChange(changedCount: 1, unchanged: [], unchangedCount: 0))
        let kept = try stepper.fileInfo(try ItemName("made/below/file"))
        #expect(kept.protectionClass == .complete)
        let next = try stepper.put("made/below/next", content)
        #expect(next.protection == .file(.none))
    }

    @Test func `what makes no sense is refused, and nothing is changed`() throws {
        let fixture = try Fixture(.unlocked)
        let stepper = fixture.stepper
        let before = try Self.names(stepper.listFiles(recursive: true))
        func name(_ path: String) throws -> ItemName { try ItemName(path) }
        #expect(Self.code { _ = try stepper.fileInfo(try name("no")) } == .itemNotFound)
        #expect(Self.code { _ = try stepper.listFiles(in: try name("no")) } == .itemNotFound)
        #expect(Self.code { _ = try stepper.listFiles(in: try name("d/none")) } == .param)
        #expect(Self.code { try stepper.makeDirectory(try name("made")) } == .duplicateItem)
        #expect(Self.code { try stepper.makeDirectory(try name("d/none/x"), parents: true) } == .param)
        #expect(Self.code { try stepper.makeDirectory(try name("no/x")) } == .itemNotFound)
        #expect(Self.code { try stepper.removeFile(try name("d")) } == .param)
        #expect(Self.code { try stepper.removeFile(try name("no"), recursive: true) } == .itemNotFound)
        #expect(Self.code { try stepper.moveFile(try name("d"), to: try name("d/inside")) } == .param)
        #expect(Self.code { try stepper.moveFile(try name("d"), to: try name("made")) } == .duplicateItem)
        #expect(Self.code { try stepper.protectFile(try name("d"), as: .complete) } == .param)
        #expect(Self.code { try stepper.protectFile(try name("d/none"), as: .complete, .newFiles) } == .param)
        #expect(Self.code { try stepper.protectFile(try name("no"), as: .complete, .everything) } == .itemNotFound)
        let after = try Self.names(stepper.listFiles(recursive: true))
        #expect(after == before)
    }

    @Test func `one name is in one store at a time`() throws {
        let fixture = try Fixture(.unlocked)
        let stepper = fixture.stepper
        try stepper.put("secret", [1])
        try stepper.put("to/none", [2])
        func name(_ path: String) throws -> ItemName { try ItemName(path) }
        #expect(Self.code { try stepper.makeDirectory(try name("secret")) } == .duplicateItem)
        #expect(
            Self.code { try stepper.moveFile(try name("d/none"), to: try name("secret"), replace: true) }
                == .duplicateItem
        )
        #expect(Self.code { try stepper.moveFile(try name("d"), to: try name("to")) } == .duplicateItem)
        #expect(Self.code { try stepper.put("made", [3]) } == .duplicateItem)
        #expect(
            Self.code {
                _ = try stepper.handle(FileOpenParameters(name: try name("secret"), access: .write, creates: true))
            } == .duplicateItem
        )
        try stepper.remove(try name("to/none"))
        try stepper.put("to/other", [2])
        try stepper.moveFile(try name("d"), to: try name("to"))
        let listed = try stepper.list(prefix: "to/").items.map(\.name)
        #expect(listed.count == 6)
        let secret = try stepper.get("secret")
        #expect(secret == [1])
    }

    // MARK: Moving directories

    /// A vault with files in the directory `d`, and with secrets.
    private static func filled(_ files: [String], _ secrets: [String]) throws -> Stepper {
        let stepper = try Stepper(passcode: nil)
        for name in files { try stepper.put("d/\(name)", [1]) { $0.store = .file } }
        for name in secrets { try stepper.put(name, [1]) }
        return stepper
    }

    private static func names(_ start: String, _ count: Int) -> [String] { (0..<count).map { "\(start)\($0)" } }

    @Test(arguments: [false, true])
    func `what takes a name while a directory is checked keeps the directory where it is`(isSecret: Bool) throws {
        // The check ends with the few files, or secrets, which it has seen already, if it does not begin anew.
        let files = isSecret ? ["new"] : Self.names("", 9)
        let secrets = isSecret ? Self.names("elsewhere/", 9) : ["to/new", "elsewhere"]
        let stepper = try Self.filled(files, secrets)
        let move = try stepper.begin(.fileRename, ["name": "d", "to": "to"])
        #expect(move.wait != nil)
        try stepper.put(isSecret ? "to/new" : "d/new", [2]) { $0.store = isSecret ? .keychain : .file }
        move.finish()
        #expect(move.failure?.code == .duplicateItem)
        let kept = try Self.names(stepper.listFiles(in: try ItemName("d")))
        #expect(kept.contains("d/new"))
    }

    @Test(arguments: [2, 40])
    func `the check of a directory ends with its entries or the secrets, whichever are fewer`(count: Int) throws {
        let stepper = try Self.filled(Self.names("", count), Self.names("elsewhere/", 42 - count))
        let move = try stepper.begin(.fileRename, ["name": "d", "to": "to"])
        var stepCount = 0
        while move.wait != nil {
            move.resume()
            stepCount += 1
        }
        #expect(move.failure == nil)
        #expect((2..<10).contains(stepCount), "\(stepCount) steps")
        try stepper.commit()
        let moved = try stepper.listFiles(in: try ItemName("to"))
        #expect(moved.entries.count == count)
    }

    @Test func `a directory is moved in the end, however often others change something`() throws {
        let stepper = try Self.filled(Self.names("", 20), Self.names("elsewhere/", 20))
        let move = try stepper.begin(.fileRename, ["name": "d", "to": "to"])
        var changeCount = 0
        while move.wait != nil && changeCount < 20 {
            try stepper.put("other", [1])
            changeCount += 1
            move.resume()
        }
        #expect(move.wait == nil && move.failure == nil)
        #expect((2..<20).contains(changeCount), "\(changeCount) changes")
        try stepper.commit()
        let moved = try stepper.listFiles(in: try ItemName("to"))
        #expect(moved.entries.count == 20)
    }

    // MARK: Pages

    @Test(arguments: [1, 2, 3, 7, 1000], [false, true])
    func `pages show everything once`(limit: Int, isRecursive: Bool) throws {
        let stepper = try Stepper(passcode: nil)
        // The name of a directory, and names that sort between it and its entries.
        let paths = ["a", "a-b", "a/x", "a/y/z", "a0", "b/ü", "b/z", "c", "é", "\u{1F600}", "Z"]
        for path in paths where !["a"].contains(path) { try stepper.put(path, [1]) { $0.kind = .database } }
        try stepper.makeDirectory(try ItemName("empty"))
        var expected = paths + ["a/y", "b", "empty"]
        if !isRecursive { expected.removeAll { $0.contains("/") } }
        var found: [String] = []
        var cursor: String?
        repeat {
            let page = try stepper.listFiles(recursive: isRecursive, limit: limit, cursor: cursor)
            #expect(page.entries.count <= limit)
            found += page.entries.map(\.name)
            cursor = page.cursor
        } while cursor != nil
        #expect(found.sortedByBytes() == expected.sortedByBytes())
    }

    @Test func `a page fits into a frame, whatever the names are`() throws {
        let stepper = try Stepper(passcode: nil)
        let part = String(repeating: "\u{1}", count: 255)
        let directory = Array(repeating: part, count: 15).joined(separator: "/")
        for number in 0..<30 { try stepper.put("\(directory)/\(number)", [1]) { $0.kind = .database } }
        var count = 0
        var pages = 0
        var cursor: String?
        repeat {
            let page = try stepper.listFiles(in: try ItemName(directory), cursor: cursor)
            count += page.entries.count
            pages += 1
            cursor = page.cursor
        } while cursor != nil
        #expect(count == 30)
        #expect(pages > 1)
    }
}
