import CofferTestSupport
import Foundation
import Testing

/// The content of the package, checked with the distribution's tools.
@Suite struct PackagingTests {
    private static let programs = "/usr/sbin:/usr/bin:/sbin:/bin"

    private func run(_ script: String, _ arguments: String...) throws -> CommandResult {
        try runCommand(
            "/bin/bash",
            ["-ec", script, "test"] + arguments,
            environment: ["PATH": Self.programs, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"],
            directory: Project.root
        )
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/man")))
    func `the manual is made from the programs, names every option, and renders without a warning`() throws {
        let directory = try TemporaryDirectory()
        let made = try run("packaging/tools/man \"$1\" \"$2\"", Project.binaries, directory.path)
        #expect(made.status == 0, "\(made.errors)")
        var pages: [String: String] = [:]
        for page in [
            "coffer.1", "cargo-credential-coffer.1", "docker-credential-coffer.1",
            "git-credential-coffer.1", "coffer-secret-service.1", "cofferd.8", "cofferd.conf.5",
        ] {
            let shown = try run("man --warnings --local-file \"$1\"", directory.appending(page))
            #expect(shown.status == 0 && shown.errors.isEmpty, "\(page): \(shown.errors)")
            pages[page] = shown.text
        }
        let help = try runCommand("\(Project.binaries)/cofferd", ["--help"]).text
        for option in help.matches(of: /\n  (--[a-z-]+)/) {
            #expect(pages["cofferd.8"]?.contains("\n       \(option.1)") == true, "\(option.1)")
        }
        #expect(pages["coffer-secret-service.1"]?.contains("\n       --socket PATH") == true)
        let settings = help.matches(of: /\b[A-Z][A-Za-z]+=/).map { String($0.0) }.filter { $0 != "NAME=" }
        #expect(settings.count == 19)
        for setting in settings + ["SmallBytes=", "Client=", "Class="] {
            #expect(pages["cofferd.conf.5"]?.contains("\n       \(setting)") == true, "\(setting)")
        }
        for page in ["cargo-credential-coffer.1", "docker-credential-coffer.1", "git-credential-coffer.1"] {
            #expect(pages[page]?.contains("\n       --group GROUP") == true, "\(page)")
        }
        for verb in ["put NAME [FILE]", "slot remove SLOT", "keychain add", "file truncate"] {
            #expect(pages["coffer.1"]?.contains("\n   \(verb)") == true, "\(verb)")
        }
        let examples = try #require(pages["coffer.1"]?.components(separatedBy: "\nEXAMPLES\n").last)
        for line in ["coffer put github.com/token", "mkdir ~/Vault && coffer mount ~/Vault"] {
            #expect(examples.contains("\n       \(line)\n"), "\(line)")
        }
        for page in ["coffer.1", "cofferd.8"] {
            let files = try #require(pages[page]?.components(separatedBy: "\nFILES\n").last)
            for path in ["/run/coffer/coffer.sock", "/var/lib/coffer", "/etc/coffer/cofferd.conf"] {
                #expect(files.contains("       \(path), $XDG_"), "\(page): \(path)")
            }
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell takes the completions, and they name the verbs`(shell: String) throws {
        let script = try runCommand("\(Project.binaries)/coffer", ["--generate-completion-script", shell])
        #expect(script.status == 0)
        for word in ["keychain", "passcode-fd", "completeUnlessOpen"] { #expect(script.text.contains(word), "\(word)") }
        guard FileManager.default.fileExists(atPath: "/usr/bin/\(shell)") else { return }
        let directory = try TemporaryDirectory()
        let path = try directory.write(script.output, to: "completions")
        let read = try run("\(shell) -n \"$1\"", path)
        #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
    }

    @Test(
        arguments: ["bash", "zsh", "fish"],
        [
            ("cargo-credential-coffer", "cargo-plugin"), ("docker-credential-coffer", "version"),
            ("git-credential-coffer", "erase"),
        ]
    )
    func `the links to coffer have completions of their own`(shell: String, link: (name: String, word: String)) throws {
        let directory = try TemporaryDirectory()
        let script = try runCommand(
            "/bin/bash",
            ["-c", "exec -a \(link.name) \(Project.binaries)/coffer --generate-completion-script \(shell)"],
            environment: [:]
        )
        #expect(script.status == 0 && script.text.contains(link.word) && script.text.contains(link.name), "\(script)")
        #expect(!script.text.contains("keychain"), "none of coffer's verbs")
        let read = try run("\(shell) -n \"$1\"", try directory.write(script.output, to: "completions"))
        #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
    }

    @Test func `nothing is known that speaks against the sandbox of the units`() throws {
        let security = try run(
            "systemd-analyze security --offline=yes --no-pager --threshold=15 packaging/systemd/cofferd.service"
        )
        #expect(security.status == 0, "\(security.text)")
    }

    /// The lines of a unit with settings, and those with comments.
    private func unit(_ name: String) throws -> (settings: [Substring], comments: [Substring]) {
        let text = try String(contentsOfFile: "\(Project.root)/packaging/systemd/\(name)", encoding: .utf8)
        let lines = text.split(separator: "\n")
        return (lines.filter { !$0.hasPrefix("#") && $0.contains("=") }, lines.filter { $0.hasPrefix("#") })
    }

    @Test func `mounts that are made later are out of the machine's daemon's view, and a user's unit says why not`()
        throws
    {
        #expect(try unit("cofferd.service").settings.contains("MountFlags=private"))
        let own = try unit("user/cofferd.service")
        // They need a user namespace, which machines may forbid.
        for setting in own.settings {
            let needsNamespace = ["MountFlags", "Private", "ProtectSystem", "ProtectHome", "ProtectKernel"]
            #expect(!needsNamespace.contains { setting.hasPrefix($0) }, "\(setting)")
        }
        #expect(own.comments.contains { $0.contains("MountFlags=: need a user namespace") })
    }

    @Test func `a backup that hangs ends after a day, and the timer makes the next one`() throws {
        let settings = try unit("user/coffer-backup.service").settings
        // A unit of this type may start forever, if it has no such setting.
        #expect(settings.contains("Type=oneshot"))
        let times = settings.filter { $0.hasPrefix("TimeoutStartSec=") }
        #expect(times == ["TimeoutStartSec=1d"])
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/sbin/apparmor_parser")))
    func `the AppArmor profile can be read, and is to be enforced`() throws {
        let read = try run("apparmor_parser --skip-kernel-load --skip-cache packaging/apparmor/usr.bin.cofferd")
        #expect(read.status == 0, "\(read.errors)")
        let text = try String(contentsOfFile: "\(Project.root)/packaging/apparmor/usr.bin.cofferd", encoding: .utf8)
        for mode in ["complain", "unconfined)", "/** rwx"] { #expect(!text.contains(mode)) }
    }

    @Test func `the module of PAM has the same bytes wherever it is built`() throws {
        let build = "mkdir \"$1\"; cp packaging/pam/* \"$1\"; cd \"$1\"; ./build module.so; sha256sum <module.so"
        let directory = try TemporaryDirectory()
        let built = try ["one", "another"].map { try run(build, directory.appending($0)) }
        #expect(built.allSatisfy { $0.status == 0 }, "\(built[0].errors)\(built[1].errors)")
        #expect(built[0].text == built[1].text)
    }

    @Test func `packaging/deb refuses what it does not know`() throws {
        #expect(try run("packaging/deb --nonsense").status == 64)
        #expect(try run("packaging/deb --output").status == 64)
        #expect(try run("packaging/deb --help").status == 0)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/lintian")))
    func `lintian finds nothing in the packages, and each program is in its own`() throws {
        let directory = try TemporaryDirectory()
        let command = "DPKG_DEB_COMPRESSOR_LEVEL=0 packaging/deb --programs \"$1\" --output \"$2\""
        let made = try run(command, Project.binaries, directory.path)
        #expect(made.status == 0, "\(made.errors)")
        let packages = made.text.split(separator: "\n").map { String($0) }
        #expect(packages.count == 4)
        // The programs under test find the libraries of Swift where it is installed; those that are released need none.
        let found = try run(
            "cd \"$1\"; lintian --allow-root --fail-on error,warning --suppress-tags custom-library-search-path *.deb",
            directory.path
        )
        #expect(found.status == 0 && found.text.isEmpty, "\(found.text)\(found.errors)")
        let files = [
            "coffer": [
                "/usr/bin/coffer", "/usr/share/bash-completion/completions/coffer",
                "/usr/share/zsh/vendor-completions/_coffer", "/usr/share/fish/vendor_completions.d/coffer.fish",
                "/usr/bin/cargo-credential-coffer -> coffer",
                "/usr/share/bash-completion/completions/cargo-credential-coffer",
                "/usr/share/zsh/vendor-completions/_git-credential-coffer",
                "/usr/share/fish/vendor_completions.d/docker-credential-coffer.fish",
                "/usr/share/man/man1/coffer.1.gz", "/usr/share/doc/coffer/CLI.md",
                "/usr/lib/systemd/user/coffer-mount.service", "/usr/lib/systemd/user/coffer-lock-state.service",
                "/usr/lib/systemd/system/coffer-lock-state.service", "/usr/lib/systemd/user/coffer-unlocked.target",
                "/usr/lib/systemd/system/coffer-first-unlock.target",
            ],
            "coffer-secret-service": [
                "/usr/bin/coffer-secret-service", "/usr/lib/systemd/user/coffer-secret-service.service",
                "/usr/share/man/man1/coffer-secret-service.1.gz", "/usr/share/xdg-desktop-portal/portals/coffer.portal",
                "/usr/share/dbus-1/services/org.freedesktop.impl.portal.desktop.coffer.service",
            ],
            "cofferd": [
                "/usr/bin/cofferd", "/usr/lib/systemd/system/cofferd.service", "/usr/lib/systemd/user/cofferd.socket",
                "/usr/lib/sysusers.d/coffer.conf", "/usr/lib/tmpfiles.d/coffer.conf",
                "/etc/coffer/entitlements.d/administrator.conf", "/etc/coffer/entitlements.d/sharing.conf",
                "/etc/coffer/entitlements.d/secret-service.conf",
                "/usr/share/doc/cofferd/examples/configuration-management.conf",
                "/usr/share/man/man8/cofferd.8.gz", "/usr/share/man/man5/cofferd.conf.5.gz",
                "/usr/share/apparmor/extra-profiles/usr.bin.cofferd",
            ],
            "libpam-coffer": [
                "/usr/share/pam-configs/coffer", "/usr/share/man/man8/pam_coffer.8.gz",
            ],
        ]
        for (package, paths) in files {
            let path = try #require(packages.first { $0.contains("/\(package)_") })
            let contents = try run("dpkg-deb --contents \"$1\"", path).text
            for path in paths { #expect(contents.contains(" .\(path)\n"), "\(path) in \(package)") }
            #expect(contents.contains("/security/pam_coffer.so\n") == (package == "libpam-coffer"))
            // That file is gnome-keyring's or KWallet's: a user's own is in its place.
            #expect(!contents.contains("/dbus-1/services/org.freedesktop.secrets.service"))
        }
    }
}
