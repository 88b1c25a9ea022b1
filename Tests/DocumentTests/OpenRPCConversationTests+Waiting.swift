import CofferTestSupport
import CofferWire
import Testing

extension OpenRPCConversationTests {
    /// The notifications that come some time after a lock.
    func waitAfterLock(_ rpc: OpenRPC) throws -> Set<String> {
        let daemon = try ExampleDaemon(["--inactive-after", "0", "--forget-after", "1"])
        let talk = try Conversation(to: daemon.socket, rpc)
        try talk.succeed(.vaultInit, ["kdf": "interactive"], payload: Array(DaemonProcess.passcode.utf8))
        try talk.succeed(.vaultWatch)
        try talk.succeed(.vaultLock, ["grace": 0])
        try talk.expectNews("inactiveDataDidBecomeUnavailable")
        try talk.expectNews("firstUnlockDataDidBecomeUnavailable")
        #expect(try talk.succeed(.vaultStatus).result?["state"] == "beforeFirstUnlock")
        return talk.told
    }
}
