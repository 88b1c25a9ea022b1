import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Who a client is, where it does what it can to be taken for another: with real processes.
@Suite struct IdentityTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let isRoot = geteuid() == 0
    private static let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path

    /// What the scripts have in common: a connection, requests, and answers as they come.
    ///
    /// A client that is refused gets the error unasked, and may find the connection closed when it sends.
    private static let client = """
        import ctypes, os, shutil, signal, socket, struct, sys, time
        path = sys.argv[1]
        def connect():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            return connection
        def frame(method="hello", params='{"protocol":1}'):
            request = ('{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}' % (method, params)).encode()
            return struct.pack(">II", len(request), 0) + request
        def answer(connection):
            header = connection.recv(8, socket.MSG_WAITALL)
            if len(header) < 8:
                return "the end"
            return connection.recv(struct.unpack(">II", header)[0], socket.MSG_WAITALL).decode()
        def ask(connection, *request):
            connection.sendall(frame(*request))
            print(answer(connection), flush=True)
        def knock():
            print(answer(connect()), flush=True)
        def child(work):
            process = os.fork()
            if process == 0:
                work()
                os._exit(0)
            os.waitpid(process, 0)

        """

    /// Runs a script, and returns the lines that it prints.
    private func run(
        _ script: String,
        by launcher: [String] = [],
        program: String = python,
        on daemon: DaemonProcess,
        _ arguments: String...
    ) throws -> [String] {
        let command = launcher + [program, "-c", Self.client + script, daemon.socketPath] + arguments
        let outcome = try runCommand(command[0], Array(command.dropFirst()))
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    private func daemon(_ entitlement: String? = nil) throws -> DaemonProcess {
        guard let entitlement else { return try DaemonProcess(in: directory) }
        let path = directory.appending("e")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try directory.write(Array("[Client]\n\(entitlement)\n".utf8), to: "e/a.conf")
        return try DaemonProcess(in: directory, ["--entitlements", path])
    }

    private func isDone(_ answer: String?) -> Bool { answer?.contains(#""result""#) == true }

    /// Whether an answer refuses, in such words.
    private func isRefused(_ answer: String?, _ words: String) -> Bool {
        answer?.contains("missingEntitlement") == true && answer?.contains(words) == true
    }

    @Test func `a process that ends before it is accepted is refused, even if another has its connection`() throws {
        let daemon = try daemon()
        // The daemon stands still until all is as it should be.
        let answers = try run(
            """
            daemon = int(sys.argv[2])
            os.kill(daemon, signal.SIGSTOP)
            while open(f"/proc/{daemon}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
                time.sleep(0.001)
            reading, writing = os.pipe()
            def first():
                connection = connect()
                if os.fork() == 0:
                    connection.sendall(frame())
                    os.write(writing, b"s")
                    print(answer(connection), flush=True)
                else:
                    os.read(reading, 1)
            child(first)
            os.close(writing)
            os.kill(daemon, signal.SIGCONT)
            # Its end is closed when all of them are gone.
            os.read(reading, 1)
            """,
            on: daemon,
            "\(daemon.processID)"
        )
        #expect(answers.count == 1 && isRefused(answers.first, "is gone"), "\(answers)")
    }

    @Test func `a child can't use the connection of its parent, and afterwards no process can`() throws {
        let daemon = try daemon()
        try daemon.connect().makeVault()
        let answers = try run(
            """
            connection = connect()
            ask(connection)
            child(lambda: ask(connection, "vault.lock", '{"grace":0}'))
            print(answer(connection), flush=True)
            child(lambda: ask(connect()))
            """,
            on: daemon
        )
        try #require(answers.count == 4, "\(answers)")
        #expect(isDone(answers[0]))
        #expect(isRefused(answers[1], "has sent something on this connection"), "\(answers)")
        #expect(answers[2] == "the end")
        #expect(isDone(answers[3]), "a child that connects for itself is served: \(answers)")
        #expect(try daemon.connect().status().state == .unlocked)
    }

    @Test func `what two processes have sent makes no request`() throws {
        let daemon = try daemon()
        try daemon.connect().makeVault()
        let answers = try run(
            """
            connection = connect()
            lock = frame("vault.lock", '{"grace":0}')
            connection.sendall(lock[:20])
            child(lambda: connection.sendall(lock[20:]))
            print(answer(connection), flush=True)
            """,
            on: daemon
        )
        #expect(answers.count == 1 && isRefused(answers.first, "has sent something"), "\(answers)")
        #expect(try daemon.connect().status().state == .unlocked)
    }

    @Test func `a connection that was handed to another process is of no use there`() throws {
        let daemon = try daemon()
        let answers = try run(
            """
            here, there = socket.socketpair()
            if os.fork() == 0:
                _, numbers, _, _ = socket.recv_fds(there, 1, 1)
                ask(socket.socket(fileno=numbers[0]))
                os._exit(0)
            connection = connect()
            ask(connection)
            socket.send_fds(here, [b"c"], [connection.fileno()])
            os.wait()
            """,
            on: daemon
        )
        #expect(answers.count == 2 && isDone(answers.first), "\(answers)")
        #expect(isRefused(answers.last, "has sent something on this connection"), "\(answers)")
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `a process that goes on as another user or group does not go on with its connection`() throws {
        let daemon = try daemon()
        let answers = try run(
            """
            for change in [lambda: os.setgid(65534), lambda: os.setuid(65534)]:
                connection = connect()
                ask(connection)
                change()
                ask(connection)
            """,
            on: daemon
        )
        try #require(answers.count == 4, "\(answers)")
        #expect(isDone(answers[0]) && isRefused(answers[1], "user 0 and group 65534 has sent"), "\(answers)")
        #expect(isDone(answers[2]) && isRefused(answers[3], "user 65534 and group 65534 has sent"), "\(answers)")
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `another user is refused, unless an entitlement names it or one of its groups`() throws {
        for path in [directory.path, directory.appending("e")] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            chmod(path, 0o755)
        }
        let daemon = try daemon("GID=4242\nVerbs=lock")
        chmod(daemon.socketPath, 0o666)
        let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534"]
        let stranger = try run("knock()", by: nobody + ["--clear-groups"], on: daemon)
        #expect(isRefused(stranger.first, "user 65534 may not use this vault"), "\(stranger)")
        let other = try run("knock()", by: nobody + ["--groups=4241,4243"], on: daemon)
        #expect(isRefused(other.first, "user 65534 may not use this vault"), "\(other)")
        for groups in ["4242", "1,4242,7000"] {
            let member = try run("ask(connect())", by: nobody + ["--groups=\(groups)"], on: daemon)
            #expect(isDone(member.first), "\(member)")
        }
    }

    @Test(.enabled(if: isRoot, "only root can make a pid namespace without one of users"))
    func
        `a process in another pid namespace is not taken for the owner, nor for whom an entitlement names by its user`()
        throws
    {
        let contained = ["/usr/bin/unshare", "--pid", "--fork"]
        let daemon = try daemon()
        let byRule = try run("knock()", by: contained, on: daemon)
        #expect(
            isRefused(
                byRule.first,
                "a process in a container or another pid namespace can't use the vault of its user"
            ),
            "\(byRule)"
        )
        // One that only makes its children live in another is where it was.
        #expect(isDone(try run("ask(connect())", by: Array(contained.dropLast()), on: daemon).first))
        daemon.kill()
        let entitled = try self.daemon("UID=0\nGroups=default\nVerbs=read")
        #expect(isDone(try run("ask(connect())", on: entitled).first))
        let byUser = try run("knock()", by: contained, on: entitled)
        #expect(
            isRefused(byUser.first, "a process in a container or another pid namespace does not match"),
            "\(byUser)"
        )
        #expect(isRefused(byUser.first, "a.conf', line 1, which does not name its unit"), "\(byUser)")
    }

    // MARK: Programs

    private func programEntitlement(_ path: String) -> String {
        "UID=\(geteuid())\nExecutable=\(path)\nGroups=program\nVerbs=read lock"
    }

    /// The program becomes a shell, which asks on the connection that it has got.
    private static let becomingAShell = """
        connection = connect()
        ask(connection)
        os.dup2(connection.fileno(), 9)
        digits = "".join("\\\\x%02x" % byte for byte in frame("vault.lock", '{"grace":0}'))
        os.execv("/bin/bash", ["bash", "-c", "printf '%b' '" + digits + "' >&9; tail -c +9 <&9; echo"])
        """

    @Test func `a process that runs another program has lost what rested on its program`() throws {
        let daemon = try daemon(programEntitlement(Self.python))
        let answers = try run(Self.becomingAShell, on: daemon)
        #expect(answers.count == 2 && isDone(answers.first), "\(answers)")
        #expect(isRefused(answers.last, "runs another program now"), "\(answers)")
    }

    @Test func `where nothing rests on the program, it may be another`() throws {
        let daemon = try daemon()
        try daemon.connect().makeVault()
        // The daemon closes nothing: so that it ends, the shell's answer is that of a vault without anything more to say.
        let answers = try run(
            Self.becomingAShell.replacing("tail -c +9 <&9; echo", with: "head -c 60 <&9 | tail -c +9; echo"),
            on: daemon
        )
        #expect(answers.count == 2 && isDone(answers.first) && isDone(answers.last), "\(answers)")
        #expect(try daemon.connect().status().state == .locked)
    }

    @Test func `a program that was replaced is not the one that is named, and one by a link is where the link leads`()
        throws
    {
        let program = directory.appending("program")
        try FileManager.default.copyItem(atPath: Self.python, toPath: program)
        let link = directory.appending("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program)
        let daemon = try daemon(programEntitlement(program))
        let script = """
            connection = connect()
            ask(connection, "vault.unlock", "{}")
            shutil.copy(sys.argv[2], sys.argv[2] + ".new")
            os.rename(sys.argv[2] + ".new", sys.argv[2])
            ask(connection, "vault.unlock", "{}")
            ask(connect(), "vault.unlock", "{}")
            """
        for way in [program, link] {
            let answers = try run(script, program: way, on: daemon, program)
            try #require(answers.count == 3, "\(answers)")
            // What runs is what it was; what connects then is another, and the owner's.
            for answer in answers.prefix(2) {
                #expect(isRefused(answer, "you lack the right 'unlock', which 'vault.unlock' needs"), "\(answers)")
            }
            #expect(answers[2].contains("notAvailable"), "\(answers)")
        }
    }

    @Test(.enabled(if: isRoot, "only root can choose the number of a process"))
    func `a process that has got the number of the one that has connected is not taken for it`() throws {
        // By clone3(2), whose set_tid gives a new process the number that is wanted.
        let script = """
            reading, writing = os.pipe()
            def first():
                connection = connect()
                ask(connection)
                number = os.getpid()
                if os.fork() == 0:
                    os.setsid()
                    while os.path.exists(f"/proc/{number}"):
                        time.sleep(0.001)
                    wanted = ctypes.c_int(number)
                    arguments = (ctypes.c_uint64 * 10)(0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(wanted), 1)
                    process = ctypes.CDLL(None).syscall(435, arguments, ctypes.sizeof(arguments))
                    if process == 0:
                        print(os.getpid() == number, flush=True)
                        ask(connection)
                        os._exit(0)
                    os.waitpid(process, 0)
            child(first)
            os.close(writing)
            os.read(reading, 1)
            """
        let daemon = try daemon(programEntitlement(Self.python))
        let answers = try run(script, on: daemon)
        try #require(answers.count == 3, "\(answers)")
        #expect(isDone(answers[0]) && answers[1] == "True")
        #expect(isRefused(answers[2], "is gone"), "\(answers)")
    }
}
