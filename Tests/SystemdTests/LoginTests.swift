import CofferTestSupport
import CofferWire
import Testing

extension SystemdTests {
    /// What a real stack of PAM does with `pam_coffer.so`, and what becomes of the vault.
    @Suite struct LoginTests {
        /// A user who logs in, and has a vault at the usual socket.
        private struct Person {
            let machine: Machine
            let name: String
            let password = "the-passcode-of-the-tests"

            /// Makes an account, and puts the module in the machine's stacks.
            init(_ name: String) throws {
                self.name = name
                machine = try #require(Machine.shared)
                try machine.copy(try LoginTests.module(), to: "/usr/lib/x86_64-linux-gnu/security/pam_coffer.so")
                try machine.copy("\(Project.root)/packaging/pam/coffer", to: "/usr/share/pam-configs/coffer")
                try machine.succeed(["ln", "--symbolic", "--force", "\(Machine.programs)/coffer", "/usr/bin/coffer"])
                try machine.succeed(["env", "DEBIAN_FRONTEND=noninteractive", "pam-auth-update", "--package"])
                try machine.succeed(["useradd", "--create-home", "--shell", "/bin/sh", name])
                try setPassword(password)
                try giveUnits()
            }

            /// The units of the package, as the person's own.
            private func giveUnits() throws {
                let folder = "/home/\(name)/.config/systemd/user"
                try machine.succeed(["mkdir", "--parents", "\(folder)/sockets.target.wants"])
                for unit in ["cofferd.socket", "cofferd.service"] {
                    try machine.copy("\(Project.root)/packaging/systemd/user/\(unit)", to: "\(folder)/\(unit)")
                }
                try machine.succeed(["ln", "--symbolic", "../cofferd.socket", "\(folder)/sockets.target.wants"])
                let program = "s#/usr/bin/cofferd#\(Machine.programs)/cofferd#"
                try machine.succeed(["sed", "--in-place", program, "\(folder)/cofferd.service"])
                try machine.succeed(["chown", "--recursive", "\(name):", "/home/\(name)/.config"])
            }

            /// Sets the password without PAM, so that the module is not notified.
            func setPassword(_ password: String) throws {
                let line = Array("\(name):\(password)\n".utf8)
                let set = try machine.run(["chpasswd", "--crypt-method", "SHA512"], input: line)
                try #require(set.status == 0, "\(set.errors)")
            }

            /// Logs in from another account, and runs a command in the session.
            func logIn(_ password: String?, _ command: String, input: String = "") throws -> CommandResult {
                let user = Machine.serviceUser
                return try machine.run(
                    [
                        "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "su", "-l", name, "-c",
                        command,
                    ],
                    input: Array("\(password ?? self.password)\n\(input)".utf8)
                )
            }

            /// Logs in with the password that the account was made with.
            func logIn(_ command: String, input: String = "") throws -> CommandResult {
                try logIn(nil, command, input: input)
            }

            /// Changes the password as the person does, in a session.
            func changePassword(_ old: String, _ new: String) throws -> CommandResult {
                let answers = "\(old)\\n\(new)\\n\(new)\\n"
                return try logIn("printf '\(answers)' | passwd")
            }

            /// Ends the person's daemon, and all else that is the person's.
            func endAll() throws {
                let number = try machine.succeed(["id", "--user", name])
                try machine.succeed(["systemctl", "stop", "user@\(number).service"])
            }

            /// Makes the vault, before first unlock after the next login, and has the login unlock it if wanted.
            func makeVault(passcode: String? = nil, isEnabled: Bool = true) throws {
                let passcode = passcode ?? password
                let made = try logIn(
                    "printf %s '\(passcode)' | coffer init --kdf interactive --no-recovery-key --passcode-fd 0"
                        + (isEnabled ? " && printf %s '\(passcode)' | coffer login enable --passcode-fd 0" : "")
                )
                try #require(made.status == 0, "\(made.errors)")
                try endAll()
            }

            /// What a login finds: the vault's state and the number of wrong passcodes.
            func found(_ password: String? = nil) throws -> String {
                let status = try logIn(password, "coffer status --json")
                let object = try JSONValue(parsing: Array(status.text.utf8).span.bytes).objectValue
                let (state, count) = (object?["state"]?.stringValue, object?["failedAttempts"]?.integerValue)
                return "\(state ?? status.errors) \(count ?? 0)"
            }

            /// Whether the module writes something to the log.
            func isLogged(_ text: String) throws -> Bool {
                try machine.journal(["--grep=^pam_coffer"]) { $0.contains(text) }.contains(text)
            }
        }

        // MARK: Logins

        @Test func `a login goes on where there is no vault, and where none follows it`() throws {
            let person = try Person("logins")
            #expect(try person.found() == "noVault 0")
            try person.makeVault(isEnabled: false)
            #expect(try person.found() == "beforeFirstUnlock 0")
            let out = try person.logIn("not-the-password", "echo in")
            #expect(out.status == 1 && out.text.isEmpty)
        }

        @Test func `the first command starts a socket that is enabled and was not started, and says so`() throws {
            let person = try Person("begins")
            let stop = "systemctl --user stop cofferd.socket cofferd.service; coffer status --json"
            let forbidden = try person.logIn("\(stop) --no-start")
            #expect(forbidden.status == 69, "\(forbidden.text)\(forbidden.errors)")
            let first = try person.logIn(stop)
            #expect(first.status == 0 && first.text.contains(#""state":"noVault""#), "\(first.errors)")
            #expect(first.errors.contains("coffer: starting cofferd.socket of your service manager"))
            let disabled = try person.logIn("systemctl --user --quiet disable cofferd.socket; \(stop)")
            #expect(disabled.status == 69 && !disabled.errors.contains("starting"), "\(disabled.errors)")
        }

