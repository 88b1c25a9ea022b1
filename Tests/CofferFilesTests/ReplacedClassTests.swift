import CofferCore
import CofferDatabase
import CofferFileContent
import CofferFiles
import CofferKeys
import CofferTestSupport
import Testing

/// A file that is renamed over another one, as programs save that write beside it and rename.
@Suite struct `A file that is renamed over another` {
    private static let pairs = ProtectionClass.allCases.flatMap { new in ProtectionClass.allCases.map { (new, $0) } }

    private func rename(_ open: OpenStore, _ path: String, _ target: String, _ mode: MoveMode) throws {
        try open.store.move(try ItemName(path), to: try ItemName(target), in: "default", mode, now: 2000)
        open.store.settleDurably()
    }

    /// Whether the class of a file becomes that of the one that it replaces, and whether the state permits the rename.
    private func expectation(
        _ new: ProtectionClass,
        over old: ProtectionClass,
        in state: TestState
    ) -> (protectionClass: ProtectionClass, refusal: ErrorCode?) {
        let wanted = new.stricter(old)
        let hasKeys = new.permits(.read, in: state.name) && wanted.permits(.create, in: state.name)
        let isPermitted = isNamed(new, in: state) && (wanted == new || hasKeys)
        return (isPermitted ? wanted : new, isPermitted ? nil : .interactionNotAllowed)
    }

    @Test(arguments: TestState.allCases)
    func `gets the class of that one if it is stricter, or both stay`(state: TestState) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        do {
            let open = try OpenStore(vault, try vault.open(state == .noPasscode ? .noPasscode : .unlocked))
            for (new, old) in Self.pairs {
                try open.put("\(new)/\(old)/beside", Array("new".utf8), new)
                try open.put("\(new)/\(old)/document", Array("old".utf8), old)
            }
        }
        do {
            let open = try OpenStore(vault, try vault.open(state))
            for (new, old) in Self.pairs {
                let (protectionClass, refusal) = expectation(new, over: old, in: state)
                let (beside, document) = ("\(new)/\(old)/beside", "\(new)/\(old)/document")
                #expect(code { try rename(open, beside, document, .replaces) } == refusal, "\(new) over \(old)")
                let isThere = try open.protectionClass(of: beside) != nil
                #expect(isThere == (refusal != nil))
                let found = try open.protectionClass(of: document)
                #expect(found == (refusal == nil ? protectionClass : old), "\(new) over \(old)")
            }
            #expect(try open.survey().damaged == 0)
        }
        guard state != .noPasscode else { return }
        let open = try OpenStore(vault, try vault.open(.unlocked))
        for (new, old) in Self.pairs {
            let document = "\(new)/\(old)/document"
            let isRefused = expectation(new, over: old, in: state).refusal != nil
            let text = try open.text(document)
            #expect(text == (isRefused ? "old" : "new"), "\(document)")
            if isRefused { #expect(try open.text("\(new)/\(old)/beside") == "new") }
        }
    }

    @Test func `keeps its content where it is, and its dates`() throws {
        let open = try OpenStore()
        try open.put("beside", Array("new".utf8), .none, now: 7)
        try open.put("document", Array("old".utf8), .complete, now: 5)
        let content = try open.contentPath("beside")
        try rename(open, "beside", "document", .replaces)
        #expect(try open.contentPath("document") == content)
        let file = try #require(try open.find("document"))
        #expect([file.created, file.modified] == [7, 7])
        #expect(file.metadata.times.changed == 2_000_000_000)
    }

    @Test func `keeps its class if the client says so`() throws {
        let vault = try Vault()
        do {
            let open = try OpenStore(vault, try vault.open(.unlocked))
            for name in ["a", "b"] { try open.put(name, Array("old".utf8), .complete) }
            for name in ["a beside", "b beside"] { try open.put(name, Array("new".utf8), .none) }
            try rename(open, "a beside", "a", .replacesKeepingClass)
            #expect(try open.find("a")?.protectionClass == ProtectionClass.none)
        }
        let open = try OpenStore(vault, try vault.open(.locked))
        try rename(open, "b beside", "b", .replacesKeepingClass)
        #expect(try open.text("b") == "new")
    }

