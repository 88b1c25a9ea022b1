import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Service managers that ask for credentials of units.
@Suite struct UnitCredentialTests {
    /// Connects a number of times from the address that names the unit and the credential, in a process of its own; of those
    /// but the last, which it reads to the end at once, it prints for a line how many have nothing, and then what all of
    /// them have got.
    private static let managers = #"""
        import socket, sys, uuid
        def connect():
            one = socket.socket(socket.AF_UNIX)
            one.bind(f'\0{uuid.uuid4()}/unit/web.service/token')
            one.connect(sys.argv[1])
            return one
        def read(one):
            return b''.join(iter(lambda: one.recv(65536), b''))
        def waits(one):
            try:
                one.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                return False
            except BlockingIOError:
                return True
        waiting = [connect() for _ in range(int(sys.argv[2]))]
        print(len(read(connect())), flush=True)
        sys.stdin.readline()
        print(sum(waits(one) for one in waiting), flush=True)
        sys.stdin.readline()
        contents = {read(one) for one in waiting + [connect()]}
        print(contents, flush=True)
        """#

    @Test func `beyond the most units that may wait, one more is refused, and says so; all others are served`() throws {
        let next = Shared(HeldServer.owner)
        let server = try TestServer { configuration in
            configuration.identify = { _, _ in next.value }
            configuration.credentials.hold = { _ in }
            configuration.credentials.waitSeconds = 3600
        }
        let owner = try server.connect()
        try owner.makeVault()
        next.value = HeldServer.service("web")
        let unit = try server.connect()
        try unit.put("token", Array("worth waiting".utf8)) { $0.accessibility = .whenUnlocked }
        let path = server.directory.appending("credentials")
        server.perform { server in try? server.serve(UnixSocket.listen(at: path), for: .serviceManagers) }
        try owner.lock(graceSeconds: 0)

        let (managers, input, output) = (Process(), Pipe(), Pipe())
        managers.executableURL = URL(filePath: "/usr/bin/python3")
        managers.arguments = ["-c", Self.managers, path, "\(Limits.credentialConnections)"]
        (managers.standardInput, managers.standardOutput) = (input, output)
        try managers.run()
        defer { managers.terminate() }
        func line() throws -> String {
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }
        // One more is refused, and reads that; the daemon waits neither for it nor for those that wait.
        let refusalBytes = try #require(Int(try line()))
        #expect(refusalBytes > Limits.credentialBytes)
        #expect(try owner.status().state == .locked)
        input.fileHandleForWriting.write(Data("\n".utf8))
        #expect(try line() == "\(Limits.credentialConnections)")
        let refusals = try owner.auditRecords().records.compactMap(\.refusal)
        #expect(refusals.filter { $0.code == .notAvailable }.count == 1)

        try owner.unlock()
        input.fileHandleForWriting.write(Data("\n".utf8))
        #expect(try line() == "{b'worth waiting'}")
    }
}