        @Test func `the password of the login unlocks the vault, and a wrong one does not get as far`() throws {
            let person = try Person("unlocks")
            try person.makeVault()
            let out = try person.logIn("not-the-password", "echo in")
            #expect(out.status == 1 && out.text.isEmpty)
            #expect(try person.found() == "unlocked 0")
            #expect(try person.logIn("coffer lock --now").status == 0)
            #expect(try person.found() == "unlocked 0", "the next login does")
            #expect(try person.logIn("coffer lock --now; coffer login disable").status == 0)
            #expect(try person.found() == "locked 0")
        }

        @Test func `a password that is not the passcode costs one guess, and is not tried again`() throws {
            let person = try Person("differs")
            try person.makeVault(passcode: "another-one")
            #expect(try person.found() == "beforeFirstUnlock 1")
            try person.setPassword("a-third-one")
            #expect(try person.found("a-third-one") == "beforeFirstUnlock 1")
            #expect(try person.isLogged("the vault stays locked, and the login does not unlock it any more"))
        }

        @Test func `a daemon that does not answer holds a login up for so long, and no longer`() throws {
            let person = try Person("hangs")
            try person.makeVault()
            let unit = "/home/\(person.name)/.config/systemd/user/cofferd.service"
            try person.machine.succeed(["sed", "--in-place", "s#^ExecStart=.*#ExecStart=/bin/sleep infinity#", unit])
            try person.machine.succeed(["sed", "-i", "s/pam_coffer.so/& timeout=2/", "/etc/pam.d/common-session"])
            defer { _ = try? person.machine.succeed(["sed", "-i", "s/ timeout=2//", "/etc/pam.d/common-session"]) }
            #expect(try person.logIn("echo in").text == "in\n")
            #expect(try person.isLogged("/usr/bin/coffer was not run, or not done in 2 s"))
            try person.endAll()
        }

        @Test func `a login goes on where there is no program, and no daemon to start`() throws {
            let person = try Person("lacks")
            try person.makeVault()
            try person.machine.succeed(["rm", "/usr/bin/coffer"])
            #expect(try person.logIn("echo in").text == "in\n")
            #expect(try person.isLogged("/usr/bin/coffer was not run"))
            try person.machine.succeed(["ln", "--symbolic", "\(Machine.programs)/coffer", "/usr/bin/coffer"])
            let stop = "systemctl --user disable --now cofferd.socket && systemctl --user stop cofferd.service"
            #expect(try person.logIn(stop).status == 0)
            #expect(try person.logIn("echo in").text == "in\n")
            #expect(try person.isLogged("can't reach the daemon"))
        }

        // MARK: Passwords

        @Test func `the passcode follows the password that its person changes`() throws {
            let person = try Person("changes")
            try person.makeVault()
            let next = "quite-another-one"
            let changed = try person.changePassword(person.password, next)
            #expect(changed.status == 0, "\(changed.errors)")
            try person.endAll()
            #expect(try person.found(next) == "unlocked 0")
        }

        @Test func `the passcode follows a password that has to be changed at login`() throws {
            let person = try Person("expires")
            try person.makeVault()
            try person.machine.succeed(["passwd", "--quiet", "--expire", person.name])
            let next = "quite-another-one"
            let changed = try person.logIn("echo in", input: "\(person.password)\n\(next)\n\(next)\n")
            #expect(changed.text.contains("in\n"), "\(changed.errors)")
            try person.endAll()
            #expect(try person.found(next) == "unlocked 0")
        }

        @Test func `an administrator who sets a password leaves the vault unchanged, and is notified`() throws {
            let person = try Person("resets")
            try person.makeVault()
            let next = "quite-another-one"
            let set = try person.machine.run(["passwd", person.name], input: Array("\(next)\n\(next)\n".utf8))
            #expect(set.status == 0)
            let told = set.text + set.errors
            #expect(told.contains("the vault keeps its passcode, and the login does not unlock it any more"), "\(told)")
            #expect(try person.found(next) == "beforeFirstUnlock 0")
            let unlocked = try person.logIn(next, "printf %s \(person.password) | coffer unlock --passcode-fd 0")
            #expect(unlocked.text == "unlocked\n")
        }

        @Test func `nothing of a password gets into a log`() throws {
            let machine = try #require(Machine.shared)
            let person = try Person("logs")
            try person.makeVault()
            #expect(try person.found() == "unlocked 0")
            // The command lines of this test have it, and the journal has those.
            let programs = ["su", "cofferd", "coffer", "passwd"].flatMap { ["_COMM=\($0)", "+"] }.dropLast()
            let all = try machine.journal(Array(programs)) { $0.contains("pam_unix") }
            #expect(all.contains("pam_unix"))
            #expect(!all.contains(person.password))
        }

        /// Builds the module.
        private static func module() throws -> String {
            let path = Project.binaries + "/pam_coffer.so"
            let built = try runCommand("\(Project.root)/packaging/pam/build", [path])
            try #require(built.status == 0, "\(built.errors)")
            return path
        }
    }
}
