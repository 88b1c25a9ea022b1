import CofferTestSupport
import Foundation
import Testing

extension SystemdTests {
    /// The packages of `packaging/deb`, as they are: installed, used in its sandbox, upgraded, removed and purged.
    @Suite struct PackageTests {
        private let machine: Machine
        private let service: Service

        init() throws {
            machine = try #require(Machine.shared)
            service = try Service(installedFor: nil)
        }

        /// Installs a version over what is there.
        private func install(_ version: String) throws { try Packages.install(version, on: machine) }

        /// Runs a command of the machine's shell.
        @discardableResult private func shell(_ script: String) throws -> String {
            try machine.succeed(["sh", "-ec", script])
        }

        @Test func `the README says how to install it, and no more than what is done here`() throws {
            let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
            let block = try #require(readme.components(separatedBy: "```sh\n").first { $0.contains("packaging/deb") })
            let lines = block.components(separatedBy: "```")[0].split(separator: "\n")
            let commands = lines.map { $0.split(separator: "#")[0].trimmingCharacters(in: .whitespaces) }
            #expect(
                commands == [
                    "packaging/deb", "sudo apt install ./*coffer*_amd64.deb", "coffer setup",
                ]
            )
        }

        /// The blocks of the README's part on services, in their order: its language, and its lines.
        private func serviceBlocks() throws -> [(language: String, lines: [String])] {
            let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
            let part = try #require(readme.components(separatedBy: "## For services\n").last)
                .components(separatedBy: "\n## ")[0].components(separatedBy: "```")
            return part.indices.filter { $0 % 2 == 1 }.map {
                let lines = part[$0].split(separator: "\n").map(String.init)
                return (lines[0], Array(lines.dropFirst()))
            }
        }

        @Test func `the README's part on services works from nothing, line by line, also after a restart`() throws {
            try install("0.1.0-2")
            let unit = "/etc/systemd/system/backup.service"
            for (language, lines) in try serviceBlocks() {
                if language == "ini" {
                    let path = try #require(lines.first?.split(separator: " ").last).description
                    try machine.write(lines.dropFirst().joined(separator: "\n") + "\n", to: path)
                    // The README takes it that there is one; before, this says how to write it.
                    let asked = try machine.run(["coffer", "unit", "backup.service"])
                    #expect(asked.status == 66 && asked.errors.contains(unit), "\(asked.errors)")
                    try machine.write(
                        "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'cat $RESTIC_PASSWORD_FILE >/run/given'\n",
                        to: unit
                    )
                    continue
                }
                for line in lines {
                    let command = line.split(separator: "#")[0].trimmingCharacters(in: .whitespaces)
                        .replacing("sudo ", with: "")
                    let result = try machine.run(["sh", "-c", "printf s3cret | \(command)"])
                    #expect(result.status == 0, "\(command): \(result.text)\(result.errors)")
                    if command.contains("init") {
                        #expect(!result.errors.contains("without the passcode"), "\(result.errors)")
                    }
                    if command.contains("put") {
                        #expect(result.errors.contains("there is no unit backup.service yet"), "\(result.errors)")
                    }
                }
            }
            #expect(try shell("cat /run/given; rm /run/given") == "s3cret")
            for unit in ["cofferd.service", "cofferd.socket"] { try machine.succeed(["systemctl", "restart", unit]) }
            try machine.succeed(["systemctl", "start", "backup.service"])
            #expect(try shell("cat /run/given") == "s3cret")
            try shell(
                """
                rm -r /etc/systemd/system/backup.service* /run/given /etc/credstore.encrypted/coffer.device-key
                systemctl daemon-reload
                """
            )
            try purge()
        }

