import CofferTestSupport
import Testing

extension SystemdTests {
    /// The administrator's settings: for units, and reloaded without a restart.
    @Suite struct ConfigurationTests {
        /// Has a unit of the system's manager store a secret, and says what became of it.
        private func put(_ name: String, by unit: String, _ service: Service) throws -> String {
            let put = try service.coffer("put", name, "/etc/hostname", "--json", in: unit)
            try #require(put.status == 0, "\(put.errors)")
            return put.text
        }

        @Test func `a unit has its defaults, a reload takes new ones, and a wrong file none`() throws {
            let machine = try #require(Machine.shared)
            let path = "/etc/coffer/cofferd.conf"
            try machine.write("[Default]\nClient=unit:backup.service\nAccessible=Always\n", to: path)
            // What the machine has is found without being named.
            let service = try Service("coffer-units", ["ExecReload=/bin/kill -HUP $MAINPID"])
            try service.makeVault()
            #expect(try put("a", by: "backup.service", service).contains(#""accessible":"Always""#))
            #expect(try put("b", by: "other.service", service).contains(#""accessible":"WhenUnlocked""#))

            try machine.write("[Default]\nClient=unit:other.service\nAccessible=AfterFirstUnlock\n", to: path)
            try service.control("reload", "coffer-units.service")
            #expect(try put("c", by: "other.service", service).contains(#""accessible":"AfterFirstUnlock""#))
            #expect(try put("d", by: "backup.service", service).contains(#""accessible":"WhenUnlocked""#))

            try machine.write("[Default]\nClient=other.service\n", to: path)
            try service.control("reload", "coffer-units.service")
            #expect(try put("e", by: "other.service", service).contains(#""accessible":"AfterFirstUnlock""#))
            let said = try service.journal { $0.contains("what was set before stays") }
            #expect(said.contains("error: '\(path)', line 2: Client: unknown client 'other.service'"), "\(said)")
            #expect(said.contains("what was set before stays"))
            let warned = try service.coffer("status")
            #expect(warned.status == 0 && warned.errors.contains("line 2"))
            try machine.succeed(["rm", path])
        }
    }
}
