import CofferClient

/// What no function of the client stands for: every method of the protocol is a call of its parameters.
enum Methods {
    /// Makes a vault, and looks at the ways to open it.
    static func makeVault(_ client: CofferClient, _ passcode: Secret) async throws {
        let made = try await client.call(VaultInitParameters(kdf: .interactive), payload: passcode)
        // What comes as bytes is a secret: here the recovery key, which no JSON has.
        print("made a vault; its recovery key has \(made.payload.count) characters")
        let slot = try await client.call(SlotAddParameters(), payload: passcode)
        let tested = try await client.call(SlotTestParameters(credential: .recoveryKey), payload: slot.payload)
        print("the second recovery key opens slot \(tested.value.number)")
        for slot in try await client.call(SlotListParameters()).value.slots {
            print("slot \(slot.number): \(slot.kind.rawValue)")
        }
        // Two secrets that travel together.
        let both = try Secret(given: passcode, new: passcode)
        try await client.call(PasscodeChangeParameters(kdf: .interactive), payload: both)
    }

    /// Adds an item to the keychain, and finds it.
    static func useKeychain(_ client: CofferClient) async throws {
        let attributes: [KeychainAttribute: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]
        let item = KeychainAddParameters(.genericPassword, attributes, user: ["for": "the example"])
        try await client.call(item, payload: Secret(exposed: "s3cret"))
        let query = KeychainQuery(.genericPassword, [.account: .text("anna")])
        let wanted = KeychainFindParameters(query, limit: .all, returns: [.attributes, .data])
        let found = try await client.call(wanted)
        for (item, secret) in zip(found.value.items, try found.secrets()) {
            print("found \(item.user ?? [:]), with a secret of \(secret?.count ?? 0) bytes")
        }
        let change = KeychainChange(attributes: [.label: .text("Mail")])
        print("changed \(try await client.call(KeychainUpdateParameters(query, change)).value.count)")
    }

    /// Lends an item out, and ends that.
    static func lend(_ client: CofferClient) async throws {
        let name = try ItemName("lent")
        try await client.call(ItemPutParameters(name: name), payload: Secret(exposed: "for a day"))
        let reader = try ClientPattern("uid:1")
        let rule = AccessAllowParameters(client: reader, verbs: [.read], name: name, seconds: 86_400, uses: 3)
        let number = try await client.call(rule).value.number
        for rule in try await client.call(AccessListParameters()).value.rules {
            print("\(rule.name?.path ?? "items") may be read by \(rule.client) \(rule.uses ?? 0) times")
        }
        try await client.call(AccessRemoveParameters(number: number))
    }

    /// Makes a tree of directories, and goes through it.
    static func makeTree(_ client: CofferClient) async throws {
        let directory = try ItemName("tree/deep")
        try await client.call(FileMkdirParameters(name: directory, protectionClass: .complete, makesParents: true))
        try await client.withFile(try ItemName("tree/deep/file"), for: .write, .create) { file in
            try await file.write(Secret(exposed: "content"))
        }
        let tree = FileListParameters(name: try ItemName("tree"), isRecursive: true)
        for entry in try await client.call(tree).value.entries {
            print("\(entry.name)\(entry.isDirectory ? "/" : ": \(entry.byteCount) bytes")")
        }
    }

    /// Reads what was recorded of all that.
    static func readAudit(_ client: CofferClient) async throws {
        let records = try await client.call(AuditListParameters()).value.records
        let actions = Set(records.map(\.action))
        print("recorded: \(actions.intersection(["keychain.add", "access.allow", "vault.init"]).sorted())")
        let checked = try await client.call(AuditVerifyParameters()).value
        print("the audit is \(checked.findings.isEmpty ? "sound" : "damaged")")
    }

    /// What one thread at a time needs: each call blocks it.
    static func block(_ socketPath: String) throws {
        let client = try BlockingClient(socketPath: socketPath)
        let named = try client.call(ItemShowParameters(name: try ItemName("lent"))).value
        let secret = try client.call(ItemGetParameters(name: try ItemName("lent"))).payload
        print("\(named.name): \(named.byteCount) bytes, and so many came: \(secret.count)")
    }
}
