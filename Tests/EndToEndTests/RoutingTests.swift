import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Where `coffer put` stores things, through the real programs: what a directory holds, what crosses the boundary
/// between the stores, and what was asked for in so many words.
@Suite struct RoutingTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func coffer(_ line: String, _ input: [UInt8] = []) throws -> CommandResult {
        let words = line.split(separator: " ").map(String.init)
        if words[0] == "put" && !["--json", "--explain"].contains(words.last) {
            return try daemon.put(Array(words.dropFirst()), input: input)
        }
        return try daemon.coffer(words, input: input)
    }

    private func bytes(_ count: Int) -> [UInt8] { pseudoRandomBytes(count) }

    private func object(_ line: String) throws -> [String: Any] {
        let result = try coffer(line + " --json")
        #expect(result.status == 0, "\(result.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
    }

    // MARK: Directories

    @Test(arguments: [1, 1023, 1024, 1025, 32768, 32769])
    func `a directory holds what is put in it, with its class, and is removed with it`(count: Int) throws {
        #expect(try coffer("file mkdir app --class completeUntilFirstUserAuthentication").status == 0)
        let put = try coffer("put app/deep/s.json", bytes(count))
        #expect(put.text.contains("file store as completeUntilFirstUserAuthentication (R0)"), "\(put.text)")
        #expect(try coffer("file list app --recursive").text.contains("s.json"))
        #expect(try coffer("file read app/deep/s.json").output == bytes(count))
        #expect(try coffer("explain app/deep/s.json").text.contains("\nR0: "))
        #expect(try coffer("lock --now").status == 0)
        #expect(try coffer("get app/deep/s.json").output == bytes(count))
        #expect(try coffer("file remove app --recursive").status == 0)
        #expect(try coffer("get app/deep/s.json").status == 66)
        #expect(try coffer("list").text.isEmpty)
    }

    @Test func `a directory without a class holds files as well, and one that a put made holds none`() throws {
        #expect(try coffer("file mkdir plain").status == 0)
        #expect(try coffer("put plain/a", [1]).text.contains("completeUntilFirstUserAuthentication (R0)"))
        #expect(try coffer("put made/large", bytes(5000)).status == 0)
        #expect(try coffer("put made/small", [1]).text.contains("keychain as WhenUnlocked (R6)"))
        #expect(try coffer("file protect made complete --default").status == 0)
        #expect(try coffer("put made/other", [1]).text.contains("file store as complete (R0)"))
    }

    // MARK: The root

    @Test(arguments: ["protect", "file protect"])
    func `the root has a class of new files, and of nothing else`(verb: String) throws {
        #expect(try coffer("put before", bytes(5000)).status == 0)
        #expect(try coffer("\(verb) / complete --default").status == 0)
        #expect(try coffer("put after", bytes(5000)).text.contains("file store as complete (R8)"))
        #expect(try coffer("put d/deep", bytes(5000)).text.contains("file store as complete (R8)"))
        #expect(try coffer("put secret", bytes(5)).text.contains("keychain as WhenUnlocked (R6)"))
        #expect(try coffer("explain --size 5000").text.contains("readable while unlocked: it is the default"))
        #expect(try coffer("file mkdir open --class none").status == 0)
        #expect(try coffer("put open/f", bytes(5000)).text.contains("file store as none (R0)"))
        #expect(try object("show before")["protection"] as? String == "completeUntilFirstUserAuthentication")
        for words in ["/ complete", "/ complete --recursive", "// complete --default"] {
            #expect(try coffer("\(verb) \(words)").status == 64, "\(words)")
        }
        try daemon.restart()
        #expect(try coffer("put early", bytes(5000)).status == 75)
        #expect(try object("status")["defaultClass"] as? String == "complete")
        try daemon.connect().unlock(DaemonProcess.passcode)
        #expect(try coffer("put late", bytes(5000)).text.contains("file store as complete (R8)"))
    }

    // MARK: One option for both stores

    @Test(
        arguments: [
            ("unlocked", "WhenUnlocked", "complete", [75, 75]),
            ("deposit", "WhenUnlockedDeposit", "completeUnlessOpen", [75, 75]),
            ("after-login", "AfterFirstUnlock", "completeUntilFirstUserAuthentication", [0, 0]),
            ("always", "Always", "none", [0, 0]),
        ] as [(String, String, String, [Int32])]
    )
    func `--readable means the same in both stores, and is no conversion`(
        word: String,
        accessibility: String,
        protectionClass: String,
        locked: [Int32]
    ) throws {
        let small = try coffer("put small --readable \(word)", bytes(5))
        #expect(small.text.contains("keychain as \(accessibility) (R6)"))
        let large = try coffer("put large --readable \(word)", bytes(5000))
        #expect(large.text.contains("file store as \(protectionClass) (R8)"))
        for result in [small, large] { #expect(!result.errors.contains("is a protection of")) }
        #expect(try coffer("explain --size 5000 --readable \(word)").text.contains("you said so"))
        for name in ["generated", "login"] {
            let make = name == "login" ? "login add login --username nina --generate" : "generate generated"
            #expect(try coffer("\(make) --readable \(word)").status == 0)
            #expect(try object("show \(name)")["accessible"] as? String == accessibility)
            #expect(try coffer("\(make) --replace --readable unlocked").status == 0)
            #expect(try object("show \(name)")["accessible"] as? String == "WhenUnlocked")
        }
        #expect(try coffer("put before", bytes(5000)).status == 0)
        let changed = try coffer("protect before --readable \(word)")
        #expect(changed.status == 0)
        #expect(changed.errors.isEmpty)
        #expect(try object("show before")["protection"] as? String == protectionClass)
        #expect(try coffer("protect generated --readable \(word)").status == 0)
        #expect(try object("show generated")["accessible"] as? String == accessibility)
        #expect(try coffer("lock --now").status == 0)
        #expect(try ["small", "large"].map { try coffer("get \($0)").status } == locked)
    }

    @Test(
        arguments: [
            "put a --readable unlocked --protection complete", "put a --readable unlocked --accessible WhenUnlocked",
            "explain --size 5 --readable always --protection none", "protect a complete --readable unlocked",
            "protect a",
            "put a --readable never",
        ]
    )
    func `--readable is instead of a class or an accessibility`(line: String) throws {
        #expect(try coffer(line, bytes(5)).status == 64)
    }

    // MARK: Files and pipes

    @Test func `a FILE is presented as a file, and a pipe is not, whatever its name`() throws {
        let settings = Array("{\"theme\": \"\(String(repeating: "dark", count: 450))\"}".utf8)
        try daemon.directory.write(settings, to: "settings.json")
        #expect(try coffer("put file settings.json").text.contains("(R5)"))
        #expect(try coffer("explain settings.json").text.contains("\nR5: "))
        #expect(try coffer("put pipe", settings).text.contains("(R7)"))
        #expect(try coffer("explain -", settings).text.contains("\nR7: "))
        #expect(try coffer("put dash -", settings).text.contains("(R7)"))
        let named = try runCommand(
            "/bin/bash",
            ["-c", "cat settings.json | coffer put named /dev/stdin --json"],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
        #expect(named.text.contains("\"rule\":\"R7\""), "\(named.text)\(named.errors)")
        #expect(try coffer("put declared settings.json --structured").text.contains("(R3)"))
        #expect(try coffer("file read declared").status == 66)
    }

    @Test(arguments: [1024, 1025])
    func `a FILE of more than 1024 bytes is a file, also below a directory`(count: Int) throws {
        try FileManager.default.createDirectory(
            atPath: daemon.directory.appending("folder"),
            withIntermediateDirectories: true
        )
        try daemon.directory.write(bytes(count), to: "folder/settings")
        let (store, rule) = count == 1024 ? ("keychain as WhenUnlocked", "R6") : ("file store", "R5")
        #expect(try coffer("put one folder/settings").text.contains(store))
        #expect(try coffer("put one folder/settings").text.contains("(\(rule))"))
        #expect(try coffer("put all folder").status == 0)
        #expect(try object("show all/settings")["store"] as? String == (count == 1024 ? "keychain" : "file"))
    }

    @Test(arguments: ["API_KEY=abc\nDB_PASSWORD=hunter2\n", "machine a.example login nina password hunter2\n"])
    func `a recognised secret can't be read while locked, whichever store it goes to`(line: String) throws {
        let text = Array(String(repeating: line, count: 1 + 1100 / line.utf8.count).utf8)
        try daemon.directory.write(text, to: "secrets")
        #expect(try coffer("put file secrets").text.contains("file store as complete"))
        #expect(try coffer("put pipe", text).status == 0)
        #expect(try coffer("lock --now").status == 0)
        #expect(try coffer("get file").status == 75)
        #expect(try coffer("get pipe").status == 75)
    }

    @Test(arguments: ["password", "token", "key", "certificate"])
    func `a password is refused where files belong, with a way out`(kind: String) throws {
        #expect(try coffer("file mkdir app").status == 0)
        let refused = try coffer("put app/p --kind \(kind)", [1])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("a \(kind) belongs in the keychain"), "\(refused.errors)")
        #expect(try coffer("put app/p --kind \(kind) --store keychain", [1]).status == 0)
        #expect(try coffer("put p --kind \(kind)", [1]).status == 0)
    }

    // MARK: The boundary

    @Test(arguments: [
        "WhenUnlockedThisDeviceOnly", "AfterFirstUnlockThisDeviceOnly", "AlwaysThisDeviceOnly",
        "WhenPasscodeSetThisDeviceOnly",
    ])
    func `what is of this device only stays in the keychain up to 32 KiB, and is refused beyond`(name: String) throws {
        #expect(try coffer("put a --accessible \(name)", [1]).status == 0)
        for count in [1025, 32767, 32768] {
            let put = try coffer("put a", bytes(count))
            #expect(put.text.contains("keychain as \(name)"), "\(put.text)\(put.errors)")
            #expect(put.errors.isEmpty)
        }
        let refused = try coffer("put a", bytes(32769))
        #expect(refused.status == 64)
        #expect(refused.errors.contains("only the keychain has that"), "\(refused.errors)")
        #expect(try coffer("get a").output == bytes(32768))
        #expect(try coffer("put a", [2]).text.contains("keychain as \(name)"))
        #expect(try coffer("put b --accessible \(name) --store file", [1]).status == 64)
    }

    @Test(arguments: [0, 1, 1024, 1025, 32769])
    func `what expires while locked is a file of any size, and stays one`(count: Int) throws {
        let put = try coffer("put cx --allow-empty --protection completeWhenUserInactive", bytes(count))
        #expect(put.text.contains("file store as completeWhenUserInactive"), "\(put.text)")
        #expect(put.errors.isEmpty)
        #expect(try coffer("put cx", [1]).text.contains("file store as completeWhenUserInactive"))
        #expect(try coffer("get cx").output == [1])
        #expect(try coffer("put k --protection completeWhenUserInactive --store keychain", [1]).status == 64)
        #expect(try coffer("put k", [1]).status == 0)
        #expect(try coffer("protect k completeWhenUserInactive").status == 64)
    }

    @Test func `what outgrows the keychain keeps protection, history, expiry and comment, and stays a file`() throws {
        let added = try coffer(
            "keychain add --service s --account a --accessible AfterFirstUnlock --expires 2099-01-01 --other comment=mine",
            [1]
        )
        #expect(added.status == 0, "\(added.errors)")
        #expect(try coffer("put s/a", [2]).status == 0)
        let before = try object("show s/a")
        let grown = try coffer("put s/a", bytes(40_000))
        #expect(grown.errors.isEmpty, "\(grown.errors)")
        let file = try object("show s/a")
        #expect(file["protection"] as? String == "completeUntilFirstUserAuthentication")
        #expect(file["expiryDate"] as? Int == before["expiryDate"] as? Int)
        #expect(try coffer("list --expiring 2100-01-01").text.contains("s/a"))
        #expect(try coffer("list --expiring 2098-01-01").text.isEmpty)
        try daemon.restart()
        try daemon.connect().unlock()
        #expect(try coffer("put s/a", [3]).errors.isEmpty)
        let after = try object("show s/a")
        for member in ["created", "expiryDate"] {
            #expect("\(after[member] ?? "")" == "\(before[member] ?? "-")", "\(member)")
        }
        #expect(after["protection"] as? String == "completeUntilFirstUserAuthentication")
        #expect(try coffer("show s/a").text.contains("mine"))
        let versions = try coffer("file versions s/a")
        #expect(versions.text.split(separator: "\n").count == 3, "\(versions.text)")
        #expect(try coffer("doctor").status == 0)
    }

    @Test func `nothing of what a file kept is left when it is removed`() throws {
        #expect(try coffer("put a", Array("the former value".utf8)).status == 0)
        #expect(try coffer("put a", bytes(40_000)).status == 0)
        #expect(try coffer("remove a").status == 0)
        #expect(try coffer("put a", [1]).status == 0)
        #expect(try coffer("keychain history --account a --json").text.isEmpty)
        #expect(try coffer("doctor").status == 0)
    }

    @Test(arguments: [
        ("put f", 2000, "R8"), ("put f --kind token", 20, "R1"), ("put f --kind cache", 20, "R4"), ("put f", 20, "R6"),
    ])
    func `explain of what is stored says the rule that its put said`(line: String, count: Int, rule: String) throws {
        #expect(try coffer(line, bytes(count)).text.contains("(\(rule))"))
        let explained = try coffer("explain f")
        #expect(explained.text.contains("\n\(rule): "), "\(explained.text)")
        try daemon.directory.write(bytes(3000), to: "content")
        #expect(try coffer("put g content").text.contains("(R5)"))
        let file = try coffer("explain g")
        #expect(file.text.contains("'g' is in the file store") && file.text.contains("\nR5: "), "\(file.text)")
        #expect(!file.text.contains("a put of it now"))
        #expect(try coffer("explain g --size 10").text.contains("a put of it now would go to the file store"))
        #expect(try coffer("put s", [1]).status == 0)
        #expect(try coffer("explain s --size 40000").text.contains("a put of it now would go to the file store"))
    }

    @Test(arguments: [
        ("document", "while unlocked"), ("download", "while unlocked, written at any time"), ("cache", "always"),
        ("temporary", "always"), ("image", "after first unlock"), ("database", "after first unlock"),
    ])
    func `a kind says the protection of its scenario`(kind: String, words: String) throws {
        let put = try coffer("put f --kind \(kind) --explain", bytes(5000))
        #expect(put.text.contains(" as a file; ") && put.text.contains("\nR4: "), "\(put.text)")
        #expect(put.text.contains("\nreadable \(words): its kind says so"))
        #expect(put.errors.isEmpty)
    }

    @Test func `only who named what is converted is warned`() throws {
        for line in ["put a --scenario health", "put b --scenario cache", "put a", "put b"] {
            #expect(try coffer(line, [1]).errors.isEmpty, "\(line)")
        }
        let named = try coffer("put c --protection complete", [1])
        #expect(
            named.errors.contains(
                "'complete' is a protection of the file store: in the keychain, this is 'while unlocked'"
            )
        )
    }

    // MARK: While locked

    @Test(arguments: [false, true])
    func `a small secret of class B is a deposit, put and replaced in every state, and read while unlocked`(
        isRestarted: Bool
    ) throws {
        #expect(try coffer("put inbox/old --protection completeUnlessOpen", [1]).status == 0)
        #expect(try coffer("put inbox/open", [1]).status == 0)
        if isRestarted { try daemon.restart() } else { #expect(try coffer("lock --now").status == 0) }
        for name in ["inbox/old", "inbox/new"] {
            let put = try coffer("put \(name) --protection completeUnlessOpen", Array("x".utf8))
            #expect(put.status == 0, "\(put.errors)")
            #expect(put.text.contains("keychain as WhenUnlockedDeposit (R6)"), "\(put.text)")
            #expect(put.errors.contains("this is 'while unlocked, written at any time'"), "\(put.errors)")
            #expect(try coffer("get \(name)").status == 75)
            let again = try coffer("put \(name)", bytes(20))
            #expect(again.text.contains("keychain as WhenUnlockedDeposit") && again.errors.isEmpty)
            #expect(try coffer("put \(name)", bytes(5000)).text.contains("keychain as WhenUnlockedDeposit"))
            // What it would take along out of the keychain can't be read.
            #expect(try coffer("put \(name)", bytes(40_000)).status == 75)
            #expect(try coffer("get \(name)").status == 75)
            #expect(try coffer("put \(name)", bytes(21)).text.contains("keychain as WhenUnlockedDeposit"))
            #expect(try coffer("put \(name) --accessible Always", [1]).status == 75)
            #expect(try coffer("put \(name) --protection completeUntilFirstUserAuthentication", [1]).status == 75)
            let explained = try coffer("explain \(name)")
            #expect(explained.text.contains("it can be stored and replaced in every state"), "\(explained.text)")
        }
        let simulated = try coffer("simulate").text.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
        let line = "locked yes yes keychain while unlocked, written at any time inbox/new"
        #expect(simulated.contains(line) != isRestarted, "\(simulated)")
        // What is not a deposit stays as it is.
        #expect(try coffer("put inbox/open --protection completeUnlessOpen", [2]).status == 75)
        #expect(try coffer("put inbox/other", [2]).status == 75)
        let added = try coffer("keychain add --service s --account a --accessible WhenUnlockedDeposit", [1])
        #expect(added.status == 0, "\(added.errors)")
        #expect(try coffer("keychain update --service s --account a --secret", [2]).status == 0)
        #expect(try coffer("keychain find --service s --account a").status == 75)
        let history = try coffer("keychain history --service s --account a")
        if isRestarted {
            #expect(history.status == 75)
        } else {
            let number = try #require(history.text.split(whereSeparator: \.isWhitespace).first, "\(history.text)")
            #expect(try coffer("keychain history --service s --account a --number \(number)").status == 75)
        }
        let named = try coffer("put inbox/named --accessible WhenUnlockedDeposit", [3])
        #expect(named.status == 0 && named.errors.isEmpty, "\(named.errors)")
        try daemon.connect().unlock()
        #expect(try coffer("get inbox/old").output == bytes(21))
        #expect(try coffer("get inbox/new").output == bytes(21))
        #expect(try coffer("get inbox/open").output == [1])
        #expect(try coffer("get inbox/named").output == [3])
        #expect(try coffer("keychain find --service s --account a").output == [2])
        let blockers = try coffer("status --blockers").text
        #expect(blockers.contains("  inbox/new  (keychain: while unlocked, written at any time)\n"), "\(blockers)")
        #expect(try coffer("doctor").status == 0)
    }

    @Test(arguments: [false, true])
    func `a deposit is added and replaced over the socket in every state`(isRestarted: Bool) throws {
        if isRestarted { try daemon.restart() } else { _ = try daemon.connect().lock(graceSeconds: 0) }
        let client = try daemon.connect()
        let put = try client.put("box/a", [1]) { $0.protectionClass = .completeUnlessOpen }
        #expect(put.protection == .keychain(.whenUnlockedDeposit))
        try client.put("box/a", [2])
        let attributes: [KeychainAttribute: AttributeValue] = [.service: .text("box"), .account: .text("b")]
        let reference = try client.add(.genericPassword, attributes, [3], accessible: .whenUnlockedDeposit)
        // Before the first unlock, a reference does not tell in which group the item is.
        let query = isRestarted ? KeychainQuery(.genericPassword, attributes) : KeychainQuery(reference: reference)
        try client.update(query, KeychainChange(), [4])
        let clash = try Outcome { try client.add(.genericPassword, attributes, [5], accessible: .whenUnlockedDeposit) }
        #expect(clash == .refused(.duplicateItem))
        for name in ["box/a", "box/b"] {
            let read = try Outcome { _ = try client.get(name) }
            #expect(read == .locked)
            var shown: ItemInfo?
            let showing = try Outcome { shown = try client.show(try ItemName(name)) }
            #expect(showing == (isRestarted ? .locked : .done) && shown?.isReadable != true)
        }
        try client.unlock()
        #expect(try client.get("box/a") == [2])
        #expect(try client.get("box/b") == [4])
    }

    @Test func `a file of class B is replaced in every state, and read while unlocked`() throws {
        #expect(try coffer("put in/box --protection completeUnlessOpen", bytes(5000)).status == 0)
        #expect(try coffer("lock --now").status == 0)
        for count in [5001, 40_000] {
            let put = try coffer("put in/box", bytes(count))
            #expect(put.status == 0, "\(put.errors)")
            #expect(try coffer("get in/box").status == 75)
        }
        try daemon.restart()
        #expect(try coffer("put in/box", bytes(5003)).status == 0)
        #expect(try coffer("get in/box").status == 75)
        try daemon.connect().unlock()
        #expect(try coffer("get in/box").output == bytes(5003))
    }
}
