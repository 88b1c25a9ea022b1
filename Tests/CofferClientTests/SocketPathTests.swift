import CofferClient
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Which vault a client means that names none.
@Suite struct SocketPathTests {
    private func candidates(_ variables: [String: String], as userID: UInt32) -> [String] {
        SocketPath.candidates({ variables[$0] }, userID: userID)
    }

    @Test func `root means the machine's vault in a login session, too, unless it names a socket`() {
        #expect(candidates(["XDG_RUNTIME_DIR": "/run/user/0"], as: 0) == [SocketPath.system])
        #expect(candidates(["XDG_RUNTIME_DIR": "/run/user/1000"], as: 0) == [SocketPath.system])
        #expect(candidates([:], as: 0) == [SocketPath.system])
        #expect(candidates(["COFFER_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/user/0"], as: 0) == ["/s"])
        #expect(candidates(["COFFER_SOCKET": ""], as: 0) == [SocketPath.system])
    }

    @Test func `a user means the own vault first`() throws {
        let directory = try TemporaryDirectory()
        let own = geteuid() == 0 ? 1234 : geteuid()
        chown(directory.path, own, getegid())
        let socket = "\(directory.path)/coffer/coffer.sock"
        #expect(candidates(["XDG_RUNTIME_DIR": directory.path], as: own) == [socket, SocketPath.system])
        #expect(candidates(["COFFER_SOCKET": "/s", "XDG_RUNTIME_DIR": directory.path], as: own) == ["/s"])
        let missing = candidates(["XDG_RUNTIME_DIR": "/nowhere"], as: own)
        #expect(missing == ["/nowhere/coffer/coffer.sock", SocketPath.system])
    }

    @Test func `without the variable it is where a login has made it, if it is the user's`() throws {
        let directory = try TemporaryDirectory()
        let own = geteuid() == 0 ? 1234 : geteuid()
        func found(_ variables: [String: String] = [:], as userID: UInt32? = nil) -> String? {
            RuntimeDirectory.own({ variables[$0] }, userID: userID ?? own, logins: directory.path)
        }
        #expect(found() == nil)
        let made = directory.path("\(own)")
        try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: false)
        chown(made, own, getegid())
        #expect(found() == made && found(["XDG_RUNTIME_DIR": ""]) == made)
        #expect(found(as: 0) == nil)
        // As su leaves it: the directory of the user before.
        let others = directory.path("others")
        try FileManager.default.createDirectory(atPath: others, withIntermediateDirectories: false)
        if geteuid() == 0 {
            chown(others, 4242, 4242)
            #expect(found(["XDG_RUNTIME_DIR": others]) == made)
            chown(made, 4242, 4242)
            #expect(found() == nil)
            try FileManager.default.removeItem(atPath: made)
            try FileManager.default.createSymbolicLink(atPath: made, withDestinationPath: directory.path)
            #expect(found() == nil)
        }
    }
}
