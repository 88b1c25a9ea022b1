import CofferTestSupport
import Testing

extension SystemdTests {
    /// The tool that boots the machine.
    @Suite struct TestbedTests {
        @Test func `checks at the same time don't meet`() throws {
            let check = "\(Project.root)/packaging/tools/systemd-testbed check 2>&1 &"
            let result = try runCommand("/bin/sh", ["-c", "for number in $(seq 20); do \(check) done; wait"])
            let lines = result.text.split(separator: "\n")
            #expect(lines.count == 20 && Set(lines).count == 1, "\(result.text)")
        }
    }
}
