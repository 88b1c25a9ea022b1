import CofferTestSupport
import Foundation
import Testing

extension SystemdTests {
    /// Credentials that units load from the daemon.
    @Suite struct CredentialsTests {
        /// A daemon of the system, or of the person, with a socket for credentials beside the one for clients.
        private struct Provider {
            let service: Service
            let machine: Machine
            let person: String?

            init(_ name: String, of person: String? = nil, options: [String] = [], _ settings: [String] = []) throws {
                self.person = person
                machine = try #require(Machine.shared)
                let folder = person == nil ? "/etc/systemd/system" : "/etc/systemd/user"
                try machine.write(
                    """
                    [Socket]
                    ListenStream=\(person == nil ? "/run" : "%t")/\(name)-credentials.sock
                    FileDescriptorName=credentials
                    Service=\(name).service
                    SocketMode=0600
                    \(person == nil ? "SocketUser=\(Machine.serviceUser)" : "")

                    """,
                    to: "\(folder)/\(name)-credentials.socket"
                )
                service = try Service(
                    name,
                    of: person,
                    options: options,
                    ["ExecReload=/bin/kill -HUP $MAINPID"] + settings
                )
                try service.control("start", "\(name)-credentials.socket")
                try service.makeVault()
            }

            var socketPath: String { "\(person == nil ? "/run" : "/run/user/1000")/\(service.name)-credentials.sock" }

            /// Runs a command in a unit of the manager that the daemon has.
            func run(
                _ command: [String],
                in unit: String,
                _ properties: [String] = [],
                input: String = ""
            ) throws -> CommandResult {
                let manager = person == nil ? [] : ["--user"]
                let clients = person == nil ? "/run/\(service.name).sock" : "/run/user/1000/\(service.name).sock"
                let options = ["--unit=\(unit)", "--pipe", "--wait", "--collect", "--quiet"]
                return try machine.run(
                    ["systemd-run"] + manager + options + properties.map { "--property=\($0)" }
                        + ["--setenv=COFFER_SOCKET=\(clients)", "--"] + command,
                    as: person,
                    input: Array(input.utf8)
                )
            }

            /// Has a unit store something as its own.
            func put(_ name: String, _ content: String, in unit: String, _ wishes: String...) throws {
                let command = ["\(Machine.programs)/coffer", "put", name, "--allow-empty"]
                let stored = try run(command + wishes, in: unit, input: content)
                try #require(stored.status == 0, "\(stored.errors)")
            }

            /// Starts a unit that loads a credential, and prints it; `nil` where the unit does not start.
            func load(_ id: String, in unit: String, _ properties: String...) throws -> String? {
                let result = try run(
                    ["/bin/sh", "-c", "cat $CREDENTIALS_DIRECTORY/\(id)"],
                    in: unit,
                    ["LoadCredential=\(id):\(socketPath)"] + properties
                )
                if result.status == 0 { return result.text }
                #expect(result.status == Self.credentialsStatus, "\(result.errors)")
                return nil
            }

            /// The exit status of a unit whose credentials could not be had.
            private static let credentialsStatus: Int32 = 243

            /// What the audit says of a unit's credentials, without the groups.
            func records(of unit: String) throws -> String {
                try service.coffer("audit", "--unit", unit).text.replacing(#/ in '[^']*'/#, with: "")
            }
        }

        @Test(arguments: [nil, Machine.person])
        func `a unit gets what its class lets it have in each state`(person: String?) throws {
            let provider = try Provider(person == nil ? "coffer-out" : "coffer-out-user", of: person)
            let items = [
                ("ak", ["--accessible", "WhenUnlocked"]), ("ck", ["--accessible", "AfterFirstUnlock"]),
                ("dk", ["--accessible", "Always"]), ("a", ["--kind", "document", "--protection", "complete"]),
                ("c", ["--kind", "document", "--protection", "completeUntilFirstUserAuthentication"]),
                ("d", ["--kind", "document", "--protection", "none"]),
            ]
            for (name, wishes) in items {
                let arguments = ["\(Machine.programs)/coffer", "put", "web/\(name)"] + wishes
                let stored = try provider.run(arguments, in: "web.service", input: "content of \(name)")
                try #require(stored.status == 0, "\(stored.errors)")
            }
            func loaded() throws -> [String] {
                try items.map(\.0).filter { name in
                    let content = try provider.load("web--\(name)", in: "web.service")
                    #expect(content == nil || content == "content of \(name)")
                    return content != nil
                }
            }
            #expect(try loaded() == ["ak", "ck", "dk", "a", "c", "d"])
            #expect(try provider.load("web--ck", in: "other.service") == nil)
            let locked = try provider.service.coffer("lock", "--now")
            #expect(locked.status == 0)
            #expect(try loaded() == ["ck", "dk", "c", "d"])
            try provider.service.control("restart", "\(provider.service.name).service")
            #expect(try loaded() == ["dk", "d"])
            try provider.service.unlock()
            let records = try provider.records(of: "web.service")
            #expect(records.contains("item.get 'web/ck' refused: credential 'web--ck'"), "\(records)")
            #expect(records.contains("item.get 'web/dk': credential 'web--dk'"), "\(records)")
        }