        @Test func `installed, used, upgraded with an unlocked daemon, removed and purged`() throws {
            try install("0.1.0-2")
            #expect(try shell("systemctl is-active cofferd.socket") == "active")
            #expect(!(try service.isActive))
            #expect(try shell("stat --format '%U %a' /run/coffer /run/coffer/coffer.sock") == "root 755\nroot 666")
            try use(service)
            let process = try service.property("MainPID")

            try install("0.1.0-3")
            #expect(try shell("dpkg --status cofferd | grep ^Version") == "Version: 0.1.0-3")
            #expect(try service.property("MainPID") != process)
            #expect(try service.state() == "lockedExpired")
            #expect(try service.get("background") == "carried over")
            #expect(try service.get("bank/pin") == nil)

            try shell("apt-get remove --yes \(Packages.names)")
            #expect(try shell("ls /run/coffer; ls /var/lib/coffer | grep keybag") == "keybag")
            #expect(try machine.run(["systemctl", "is-active", "cofferd.socket"]).text == "inactive\n")
            let purged = try machine.run(["sh", "-c", "dpkg --purge \(Packages.names)"])
            #expect(purged.status == 0 && purged.errors.contains("the vault in /var/lib/coffer stays"))

            try install("0.1.0-3")
            #expect(try service.state() == "beforeFirstUnlock")
            try service.unlock()
            #expect(try service.get("bank/pin") == "1234")
            try purge()
            #expect(try machine.run(["test", "-e", "/var/lib/coffer"]).status == 1)
            #expect(try machine.run(["ls", "/usr/bin/cofferd", "/etc/coffer/entitlements.d"]).text == "")
        }

        @Test func `the one package that it was before is divided by an upgrade, and the daemon keeps its keys`() throws
        {
            try install("0.1.0")
            try service.makeVault()
            try service.put("background", "carried over", "AfterFirstUnlock")
            let process = try service.property("MainPID")

            try install("0.1.0-2")
            #expect(try service.property("MainPID") != process)
            #expect(try service.state() == "lockedExpired")
            #expect(try service.get("background") == "carried over")
            let owners = try shell(
                "dpkg --search bin/coffer bin/cofferd pam_coffer.so | cut -d: -f1 | sort -u | paste -sd' '"
            )
            #expect(owners == Packages.names)
            #expect(try shell("dpkg --audit; grep -c pam_coffer /etc/pam.d/common-auth") == "1")
            #expect(try shell("dpkg --verify \(Packages.names)") == "")
            try shell("apt-get remove --yes libpam-coffer")
            #expect(try machine.run(["grep", "pam_coffer", "/etc/pam.d/common-auth"]).status == 1)
            try purge()
        }

        /// The story of a vault, in the sandbox of the units.
        private func use(_ service: Service) throws {
            try service.makeVault()
            #expect(try service.property("StatusText") == "Unlocked.")
            try service.put("bank/pin", "1234", "WhenUnlocked")
            try service.put("background", "carried over", "AfterFirstUnlock")
            let script = """
                cd "$(mktemp -d)"
                head -c 30000000 /dev/urandom >large
                coffer put records/scan large --scenario health >/dev/null
                coffer get records/scan | cmp - large
                coffer get records/scan --output copy
                cmp copy large
                printf one | coffer file create notes/day --class completeUnlessOpen
                printf two | coffer file append notes/day
                coffer file read notes/day
                printf secret | coffer keychain add --service mail --account anna >/dev/null
                coffer keychain find --service mail --account anna
                coffer lock --now >/dev/null
                for item in bank/pin records/scan; do coffer get $item >/dev/null 2>&1 || echo $?; done
                coffer get background
                """
            let used = try service.run(["bash", "-ec", script])
            #expect(used.text == "onetwo" + "secret" + "75\n75\n" + "carried over", "\(used.text)\(used.errors)")
            try service.unlock()
            let named = try service.coffer("list")
            #expect(named.text.contains("records/scan\n"))
        }

