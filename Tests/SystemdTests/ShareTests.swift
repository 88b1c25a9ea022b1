import CofferTestSupport
import Testing

extension SystemdTests {
    /// Sharing between two users of the machine, with the packages as they are.
    @Suite struct ShareTests {
        private let machine: Machine

        init() throws { machine = try #require(Machine.shared) }

        /// Runs `coffer` as a user who has just logged in.
        private func coffer(_ user: String, _ arguments: String..., input: String = "") throws -> CommandResult {
            let number = try machine.succeed(["id", "--user", user])
            let runtime = user == Machine.person ? ["XDG_RUNTIME_DIR=/run/user/\(number)"] : []
            return try machine.run(
                [
                    "setpriv", "--reuid=\(number)", "--regid=\(number)", "--init-groups", "--", "env",
                    "HOME=/home/\(user)",
                ]
                    + runtime + ["coffer"] + arguments,
                input: Array(input.utf8)
            )
        }

        @Test func `one user shares an item by the machine's vault, another reads it, until the first one ends that`()
            throws
        {
            try Packages.install("0.1.0-2", on: machine)
            let person = Machine.person
            try machine.succeed(["useradd", "--create-home", "omar"])
            let own = try Service(installedFor: person)
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            try own.put("wifi", "s3cret", "WhenUnlocked")
            try own.put("bank", "private", "WhenUnlocked")

            let refused = try coffer(person, "share", "wifi", "--with", "omar")
            let way = "sudo usermod -aG coffer-share \(person)"
            #expect(refused.status == 77 && refused.errors.contains(way), "\(refused.errors)")
            #expect(try coffer("omar", "get", "wifi", "--from", person).status == 77)
            try machine.succeed(way.split(separator: " ").dropFirst().map(String.init))
            let none = try coffer(person, "share", "wifi", "--with", "omar")
            #expect(none.status == 69 && none.errors.contains("sudo coffer init --machine"), "\(none.errors)")
            try machine.succeed(["coffer", "init", "--no-passcode", "--no-recovery-key"])

            let shared = try coffer(person, "share", "wifi", "--with", "omar")
            #expect(shared.text == "shared wifi with omar: it is in the machine's vault, too\n", "\(shared.errors)")
            #expect(shared.errors.contains("coffer get wifi --from \(person)"), "\(shared.errors)")
            #expect(try coffer(person, "share").text == "to  omar  wifi\n")
            #expect(try coffer("omar", "share").text == "from  \(person)  wifi\n")
            #expect(try coffer(person, "access").errors.contains("coffer share"))
            #expect(try coffer(person, "lock", "--now").status == 0)
            let read = try coffer("omar", "get", "wifi", "--from", person)
            #expect(read.text == "s3cret", "\(read.errors)")
            for words in [
                ["get", "bank", "--from", person], ["list", "--group", "user:1000"], ["lock", "--now"], ["access"],
                ["remove", "wifi", "--group", "user:1000"],
            ] { #expect(try machine.run(as: "omar", words).status == 77, "\(words)") }
            #expect(try machine.run(["coffer", "access"]).text.contains("user omar"))

            try own.unlock()
            try own.put("wifi", "changed", "WhenUnlocked")
            #expect(try coffer(person, "share", "wifi", "--with", "omar").status == 0)
            #expect(try coffer("omar", "get", "wifi", "--from", person).text == "changed")
            let given = try coffer(person, "grant", "wifi", "--to", "user:omar", "--for", "10m")
            #expect(given.status == 64 && given.errors.contains("coffer share NAME --with omar"), "\(given.errors)")

            let ended = try coffer(person, "share", "wifi", "--with", "omar", "--stop")
            #expect(ended.status == 0 && ended.errors.contains("omar can't read 'wifi' any more"), "\(ended.errors)")
            #expect(try coffer("omar", "get", "wifi", "--from", person).status == 77)
            #expect(try coffer(person, "share", "wifi", "--stop").status == 66)
            #expect(try coffer(person, "list", "--socket", "/run/coffer/coffer.sock").text == "")
            #expect(try coffer(person, "get", "wifi").text == "changed")

            try own.control("stop", "cofferd.socket", "cofferd.service")
            try machine.succeed(["gpasswd", "--delete", person, "coffer-share"])
            try machine.succeed(["userdel", "--remove", "omar"])
            try Packages.purge(on: machine)
        }
    }
}

extension Machine {
    /// Runs `coffer` as a user who has only the machine's vault.
    fileprivate func run(as user: String, _ arguments: [String]) throws -> CommandResult {
        try run(["setpriv", "--reuid=\(user)", "--regid=\(user)", "--init-groups", "--", "coffer"] + arguments)
    }
}
