import CofferTestSupport
import Foundation
import Testing

/// cargo, pip, uv and npm, as `proto-docs/PROGRAMS.md` has them, with a registry on this machine that wants a secret.
@Suite struct PackageRegistryTests {
    private let scene: CredentialScene

    init() throws {
        scene = try CredentialScene(preamble: "set -e\n" + LocalServer.preamble)
        try scene.write(LocalServer.script, to: "server.py")
        try scene.write(randomText(24) + "\n", to: "needle")
    }

    private func run(_ script: String, _ program: InstalledProgram? = nil) throws -> CommandResult {
        try scene.run(script, program?.environment(after: scene.links) ?? [:])
    }

    // MARK: cargo

    /// Makes the configuration of the page, for a registry here.
    private func configuration(_ block: Int) throws -> String {
        """
        mkdir -p .cargo; cat >.cargo/config.toml <<'END'
        \(try Recipe.block(block, of: "cargo"))
        END
        printf '[registries.local]\\nindex = "sparse+http://127.0.0.1:%s/index/"\\n' $port >>.cargo/config.toml
        yank() { cargo yank --quiet --registry local --version 1.0.0 thing; }

        """
    }

    private static let cargo: Comment = "there is no cargo that knows credential providers: 1.74 or later"
    private static let hasProviders = InstalledProgram.cargo.can(
        "cargo --version | grep -qE ' 1[.](7[4-9]|[89][0-9]|[1-9][0-9]{2})[.]'"
    )

    @Test(.enabled(if: hasProviders, cargo))
    func `cargo logs in, uses the token and logs out, and no file of cargo has the token`() throws {
        let all = try run(
            """
            \(try configuration(1))
            yank 2>/dev/null || echo without
            cargo login --quiet --registry local <needle 2>/dev/null; rm log
            yank && sort -u log; coffer list
            grep -rlF "$(cat needle)" .cargo || echo nowhere
            coffer lock --now >/dev/null; yank 2>&1 | grep -o 'the vault is locked' | head -1
            printf '\(DaemonProcess.passcode)' | coffer unlock --passcode-fd 0; yank && echo again
            cargo logout --quiet --registry local; coffer list; yank 2>/dev/null || echo without
            """,
            .cargo
        )
        let used = "DELETE right\nGET none\nGET right\nlogin:local@127.0.0.1\nnowhere\n"
        #expect(
            all.text == "without\n\(used)the vault is locked\nunlocked\nagain\nwithout\n",
            "\(all)"
        )
    }

    @Test(.enabled(if: hasProviders, cargo))
    func `cargo takes a token from an item that a person has stored`() throws {
        let all = try run("coffer put cargo/crates.io <needle\n\(try configuration(2))\nyank && sort -u log", .cargo)
        #expect(all.text.hasSuffix("DELETE right\nGET none\nGET right\n"), "\(all)")
    }

    // MARK: pip, uv

    private static let quietly =
        "export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1"

    /// A line of the page, with this index, and what it has installed.
    private func installing(_ line: String, from host: String = "127.0.0.1") -> String {
        let own = line.replacing("pypi.example.org", with: "\(host):$port").replacing("https://", with: "http://")
        return """
            \(Self.quietly); rm -rf there; \(own) --quiet --no-deps --target there
            PYTHONPATH=there python3 -c 'import thing'; grep -o right log | sort -u
            """
    }

    @Test(arguments: ["pip", "uv"].filter { $0 == "pip" || InstalledProgram.uv.isInstalled })
    func `pip and uv read a netrc from memory`(program: String) throws {
        let lines = try Recipe.block(of: "pip and uv").split(separator: "\n").map(String.init)
        let line = try #require(lines.first { $0.contains("-- \(program) ") })
        let all = try run(
            "echo \"machine 127.0.0.1 login nina password $(cat needle)\" | coffer put pypi/netrc\n\(installing(line))",
            program == "uv" ? .uv : nil
        )
        #expect(all.text.hasSuffix("it works\nright\n"), "\(all)")
    }

    private static let askingKeyring = ["pip", "uv"].filter { program in
        program == "uv"
            ? InstalledProgram.uv.isInstalled
            : InstalledProgram.pip.can("pip install --help | grep -q keyring-provider")
    }

    @Test(.enabled(if: !askingKeyring.isEmpty, "there is neither uv nor pip 23.1 or later"), arguments: askingKeyring)
    func `pip and uv ask a program of the name keyring`(program: String) throws {
        let lines = try Recipe.block(3, of: "pip and uv").split(separator: "\n").map(String.init)
        let line = try #require(lines.first { $0.hasPrefix("\(program) ") })
        let all = try run(
            """
            cat >bin/keyring <<'END'
            \(try Recipe.block(2, of: "pip and uv"))
            END
            chmod +x bin/keyring; coffer login add 127.0.0.1:$port/nina --username nina <needle
            \(installing(line))
            """,
            program == "uv" ? .uv : .pip
        )
        #expect(all.text.hasSuffix("it works\nright\n"), "\(all)")
    }

    // MARK: npm

    @Test(.enabled(if: InstalledProgram.npm.isInstalled, "npm is not installed"))
    func `npm publishes with a token that is in no file`() throws {
        let line = try Recipe.block(of: "npm").replacing("registry.npmjs.org", with: "127.0.0.1:$port")
        let all = try run(
            """
            coffer put npm/token <needle; mkdir package; cd package; echo '{"name": "thing", "version": "1.0.0"}' >package.json
            printf '%s\\nregistry=http://127.0.0.1:%s/\\n' '\(line.replacing("$port", with: "'$port'").trimmingCharacters(in: .newlines))' $port >.npmrc
            \(try Recipe.block(2, of: "npm")) >/dev/null 2>&1; grep -c 'PUT right' ../log; grep -rlF "$(cat ../needle)" . ~/.npm || echo nowhere
            """,
            .npm
        )
        #expect(all.text.hasSuffix("1\nnowhere\n"), "\(all)")
    }
}