        @Test func `another service is distinguished in the sandbox, and has what an entitlement grants`() throws {
            try install("0.1.0-2")
            try service.makeVault()
            try service.put("mine", "owner's", "WhenUnlocked")
            let file = "/etc/coffer/entitlements.d/reader.conf"
            func read(_ unit: String) throws -> CommandResult {
                try machine.run([
                    "systemd-run", "--unit=\(unit)", "--wait", "--pipe", "--collect", "--quiet", "coffer", "get",
                    "mine",
                ])
            }
            #expect(try read("reader.service").status == 66)
            try machine.write("[Client]\nUnit=reader.service\nGroups=default\nVerbs=read\n", to: file)
            try service.control("reload", "cofferd.service")
            #expect(try read("reader.service").text == "owner's")
            #expect(try read("other.service").status == 66)
            #expect(try machine.run(["coffer", "get", "mine"]).status == 77)
            try machine.succeed(["rm", file])
            try purge()
        }

        @Test func `root administers the machine's vault, stores for a service, and reads nothing`() throws {
            try install("0.1.0-2")
            func root(_ arguments: String..., input: String = "") throws -> CommandResult {
                try machine.run(["coffer"] + arguments, input: Array(input.utf8))
            }
            let made = try root("init", "--kdf", "interactive", "--passcode-fd", "0", input: DaemonProcess.passcode)
            #expect(made.status == 0, "\(made.errors)")
            let stored = try root("put", "restic/password", "--for", "backup", input: "s3cret")
            #expect(stored.status == 0, "\(stored.errors)")
            for allowed in [
                ["status"], ["slot", "list"], ["entitlement", "list"], ["access"], ["audit"], ["doctor"],
                ["lock", "--now"],
            ] {
                let answer = try machine.run(["coffer"] + allowed)
                #expect(answer.status == 0, "\(allowed): \(answer.errors)")
            }
            #expect(try root("unlock", "--passcode-fd", "0", input: DaemonProcess.passcode).status == 0)
            for refused in [
                ["get", "restic/password", "--group", "unit:backup.service"], ["keychain", "find"],
                ["grant", "restic/password", "--to", "uid:0", "--for", "1m", "--group", "unit:backup.service"],
                ["allow", "user", "root", "read", "--item", "**", "--group", "unit:backup.service"],
            ] {
                let answer = try machine.run(["coffer"] + refused)
                #expect(answer.status == 77, "\(refused): \(answer.text)\(answer.errors)")
            }
            // What it may do is done as an administrator would type it.
            let group = ["--group", "unit:backup.service"]
            for (verb, shown) in [
                (["list", "--all-groups"], "restic/password"), (["show", "restic/password"] + group, ""),
                (["explain", "restic/password"] + group, ""),
                (["move", "restic/password", "restic/new"] + group, ""), (["remove", "restic/new"] + group, ""),
                (["trash", "list"] + group, "restic/new"), (["trash", "restore", "restic"] + group, "restic/new"),
                (["move", "restic/new", "restic/password"] + group, ""),
                (["allow", "unit", "ci@*.service", "read", "--item", "restic/password"] + group, "rule"),
                (["deny", "unit", "ci@2.service", "read", "--item", "restic/password"] + group, "rule"),
                (["access"], "ci@"), (["audit", "--item", "restic/password"], "item.put"),
                (["search", "restic"] + group, "restic/password"),
                (["trash", "empty", "--yes"] + group, "destroyed 0"),
            ] {
                let answer = try machine.run(["coffer"] + verb)
                let isShown = shown.isEmpty || (answer.text + answer.errors).contains(shown)
                #expect(answer.status == 0 && isShown, "\(verb): \(answer)")
            }
            let read = try machine.run([
                "systemd-run", "--unit=backup.service", "--wait", "--pipe", "--collect", "--quiet", "coffer", "get",
                "restic/password",
            ])
            #expect(read.text == "s3cret")
            // A login session of root's own, as of su -l or ssh, has a service manager of root's: nothing of it is used.
            let login = ["XDG_RUNTIME_DIR=/run/user/0", "coffer"]
            try machine.succeed(["systemctl", "start", "user@0.service"])
            try machine.succeed(["env"] + login + ["status"])
            let inLogin = try machine.run(["env"] + login + ["list", "--all-groups"])
            #expect(inLogin.text.contains("restic/password"), "\(inLogin.text)\(inLogin.errors)")
            #expect(try shell("ls /run/user/0/coffer 2>/dev/null || true") == "")
            #expect(try shell("stat --format %U /var/lib/coffer") == "coffer")
            try machine.succeed(["systemctl", "stop", "user@0.service"])
            let own = try Service(installedFor: Machine.person)
            try own.control("enable", "--now", "cofferd.socket")
            let theirs = try root("status", "--socket", "/run/user/1000/coffer/coffer.sock")
            #expect(theirs.status == 77, "\(theirs.text)\(theirs.errors)")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            try purge()
        }