        @Test func `a program that knows only the environment gets a secret of its unit by run`() throws {
            let provider = try Provider("coffer-running")
            try provider.put("service/token", "of the unit", in: "app.service")
            let command = [
                "\(Machine.programs)/coffer", "run", "--env", "TOKEN=service/token", "--", "/bin/sh", "-c",
                "printf %s \"$TOKEN\"; ps -o comm= $PPID",
            ]
            let ran = try provider.run(command, in: "app.service")
            #expect(ran.text == "of the unitsystemd\n", "\(ran.errors)")
            #expect(try provider.run(command, in: "other.service").status == 66)
        }

        @Test func `a unit that is started before the first unlock gets its credential with that`() throws {
            let provider = try Provider("coffer-waiting", options: ["--credential-wait", "600"])
            try provider.put("token", "worth waiting", in: "web.service", "--accessible", "AfterFirstUnlock")
            try provider.service.control("restart", "coffer-waiting.service")
            let loading = Background { try provider.load("token", in: "web.service") }
            var state = "inactive\n"
            for _ in 0..<100 where state == "inactive\n" {
                state = try provider.machine.run(["systemctl", "is-active", "web.service"]).text
                usleep(50_000)
            }
            try provider.service.unlock()
            #expect(try loading.wait() == "worth waiting")
            let records = try provider.records(of: "web.service")
            #expect(!records.contains("refused"), "\(records)")
        }

        @Test func `a unit does not start if the vault is not unlocked in time, and the journal says why`() throws {
            let provider = try Provider("coffer-waited", options: ["--credential-wait", "1"])
            try provider.put("token", "never seen", in: "web.service", "--accessible", "AfterFirstUnlock")
            try provider.service.control("restart", "coffer-waited.service")
            #expect(try provider.load("token", in: "web.service") == nil)
            // The unit does not see the report.
            let fields = ["COFFER_UNIT=web.service", "COFFER_RESULT=interactionNotAllowed"]
            let journal = try provider.machine.journal(fields) { !$0.isEmpty }
            #expect(journal.contains(#/unit:web.service item.get '[0-9a-f]{16}': refused: interactionNotAllowed/#))
            #expect(!journal.contains("token"), "\(journal)")
        }

        @Test func `a daemon that is stopped leaves no waiting unit with an empty credential`() throws {
            let provider = try Provider("coffer-leaving", options: ["--credential-wait", "600"])
            try provider.put("token", "x", in: "web.service", "--accessible", "AfterFirstUnlock")
            try provider.service.control("restart", "coffer-leaving.service")
            let starting = try provider.machine.run([
                "systemd-run", "--unit=web.service", "--property=LoadCredential=token:\(provider.socketPath)",
                "/bin/touch", "/run/started-without",
            ])
            #expect(starting.status == 0, "\(starting.errors)")
            // The units' sockets would start it again.
            try provider.service.control("stop", "coffer-leaving.socket", "coffer-leaving-credentials.socket")
            try provider.service.control("stop", "coffer-leaving.service")
            var state = ""
            for _ in 0..<100 where !state.contains("failed") {
                state = try provider.machine.run(["systemctl", "is-failed", "web.service"]).text
                usleep(50_000)
            }
            #expect(state == "failed\n")
            #expect(try provider.machine.run(["test", "-e", "/run/started-without"]).status == 1)
            try provider.machine.succeed(["systemctl", "reset-failed", "web.service"])
        }

