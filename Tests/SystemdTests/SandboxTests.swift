import CofferTestSupport
import Foundation
import Testing

extension SystemdTests {
    /// What the package's unit forbids its daemon, forbidden here to tests and to the daemons that they start.
    @Suite struct SandboxTests {
        /// What is said of the service's life, and of no sandbox.
        private static let ofLife: Set<Substring> = [
            "Type", "NotifyAccess", "ExecStart", "ExecReload", "Restart", "WatchdogSec", "LoadCredentialEncrypted",
            "FileDescriptorStoreMax", "UnsetEnvironment",
        ]
        /// What the tests themselves want: Foundation hears of the end of a child by way of the loopback.
        private static let ofTests: Set<Substring> = ["RestrictAddressFamilies", "IPAddressDeny"]

        /// Where the tests find what they read of the project.
        private static let project = "/opt/project"

        private static let suites = [
            "Audit", "Configuration", "Entitlement", "FileTreeState", "FileTreeVerbs", "FileVerbs", "HandleOracle",
            "Handle",
            "KeychainVerbs", "KeysVerbs", "Grant", "NamespaceVerbs", "Oracle", "Protect", "Transfer",
        ]

        private func sandbox() throws -> [String] {
            let unit = try String(contentsOfFile: "\(Project.root)/packaging/systemd/cofferd.service", encoding: .utf8)
            let service = try #require(unit.firstRange(of: "[Service]\n")).upperBound
            let end = try #require(unit.firstRange(of: "[Install]")).lowerBound
            let settings = unit[service..<end].split(separator: "\n").filter { $0.contains("=") && !$0.hasPrefix("#") }
            let kept = settings.filter { setting in
                let name = setting.prefix { $0 != "=" }
                return !Self.ofLife.contains(name) && !Self.ofTests.contains(name)
            }
            #expect(kept.count >= 35)
            return kept.map(String.init) + [
                "RestrictAddressFamilies=AF_UNIX AF_INET", "WorkingDirectory=/tmp", "LimitNOFILE=65536",
                "Environment=SWIFT_BACKTRACE=enable=no \(Project.variable)=\(Self.project)",
            ]
        }

        @Test func `the daemon does under its unit's restrictions what it does without them`() throws {
            let machine = try #require(Machine.shared)
            try machine.succeed(["mkdir", "-p", "\(Self.project)/Tests"])
            for folder in ["proto-docs", "Tests/Vectors"] {
                try machine.copy("\(Project.root)/\(folder)", to: "\(Self.project)/\(folder)")
            }
            try machine.succeed(["chmod", "-R", "a+rX", Self.project])
            let properties = try sandbox().flatMap { ["--property=\($0)"] }
            let tests = [
                "\(Machine.programs)/cofferPackageTests.xctest", "--testing-library", "swift-testing", "--filter",
                "EndToEndTests\\.(\(Self.suites.joined(separator: "|")))Tests",
            ]
            let run = ["systemd-run", "--wait", "--pipe", "--collect", "--quiet"] + properties + tests
            let result = try machine.run(run, seconds: 400)
            let said = result.text + result.errors
            let failures = said.split(separator: "\n").filter { $0.contains("recorded an issue") }
            #expect(result.status == 0, "\(failures.joined(separator: "\n"))")
            let count = try #require(said.firstMatch(of: /Test run with (\d+) tests/), "\(said.suffix(500))")
            #expect(Int(count.1) ?? 0 >= 80)
        }
    }
}
