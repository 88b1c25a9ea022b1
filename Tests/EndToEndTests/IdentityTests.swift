import CofferTestSupport
import Testing

/// Who a client is, where it does what it can to be taken for another.
@Suite struct IdentityTests {
    /// A process connects, leaves the connection to its child and ends, or waits for it; the child asks.
    ///
    /// The daemon stands still until that has come so.
    private static let handOver = """
        import os, signal, socket, struct, sys, time
        path, daemon, ends = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "ends"
        os.kill(daemon, signal.SIGSTOP)
        while open(f"/proc/{daemon}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)
        connected, connecting = os.pipe()
        first = os.fork()
        if first == 0:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            second = os.fork()
            if second == 0:
                request = b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}'
                connection.sendall(struct.pack(">II", len(request), 0) + request)
                header = connection.recv(8, socket.MSG_WAITALL)
                print(connection.recv(struct.unpack(">II", header)[0], socket.MSG_WAITALL).decode(), flush=True)
                os._exit(0)
            os.write(connecting, b"c")
            if not ends:
                os.waitpid(second, 0)
            os._exit(0)
        os.close(connecting)
        os.read(connected, 1)
        if ends:
            os.waitpid(first, 0)
        os.kill(daemon, signal.SIGCONT)
        # Its end is closed when all of them are gone.
        os.read(connected, 1)
        """

    private func answer(_ daemon: DaemonProcess, _ what: String) throws -> String {
        let script = ["-c", Self.handOver, daemon.socketPath, "\(daemon.processID)", what]
        let answer = try runCommand("/usr/bin/python3", script)
        #expect(answer.status == 0, "\(answer.errors)")
        return answer.text
    }

    @Test func `a process that has ended before it is let in is nobody, whoever has its connection`() throws {
        let daemon = try DaemonProcess()
        let alone = try answer(daemon, "ends")
        #expect(alone.contains("missingEntitlement") && alone.contains("is gone"), "\(alone)")
        // While it lives, what it shares its connection with is told from it by nobody.
        let shared = try answer(daemon, "stays")
        #expect(shared.contains(#""protocol":1"#), "\(shared)")
    }
}
