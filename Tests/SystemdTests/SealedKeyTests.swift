import CofferTestSupport
import Testing

extension SystemdTests {
    /// The device key, sealed to a machine.
    @Suite struct SealedKeyTests {
        @Test func `a sealed key opens the vault without its plain file, and on no other machine`() throws {
            let machine = try #require(Machine.shared)
            let name = "coffer-sealed"
            let service = try Service(name, ["LoadCredentialEncrypted=device-key:\(name).device-key"])
            try service.makeVault()
            try service.put("open", "kept by the device key", "Always")
            func deviceKey(_ arguments: String...) throws -> CommandResult {
                let places = ["--state", "/var/lib/\(name)", "--sealed", "/etc/credstore.encrypted/\(name).device-key"]
                return try machine.run(["\(Machine.programs)/coffer", "device-key"] + arguments + places)
            }
            func hasPlainKey() throws -> Bool {
                try machine.run(["test", "-e", "/var/lib/\(name)/device.key"]).status == 0
            }
            let plain = try deviceKey("check", "--json")
            #expect(plain.text == "{\"plain\":true,\"sealed\":false}\n", "\(plain.errors)")
            let kept = try deviceKey("seal", "--keep")
            #expect(kept.text.hasPrefix("sealed to this machine's disk"), "\(kept.errors)")
            #expect(try hasPlainKey())
            let sealed = try deviceKey("seal")
            #expect(sealed.status == 0, "\(sealed.errors)")
            #expect(try !hasPlainKey())
            let checked = try deviceKey("check")
            #expect(checked.text == "sealed: it opens on this machine\n", "\(checked.errors)")
            #expect(try deviceKey("seal").status == 66)
            try service.control("restart", "\(name).service")
            let content = try service.get("open")
            #expect(content == "kept by the device key")
            // Another machine has another secret.
            let secret = "/var/lib/systemd/credential.secret"
            try machine.succeed(["mv", secret, secret + ".kept"])
            let moved = try deviceKey("check")
            #expect(moved.status == 65, "\(moved.text)")
            try machine.succeed(["mv", "--force", secret + ".kept", secret])
        }

        @Test func `a key sealed to the chip opens whatever the firmware is, and with another chip it does not`() throws
        {
            let machine = try Machine(firmware: "one")
            defer { machine.destroy() }
            try Machine.$shared.withValue(machine) {
                let name = "coffer-chip"
                let service = try Service(name, ["LoadCredentialEncrypted=device-key:\(name).device-key"])
                try service.makeVault()
                try service.put("open", "kept by the chip", "Always")
                let places = ["--state", "/var/lib/\(name)", "--sealed", "/etc/credstore.encrypted/\(name).device-key"]
                let seal = ["device-key", "seal", "--with-key", "tpm2"] + places
                let sealed = try machine.run(["\(Machine.programs)/coffer"] + seal)
                #expect(sealed.text.hasPrefix("sealed to this machine's chip\n"), "\(sealed.errors)")
                #expect(try machine.run(["test", "-e", "/var/lib/\(name)/device.key"]).status == 1)
                try machine.restart(firmware: "two")
                #expect(try service.get("open") == "kept by the chip")
                try machine.restart(firmware: "two", hasNewChip: true)
                let refused = try service.coffer("get", "open")
                #expect(refused.status != 0 && refused.text == "", "\(refused.text)")
                #expect(try !service.isActive)
                let checked = try machine.run(["\(Machine.programs)/coffer", "device-key", "check"] + places)
                #expect(checked.status == 65, "\(checked.text)")
            }
        }

        @Test func `the key of another vault is not overwritten, and what is no key is not sealed`() throws {
            let machine = try #require(Machine.shared)
            try machine.succeed([
                "sh", "-ec",
                "mkdir -p /root/one /root/two; printf %032d 1 > /root/one/device.key; printf %032d 2 > /root/two/device.key",
            ])
            func seal(_ state: String) throws -> CommandResult {
                try machine.run([
                    "\(Machine.programs)/coffer", "device-key", "seal", "--state", "/root/\(state)", "--sealed",
                    "/root/sealed", "--with-key", "host",
                ])
            }
            let first = try seal("one")
            #expect(first.status == 0, "\(first.errors)")
            let second = try seal("two")
            #expect(second.status == 73, "\(second.errors)")
            #expect(try machine.succeed(["cat", "/root/two/device.key"]).hasSuffix("2"))
            try machine.succeed(["sh", "-c", "echo short > /root/two/device.key; rm /root/sealed"])
            #expect(try seal("two").status == 65)
            #expect(try machine.run(["test", "-e", "/root/sealed"]).status == 1)
        }
    }
}
