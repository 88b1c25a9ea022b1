import CofferClient

/// Unlocks the vault, stores, fetches, streams and watches: `client-example SOCKET`, with the passcode on standard input.
///
/// Where there is no vault it makes one, and calls what has no function of its own.
@main
struct Example {
    static func main() async throws {
        guard let path = CommandLine.arguments.dropFirst().first, let line = readLine() else {
            throw CofferError(.param, "usage: client-example SOCKET < PASSCODE")
        }
        let passcode = try Secret(exposed: line)

        try await CofferClient.withConnection(to: path) { client in
            if try await client.status().state == .noVault { try await callMethods(client, passcode, path) }
            try await client.unlock(with: passcode)
            try await keepSecrets(client)
            try await stream(client)
            try await watch(client, passcode)
        }
    }

    static func callMethods(_ client: CofferClient, _ passcode: Secret, _ path: String) async throws {
        try await Methods.makeVault(client, passcode)
        try await Methods.useKeychain(client)
        try await Methods.lend(client)
        try await Methods.makeTree(client)
        try await Methods.readAudit(client)
        try Methods.block(path)
    }

    static func keepSecrets(_ client: CofferClient) async throws {
        let names = try ["example/one", "example/two", "example/three"].map { try ItemName($0) }
        // Concurrently, on one connection.
        try await withThrowingTaskGroup { group in
            for name in names {
                group.addTask { try await client.put(name, Secret(exposed: "the secret of \(name.path)")) }
            }
            try await group.waitForAll()
        }
        var items: [ItemInfo] = []
        for try await item in client.list(prefix: "example/") { items.append(item) }
        // They are in the catalog's order.
        for item in items.sorted(by: { $0.name < $1.name }) {
            let secret = try await client.get(ItemName(item.name))
            // The bytes stay where they are wiped: only their sum leaves.
            let sum = secret.withBytes { bytes in
                (0..<bytes.byteCount).reduce(0) {
                    $0 + Int(unsafe bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self))
                }
            }
            print("\(item.name): \(secret.count) bytes, sum \(sum)")
        }
        do {
            _ = try await client.get(ItemName("example/four"))
        } catch {
            if error.code != .itemNotFound { throw error }
            print("\(error.message)")
        }
    }

    static func stream(_ client: CofferClient) async throws {
        let name = try ItemName("example/large")
        let pieces = Sevens(byteCount: 1_000_000)
        let placement = try await client.put(name, from: pieces)
        var count = 0
        for try await piece in client.content(of: name) { count += piece.count }
        print("\(name.path): \(count) bytes in the \(placement.protection.store.rawValue) store")
    }

    static func watch(_ client: CofferClient, _ passcode: Secret) async throws {
        let events = try await client.events()
        try await client.lock(graceSeconds: 0)
        try await client.unlock(with: passcode)
        for try await event in events {
            print(event)
            if event == .protectedDataDidBecomeAvailable { break }
        }
    }
}

/// A content in pieces: the next one is requested when the daemon has taken the last.
struct Sevens: AsyncSequence, AsyncIteratorProtocol {
    var byteCount: Int

    func makeAsyncIterator() -> Sevens { self }

    mutating func next() async throws(CofferError) -> Secret? {
        if byteCount == 0 { return nil }
        let count = Swift.min(byteCount, 64 << 10)
        byteCount -= count
        return try Secret(capacity: count) { span in
            for _ in 0..<count { span.append(UInt8(7)) }
        }
    }
}
