import CofferTestSupport
import Testing

extension SystemdTests {
    /// The device key as a credential of the service manager.
    @Suite struct DeviceKeyTests {
        private static let own = "LoadCredential=device-key:/etc/coffer/own"
        private static let other = "LoadCredential=device-key:/etc/coffer/other"

        @Test func `with a credential no device key is in the state directory, and without it nothing opens`() throws {
            let machine = try #require(Machine.shared)
            try machine.write("0123456789abcdef0123456789abcdef", to: "/etc/coffer/own")
            try machine.write("0123456789abcdef0123456789abcdeX", to: "/etc/coffer/other")
            let service = try Service("coffer-credential", [Self.own])
            try service.makeVault()
            try service.put("token", "well kept", "AfterFirstUnlock")
            try service.put("open", "kept by the device key", "Always")
            let files = try machine.succeed(["ls", "/var/lib/coffer-credential"]).split(separator: "\n")
            #expect(files.contains("keybag"))
            #expect(!files.contains("device.key"))

            try service.control("restart", "coffer-credential.service")
            try service.unlock()
            let secret = try service.get("token")
            #expect(secret == "well kept")

            for settings in [[], [Self.other]] {
                try service.write(options: [], settings)
                try service.control("restart", "coffer-credential.service")
                let state = try service.state()
                #expect(state == "deviceKeyMissing", "\(settings)")
                let answers = try [
                    service.coffer("get", "open"), service.coffer("unlock", "--passcode-fd", "0", input: "x"),
                ]
                let statuses = answers.map(\.status)
                #expect(statuses == [69, 69], "\(answers.map(\.errors))")
            }
            try service.write(options: [], [Self.own])
            try service.control("restart", "coffer-credential.service")
            try service.unlock()
            let secretAgain = try service.get("token")
            #expect(secretAgain == "well kept")
        }
    }
}
