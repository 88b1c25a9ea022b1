import CofferTestSupport
import Foundation
import Testing

extension SystemdTests {
    /// What survives a daemon that its service manager starts, and what does not.
    @Suite struct CarryOverTests {
        private static let store = "FileDescriptorStoreMax=4"

        /// A service that carries over, unlocked, with an item for each group of keys.
        private func service(_ name: String, _ settings: String...) throws -> Service {
            let service = try Service(name, [Self.store] + settings)
            try service.makeVault()
            try service.fill()
            return service
        }

        @Test func `class C survives a restart, and A, B and CX do not`() throws {
            let service = try service("coffer-restart")
            let kept = try service.property("NFileDescriptorStore")
            #expect(kept == "1")
            try service.control("restart", "coffer-restart.service")
            let state = try service.state()
            #expect(state == "lockedExpired")
            let readable = try service.readable()
            #expect(readable == Service.classC)
            try service.unlock()
            let readableUnlocked = try service.readable()
            #expect(readableUnlocked == Service.everyItem)
        }

        @Test func `it survives one restart after another, locked before it or not`() throws {
            let service = try service("coffer-again")
            let locked = try service.coffer("lock", "--now")
            #expect(locked.status == 0)
            for _ in 0..<2 {
                try service.control("restart", "coffer-again.service")
                let readable = try service.readable()
                #expect(readable == Service.classC)
            }
            let kept = try service.property("NFileDescriptorStore")
            #expect(kept == "1")
        }

        @Test func `class C survives a SIGKILL of a service that is restarted`() throws {
            let service = try service("coffer-killed", "Restart=always", "RestartSec=0")
            let first = try service.property("MainPID")
            try service.control("kill", "--signal=KILL", "coffer-killed.service")
            let readable = try service.readable()
            #expect(readable == Service.classC)
            let second = try service.property("MainPID")
            #expect(second != first)
        }

        @Test func `nothing survives a stop`() throws {
            let service = try service("coffer-stopped")
            try service.control("stop", "coffer-stopped.service")
            let state = try service.state()
            #expect(state == "beforeFirstUnlock")
            let readable = try service.readable()
            #expect(readable == ["dk"])
        }

        @Test func `nothing survives a reboot`() throws {
            let service = try service("coffer-rebooted")
            try #require(Machine.shared).reboot()
            let state = try service.state()
            #expect(state == "beforeFirstUnlock")
            let readable = try service.readable()
            #expect(readable == ["dk"])
        }

        @Test func `with --no-carry-over nothing survives a restart, not even what an earlier daemon has left`() throws
        {
            let plain = try Service("coffer-plain", options: ["--no-carry-over"], [Self.store])
            try plain.makeVault()
            try plain.fill()
            let kept = try plain.property("NFileDescriptorStore")
            #expect(kept == "0")
            try plain.control("restart", "coffer-plain.service")
            let state = try plain.state()
            #expect(state == "beforeFirstUnlock")

            try plain.write(options: [], [Self.store])
            try plain.control("restart", "coffer-plain.service")
            try plain.unlock()
            try plain.write(options: ["--no-carry-over"], [Self.store])
            try plain.control("restart", "coffer-plain.service")
            let stateAfter = try plain.state()
            #expect(stateAfter == "beforeFirstUnlock")
            let left = try plain.property("NFileDescriptorStore")
            #expect(left == "0")
        }

        @Test func `keys that the vault forgets leave the store`() throws {
            let service = try Service(
                "coffer-forgetful",
                options: ["--grace", "0", "--inactive-after", "0", "--forget-after", "1"],
                [Self.store]
            )
            try service.makeVault()
            let before = try service.property("NFileDescriptorStore")
            #expect(before == "1")
            _ = try service.coffer("lock", "--now")
            let state = try service.settled { $0 == "beforeFirstUnlock" }
            #expect(state == "beforeFirstUnlock")
            let after = try service.property("NFileDescriptorStore")
            #expect(after == "0")
        }

        @Test func `keys of another vault are refused, removed, and said to be`() throws {
            let service = try service("coffer-foreign")
            // Between two lives of the daemon another vault takes the place of its own.
            let other = try Service("coffer-other")
            try other.makeVault()
            try other.control("stop", "coffer-other.socket", "coffer-other.service")
            let exchange = "ExecStartPre=/bin/sh -c 'rm -r %S/%N/* && cp -r %S/coffer-other/* %S/%N'"
            try service.write(options: [], [Self.store, exchange])
            try service.control("restart", "coffer-foreign.service")
            let state = try service.state()
            #expect(state == "beforeFirstUnlock")
            let kept = try service.property("NFileDescriptorStore")
            #expect(kept == "0")
            let said = try service.journal { $0.contains("no key is carried over") }
            #expect(said.contains("no key is carried over"), "\(said)")
        }

        @Test func `what lies in the store is sealed memory without a key in clear`() throws {
            let service = try service("coffer-looked-at")
            let machine = try #require(Machine.shared)
            // Root sees the descriptors of PID 1, which holds the store.
            let script = """
                for fd in /proc/1/fd/*; do
                    case $(readlink "$fd") in /memfd:coffer-class-c*) cat "$fd"; exit 0 ;; esac
                done
                exit 1
                """
            let bytes = try machine.run(["sh", "-c", script])
            #expect(bytes.status == 0)
            #expect(bytes.output.starts(with: Array("COFFERCO".utf8)))
            let size = bytes.output.count
            #expect(size == 234)
            _ = service
        }
    }
}

extension Service {
    /// An item for each class key, whose secret is its name, and the options for it.
    private static let items = [
        ("dk", "--accessible Always"),
        ("ck", "--accessible AfterFirstUnlock"),
        ("cku", "--accessible AfterFirstUnlockThisDeviceOnly"),
        ("c", "--store file --protection completeUntilFirstUserAuthentication"),
        ("cx", "--store file --protection completeWhenUserInactive"),
        ("ak", "--accessible WhenUnlocked"),
        ("akpu", "--accessible WhenPasscodeSetThisDeviceOnly"),
        ("bkPrivate", "--accessible WhenUnlockedDeposit"),
        ("a", "--store file --protection complete"),
        ("bPrivate", "--store file --protection completeUnlessOpen"),
    ]
    static let everyItem = items.map(\.0)
    static let classC = ["dk", "ck", "cku", "c"]

    /// Stores an item for each class key.
    func fill() throws {
        let lines = Self.items.map { name, wishes in "printf \(name) | \(Machine.programs)/coffer put \(name) \(wishes)"
        }
        let filled = try run(["sh", "-ec", lines.joined(separator: "\n")])
        try #require(filled.status == 0, "\(filled.errors)")
    }

    /// Which of them can be read.
    func readable() throws -> [String] {
        let lines = Self.everyItem.map { "\(Machine.programs)/coffer get \($0) 2>/dev/null && echo" }
        return try run(["sh", "-c", lines.joined(separator: "\n")]).text.split(separator: "\n").map(String.init)
    }
}