    @Test func `keeps its class when both swap their names`() throws {
        let open = try OpenStore()
        try open.put("a", Array("a".utf8), .complete)
        try open.put("b", Array("b".utf8), .none)
        try rename(open, "b", "a", .exchanges)
        #expect(try open.find("a")?.protectionClass == ProtectionClass.none)
        #expect(try open.find("b")?.protectionClass == .complete)
    }

    @Test func `says which file is locked`() throws {
        let vault = try Vault()
        do {
            let open = try OpenStore(vault, try vault.open(.unlocked))
            try open.put("document", Array("old".utf8), .complete)
            try open.put("recording", Array("old".utf8), .completeUnlessOpen)
            try open.put("beside", Array("new".utf8), .completeWhenUserInactive)
        }
        let open = try OpenStore(vault, try vault.open(.lockedExpired))
        // The public key of a recording is always there.
        for (target, locked) in [("document", "document"), ("recording", "beside")] {
            let error = #expect(throws: CofferError.self) { try rename(open, "beside", target, .replaces) }
            #expect(error?.message.contains("'\(locked)'") == true, "\(error?.message ?? "")")
            #expect(error?.cocoaCode == 513)
            #expect(error?.retry == .afterUnlock)
        }
    }

    @Test func `is as strict by its other names, and by one name of a file that has others`() throws {
        let open = try OpenStore()
        try open.put("beside", Array("new".utf8), .none)
        try open.store.link(try ItemName("beside"), to: try ItemName("other"), in: "default", now: 70)
        try open.put("document", Array("old".utf8), .complete)
        try open.store.link(try ItemName("document"), to: try ItemName("second"), in: "default", now: 70)
        open.store.settleDurably()
        try rename(open, "beside", "document", .replaces)
        for name in ["document", "other"] {
            #expect(try open.text(name) == "new")
            #expect(try open.find(name)?.protectionClass == .complete, "\(name)")
        }
        #expect(try open.text("second") == "old")
        #expect(try open.find("second")?.protectionClass == .complete)
        #expect(try open.survey().damaged == 0)
    }

    @Test func `takes its own versions along under its new class`() throws {
        let open = try OpenStore()
        for name in ["beside", "document"] {
            try open.put(name, Array("1".utf8), name == "beside" ? .none : .complete)
            _ = try open.store.versions.setKeepCount(3, of: try #require(try open.entry(name)))
            try open.put(name, Array("2".utf8), name == "beside" ? .none : .complete)
        }
        try rename(open, "beside", "document", .replaces)
        let found = try open.store.versions.formerFiles(of: try #require(try open.entry("document")))
        #expect(found.versions.count == 3)
        #expect(found.versions.allSatisfy { $0.protectionClass == .complete })
        #expect(found.damaged == [])
    }

    @Test(arguments: [false, true])
    func `is ended by a lock as what it is by then`(isUndone: Bool) throws {
        let open = try OpenStore(.unlocked)
        try open.put("beside", pattern(3 * 65536), .none)
        try open.put("document", Array("old".utf8), .complete)
        let read = try open.store.prepareRead(try #require(try open.find("beside")))
        defer { open.store.openContents.finished(read) }
        try open.connection.beginBatch()
        try open.store.move(try ItemName("beside"), to: try ItemName("document"), in: "default", .replaces, now: 9)
        if isUndone {
            try open.connection.rollbackBatch()
            open.store.abandon(isCertain: true)
        } else {
            try open.connection.commitBatch()
            open.store.settleDurably()
        }
        open.keys.lock()
        open.store.openContents.revoke(in: open.keys.state)
        let found = code { _ = try read.collect(0..<100) }
        #expect(found == (isUndone ? nil : .interactionNotAllowed))
    }
}