        @Test(arguments: [[], ["--kill-who=main"]])
        func `nor does a daemon that is killed, if it is started again`(whom: [String]) throws {
            let name = whom.isEmpty ? "coffer-killed-all" : "coffer-killed-main"
            let provider = try Provider(
                name,
                options: ["--credential-wait", "600", "--no-carry-over"],
                ["Restart=on-failure", "FileDescriptorStoreMax=512"]
            )
            try provider.put("token", "x", in: "web.service", "--accessible", "AfterFirstUnlock")
            try provider.service.control("restart", "\(name).service")
            let starting = try provider.machine.run([
                "systemd-run", "--unit=web.service", "--property=LoadCredential=token:\(provider.socketPath)",
                "/bin/touch", "/run/started-without",
            ])
            #expect(starting.status == 0, "\(starting.errors)")
            #expect(try provider.service.comes { try provider.service.property("NFileDescriptorStore") == "1" })
            let first = try provider.service.property("MainPID")
            let kill = ["systemctl", "kill", "--signal=KILL"] + whom + ["\(name).service"]
            try provider.machine.succeed(kill)
            var state = ""
            for _ in 0..<100 where !state.contains("failed") {
                state = try provider.machine.run(["systemctl", "is-failed", "web.service"]).text
                usleep(50_000)
            }
            #expect(state == "failed\n")
            #expect(try provider.machine.run(["test", "-e", "/run/started-without"]).status == 1)
            let status = ["systemctl", "show", "--value", "--property=ExecMainStatus", "web.service"]
            #expect(try provider.machine.succeed(status) == "243")
            try provider.machine.succeed(["systemctl", "reset-failed", "web.service"])
            // The next daemon has nothing left of it, and serves.
            #expect(try provider.service.property("MainPID") != first)
            #expect(try provider.service.comes { try provider.service.property("NFileDescriptorStore") == "0" })
            try provider.service.unlock()
            #expect(try provider.load("token", in: "web.service") == "x")
            #expect(try provider.service.comes { try provider.service.property("NFileDescriptorStore") == "0" })
        }

        @Test func `what is missing, forbidden or too large fails the start, and the most there may be does not`()
            throws
        {
            let provider = try Provider("coffer-refusing", options: ["--entitlements", "/etc/coffer-refusing"])
            let name = "big"
            let most = (1 << 20) - name.utf8.count
            #expect(try provider.load("missing", in: "web.service") == nil)
            #expect(try provider.load("a---b", in: "web.service") == nil)
            try provider.service.put("shared", "lent", "Always")
            let lent = try provider.service.coffer("grant", "shared", "--to", "unit:lease.service", "--for", "1h")
            #expect(lent.status == 0, "\(lent.errors)")
            #expect(try provider.load("shared", in: "lease.service") == "lent")
            for (count, isLoaded) in [(most, true), (most + 1, false), (1 << 22, false)] {
                let content = String(repeating: "x", count: count)
                try provider.put(name, content, in: "web.service", "--kind", "document", "--protection", "none")
                let loaded = try provider.load(name, in: "web.service")
                #expect(loaded?.utf8.count == (isLoaded ? count : nil), "\(count)")
            }
            try provider.put("nothing", "", in: "web.service", "--kind", "document", "--protection", "none")
            #expect(try provider.load("nothing", in: "web.service") == "")
            try provider.machine.write("[Client]\nUnit=web.service\nVerbs=\n", to: "/etc/coffer-refusing/web.conf")
            try provider.service.control("reload", "coffer-refusing.service")
            // Nor does a rule help.
            try provider.service.put("lent", "x", "Always")
            let granted = try provider.service.coffer("grant", "lent", "--to", "unit:web.service", "--for", "1h")
            #expect(granted.status == 0, "\(granted.errors)")
            #expect(try provider.load("lent", in: "web.service") == nil)
            #expect(try provider.load("lent", in: "other.service") == nil)
            #expect(try provider.load("nothing", in: "web.service") == nil)
            let records = try provider.records(of: "web.service")
            for line in [
                "item.get 'missing' refused: ", "item.get 'a/-b' refused: ", "credential 'nothing', which is empty",
                "item.get 'big' refused: credential 'big'; a service manager takes \(most) bytes",
                "item.get 'nothing' refused: credential 'nothing'; the entitlements of this vault refuse you",
            ] {
                #expect(records.contains(line), "\(line): \(records)")
            }
        }