        @Test func `configuration management stores and replaces secrets by the example, and reads none`() throws {
            try install("0.1.0-2")
            let made = try machine.run(["coffer", "init", "--no-passcode", "--no-recovery-key"])
            #expect(made.status == 0, "\(made.errors)")
            func managed(_ unit: String, _ arguments: String...) throws -> CommandResult {
                try machine.run(
                    ["systemd-run", "--unit=\(unit)", "--wait", "--pipe", "--collect", "--quiet", "coffer"] + arguments,
                    input: Array("s3cret".utf8)
                )
            }
            #expect(try managed("puppet.service", "put", "dbpw", "--for", "web").status == 77)
            let folder = "/etc/coffer/entitlements.d"
            try shell("cp /usr/share/doc/cofferd/examples/configuration-management.conf \(folder)")
            try machine.succeed(["coffer", "entitlement", "check"])
            try machine.succeed(["systemctl", "reload", "cofferd.service"])
            for unit in ["puppet.service", "salt-minion.service", "cloud-final.service"] {
                let stored = try managed(unit, "put", "dbpw", "--for", "web")
                #expect(stored.status == 0, "\(unit): \(stored.errors)")
                #expect(try managed(unit, "get", "dbpw", "--group", "unit:web.service").status == 77)
            }
            #expect(try managed("other.service", "put", "dbpw", "--for", "web").status == 77)
            #expect(try managed("web.service", "get", "dbpw").text == "s3cret")
            try shell("rm \(folder)/configuration-management.conf")
            try purge()
        }

        @Test func `systemd finds nothing to say of the units, and their sandbox is as tight as it is meant`() throws {
            try install("0.1.0-2")
            for (manager, person) in [("system", nil), ("user", Machine.person)] {
                let own = [
                    "coffer-ssh-agent.socket", "coffer-ssh-agent.service", "coffer-mount.service",
                    "coffer-secret-service.service",
                ]
                let names =
                    [
                        "cofferd.socket", "cofferd-credentials.socket", "cofferd.service", "coffer-lock-state.service",
                        "coffer-unlocked.target", "coffer-first-unlock.target",
                    ] + (person == nil ? [] : own)
                let units = names.map { "/usr/lib/systemd/\(manager)/\($0)" }
                let found = try machine.run(
                    ["systemd-analyze", "verify", "--\(manager)", "--man=no"] + units,
                    as: person
                )
                #expect(found.status == 0)
                #expect(found.text + found.errors == "")
            }
            let exposure = try machine.run(
                ["systemd-analyze", "security", "--no-pager", "--threshold=15", "cofferd.service"]
            )
            #expect(exposure.status == 0, "\(exposure.text)")
            _ = try service.state()
            let process = try service.property("MainPID")
            let status = try shell("grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/\(process)/status")
            let isBare = status.split(separator: "\n").allSatisfy { line in
                line.hasPrefix("Cap") ? line.hasSuffix("0000000000000000") : line.hasSuffix("1") || line.hasSuffix("2")
            }
            #expect(isBare, "\(status)")
            try purge()
        }

        @Test func `a user has a vault of his own, in the sandbox of the user's units`() throws {
            try install("0.1.0-2")
            let own = try Service(installedFor: Machine.person)
            #expect(try own.control("is-enabled", "cofferd.socket") == "enabled")
            try own.control("enable", "--now", "cofferd.socket")
            try use(own)
            #expect(try shell("stat --format '%U %a' ~tester/.local/state/coffer") == "tester 700")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            try purge()
        }

