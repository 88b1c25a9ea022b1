import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A client that ends during a put: the kernel closes its connection and the pipe of the content.
@Suite struct InterruptedPutTests {
    @Test(arguments: [2000, 200_000])
    func `what comes of a client that has gone takes the place of nothing`(_ byteCount: Int) throws {
        let place = try HeldServer()
        let client = try place.connect()
        try client.makeVault(passcode: nil)
        let old = pseudoRandomBytes(byteCount, seed: 1)
        try client.put("a", old) { $0.store = byteCount < 10_000 ? .keychain : .file }
        var connection = try place.connectRaw()
        let pipe = Pipe()
        try connection.send(.itemPut, ["name": "a"], passing: pipe.fileHandleForReading.fileDescriptor)
        let part = Background {
            try pipe.fileHandleForWriting.write(contentsOf: pseudoRandomBytes(byteCount / 2, seed: 2))
        }
        try part.wait()
        // The daemon has read the first part and waits for more. While it is blocked, the thread of the
        // transfer sees the end of the pipe before the daemon sees the end of the connection.
        usleep(100_000)
        try place.whileHeld {
            shutdown(connection.socket.number, Int32(SHUT_RDWR))
            try pipe.fileHandleForWriting.close()
            usleep(200_000)
        }
        #expect(becomesTrue { try client.status().state == .noPasscode })
        #expect(try client.get("a") == old)
    }
}