        @Test(arguments: [nil, Machine.person])
        func `coffer unit tells locked, missing and denied apart`(person: String?) throws {
            let provider = try Provider(person == nil ? "coffer-shown" : "coffer-shown-user", of: person)
            let (machine, path) = (provider.machine, provider.socketPath)
            try provider.put("web/token", "x", in: "told.service", "--accessible", "AfterFirstUnlock")
            let folder = person == nil ? "/etc/systemd/system" : "/etc/systemd/user"
            try machine.write(
                """
                [Service]
                LoadCredential=web--token:\(path)
                LoadCredential=missing:\(path)
                LoadCredential=other:/etc/hostname
                ExecStart=/bin/true

                """,
                to: "\(folder)/told.service"
            )
            try provider.service.control("daemon-reload")
            func told(_ unit: String = "told.service", _ format: String = "--json") throws -> CommandResult {
                let verb = person == nil ? ["unit", unit] : ["unit", unit, "--user"]
                return try provider.service.run(
                    ["\(Machine.programs)/coffer"] + verb + ["--credential-socket", path, format]
                )
            }
            let group = person == nil ? "unit:told.service" : "user-unit:told.service"
            let open = try told()
            let lines = open.text.split(separator: "\n").map(String.init)
            try #require(lines.count == 2, "\(open.errors)")
            #expect(lines[0].contains(#""name":"missing","refusal":{"code":"itemNotFound""#), "\(lines)")
            #expect(lines[1].contains(#""name":"web/token","protection":"AfterFirstUnlock""#), "\(lines)")
            #expect(lines[1].contains(#""id":"web--token","group":"\#(group)""#), "\(lines)")
            #expect(!lines[1].contains("refusal"))
            #expect(open.status == 66)
            let words = try told("told.service", "--timeout=9").text
            #expect(words.contains("only:  after 'coffer unlock': once after each start of the machine"), "\(words)")
            try provider.service.control("restart", "\(provider.service.name).service")
            #expect(try told().text.contains(#""refusal":{"code":"interactionNotAllowed""#))
            #expect(try told("nobody.service").status == 66)
            try machine.succeed(["rm", "\(folder)/told.service"])
            try provider.service.control("daemon-reload")
        }

        @Test func `a process that pretends to be the service manager gets nothing, and is recorded`() throws {
            let provider = try Provider("coffer-pretended")
            try provider.put("token", "well kept", in: "web.service", "--accessible", "Always")
            // Root in another unit, the daemon's user, and a process without an address.
            let claim = #"bind(S, pack("S a*", AF_UNIX, "\x{0}1f/unit/web.service/token"));"#
            for (user, bound) in [("root", claim), (Machine.serviceUser, claim), ("root", "")] {
                let answer = try provider.run(
                    ["/usr/bin/perl", "-e", Self.connecting(after: bound) + "print <S>", provider.socketPath],
                    in: "fake.service",
                    ["User=\(user)"]
                )
                #expect(answer.text.hasPrefix("cofferd has refused"), "\(user): \(answer.errors)")
                #expect(!answer.text.contains("well kept"))
            }
            let records = try provider.records(of: "fake.service")
            #expect(
                records.contains("connect refused: it is not the service manager that starts 'web.service'"),
                "\(records)"
            )
            #expect(records.contains("connect refused: it asks for no credential of a unit"), "\(records)")
            #expect(try provider.load("token", in: "web.service") == "well kept")
        }

        @Test func `many units are served concurrently, beside one that never reads`() throws {
            let provider = try Provider("coffer-many")
            let units = (1...8).map { "many@\($0).service" }
            let content = String(repeating: "x", count: 1 << 19)
            for unit in units { try provider.put("doc", content, in: unit, "--kind", "database") }
            let claim = #"bind(S, pack("S a*", AF_UNIX, "\x{0}1f/unit/many@1.service/doc"));"#
            try provider.machine.succeed([
                "systemd-run", "--unit=many@1.service", "/usr/bin/perl", "-e",
                Self.connecting(after: claim) + "sleep 600", provider.socketPath,
            ])
            try provider.machine.write(
                """
                [Service]
                Type=oneshot
                LoadCredential=doc:\(provider.socketPath)
                ExecStart=/bin/sh -c 'test $(wc -c < "$CREDENTIALS_DIRECTORY/doc") = \(content.utf8.count)'

                """,
                to: "/etc/systemd/system/many@.service"
            )
            try provider.machine.succeed(["systemctl", "daemon-reload"])
            try provider.machine.succeed(["systemctl", "start"] + units.dropFirst())
            try provider.machine.succeed(["systemctl", "stop", "many@1.service"])
        }

        /// A program of Perl that connects to the socket named.
        private static func connecting(after preparation: String) -> String {
            """
            use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); \(preparation) \
            connect(S, pack_sockaddr_un($ARGV[0])) or die;
            """ + " "
        }
    }
}