        @Test func `one command has a user's sessions use the SSH agent, and one undoes that`() throws {
            try install("0.1.0-2")
            try machine.copy("/usr/bin/ssh-add", to: "/usr/local/bin/ssh-add")
            // Another test may have left the person's vault.
            try shell("rm -rf ~tester/.local/state/coffer")
            let own = try Service(installedFor: Machine.person)
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            func person(_ script: String) throws -> String {
                try machine.succeed(["bash", "-ec", script], as: Machine.person)
            }
            let key = try person("coffer keychain add --generate ed25519 --label mine | head -1")
            _ = try person(
                "coffer keychain update --reference \(key.prefix { $0 != "\n" }) --set-attribute format=openssh"
            )
            let here = try person(#"eval "$(coffer ssh-agent setup 2>/dev/null)"; echo $SSH_AUTH_SOCK; ssh-add -L"#)
            let path = "/run/user/1000/coffer/ssh-agent.sock"
            // The agent is a service, and has the person's keys by what setup has written, and nothing else.
            #expect(here.hasPrefix(path + "\nssh-ed25519 ") && here.hasSuffix(" mine"), "\(here)")
            let rights = try person("coffer entitlement explain user-unit:coffer-ssh-agent.service")
            #expect(rights.contains("class:") && rights.contains("key"), "\(rights)")
            #expect(try person("systemctl --user is-enabled coffer-ssh-agent.socket") == "enabled")
            let started = "systemd-run --user --pipe --wait --collect --quiet sh -c 'echo $SSH_AUTH_SOCK'"
            #expect(try person(started) == path)
            // As at a login: the manager reads the file then.
            #expect(
                try person(
                    "systemctl --user unset-environment SSH_AUTH_SOCK; systemctl --user daemon-reload; \(started)"
                ) == path
            )
            #expect(try person("coffer ssh-agent setup --remove 2>/dev/null") == "unset SSH_AUTH_SOCK;")
            #expect(try person("systemctl --user daemon-reload; \(started)") == "")
            #expect(
                try machine.run(["systemctl", "--user", "is-active", "coffer-ssh-agent.socket"], as: Machine.person)
                    .status != 0
            )
            let left = "ls ~/.config/environment.d ~/.config/coffer/entitlements.d | grep '[.]conf$' || true"
            #expect(try person(left) == "")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            try shell("rm -rf ~tester/.local/state/coffer")
            try purge()
        }

        @Test func `one command has a user's bus start the Secret Service of Coffer, and one has it stopped`() throws {
            try install("0.1.0-2")
            // Another test may have left the person's vault.
            try shell("rm -rf ~tester/.local/state/coffer")
            let own = try Service(installedFor: Machine.person)
            try own.control("daemon-reload")
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            func person(_ script: String) throws -> String {
                try machine.succeed(["bash", "-ec", script], as: Machine.person)
            }
            let bus = "busctl --user call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus"
            let enabled = try person("coffer secret-service enable")
            #expect(
                enabled.hasSuffix("\nsecrets: whoever asks first starts /usr/bin/coffer-secret-service, of Coffer"),
                "\(enabled)"
            )
            _ = try person("\(bus) StartServiceByName su org.freedesktop.secrets 0")
            let started = try person("coffer secret-service status; systemctl --user is-active coffer-secret-service")
            #expect(
                started.contains("\nsecrets: served by /usr/bin/coffer-secret-service, of Coffer, process ")
                    && started.hasSuffix("\nactive"),
                "\(started)"
            )
            let disabled = try person("coffer secret-service disable")
            #expect(disabled.hasSuffix("\nenabled: no\nsecrets: no program serves them"), "\(disabled)")
            #expect(try person("systemctl --user is-active coffer-secret-service || true") == "inactive")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            try shell("rm -rf ~tester/.local/state/coffer")
            try purge()
        }

        private func purge() throws { try Packages.purge(on: machine) }
    }
}
