import CofferTestSupport
import Foundation
import Testing

/// The tables of proto-docs/MOUNT.md, driven through a mount.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountTablesTests {
    /// The rows of a table: for each state the cells of the classes.
    private typealias Table = [String: [String: String]]

    private static let classes = [
        "complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication", "completeWhenUserInactive", "none",
    ]
    private static let states = ["unlocked", "locking", "locked", "lockedExpired", "beforeFirstUnlock"]

    /// The table below a line of the page.
    private func table(after words: String) throws -> Table {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/MOUNT.md", encoding: .utf8)
        let rest = try #require(page.components(separatedBy: words).dropFirst().first)
        var table: Table = [:]
        for line in rest.split(separator: "\n").drop(while: { !$0.hasPrefix("|") }).prefix(while: { $0.hasPrefix("|") })
        {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells[0].hasPrefix("`") else { continue }
            let state = cells[0].trimmingCharacters(in: ["`"])
            table[state] = Dictionary(uniqueKeysWithValues: zip(Self.classes, cells.dropFirst()))
        }
        return table
    }

    private static func word(_ code: Int32) -> String {
        switch code {
        case 0: "yes"
        case EACCES: "EACCES"
        case EBUSY: "EBUSY"
        case EIO: "EIO"
        case ENOENT: "ENOENT"
        default: "errno \(code)"
        }
    }

    /// What is there before the vault is locked.
    private final class Scene {
        let mount: MountedVault
        private(set) var open: [String: OpenDescriptor] = [:]

        init(passcode: String?) throws {
            let options = ["--grace", "2", "--inactive-after", "1"]
            mount = try MountedVault(passcode: passcode, daemonOptions: options)
            for name in MountTablesTests.classes {
                mkdir(mount.appending(name), 0o755)
                #expect(setClass(name, of: mount.appending(name)) == 0)
                try put("content", to: mount.appending("\(name)/file"))
                open[name] = try OpenDescriptor(mount.appending("\(name)/file"), O_RDWR)
            }
        }

        func bring(to state: String) throws {
            switch state {
            case "locking": #expect(try mount.daemon.coffer(["lock"]).status == 0)
            case "locked", "lockedExpired": #expect(try mount.daemon.coffer(["lock", "--now"]).status == 0)
            case "beforeFirstUnlock":
                open = [:]
                try mount.restart()
            default: break
            }
            if state == "lockedExpired" {
                #expect(
                    try settles {
                        let status = try mount.daemon.coffer(["status", "--json"]).text
                        // Until it has confirmed, the kernel may have pages.
                        return status.contains("lockedExpired") && !status.contains("unconfirmed")
                    }
                )
            }
        }

        /// What three operations answer on a file of a class.
        func outcomes(of name: String) -> (open: String, proceed: String, create: String) {
            let path = mount.appending("\(name)/file")
            let opening = [O_RDONLY, O_RDWR].map { flags in
                errnoOf {
                    let number = Foundation.open(path, flags)
                    defer { if number >= 0 { close(number) } }
                    return Int(number)
                }
            }
            let truncation = errnoOf { Int(truncate(path, 7)) }
            let creation = errnoOf {
                let number = Foundation.open(mount.appending("\(name)/new"), O_RDWR | O_CREAT | O_EXCL, 0o644)
                defer { if number >= 0 { close(number) } }
                return Int(number)
            }
            let going = open[name].map { [$0.readError, $0.write("c")] } ?? []
            return (Self.joined(opening + [truncation]), Self.joined(going), MountTablesTests.word(creation))
        }

        /// One word if all are the same.
        private static func joined(_ codes: [Int32]) -> String {
            Set(codes.map(MountTablesTests.word)).sorted().joined(separator: " or ")
        }
    }

    @Test(arguments: ["noPasscode"] + states)
    func `the page says what opening, going on and creating answer`(state: String) throws {
        let scene = try Scene(passcode: state == "noPasscode" ? nil : DaemonProcess.passcode)
        try scene.bring(to: state)
        let opening = try table(after: "\nOpening a file that exists")
        let going = try table(after: "\nReading and writing through a descriptor")
        let creating = try table(after: "\nCreating a file in a directory")
        for name in Self.classes {
            let found = scene.outcomes(of: name)
            #expect(found.open == opening[state]?[name], "opening \(name)")
            #expect(found.create == creating[state]?[name], "creating \(name)")
            if going[state] != nil { #expect(found.proceed == going[state]?[name], "going on with \(name)") }
        }
    }

    @Test(arguments: ["noPasscode"] + states)
    func `stat, listing, renaming and removing work from the first unlock on`(state: String) throws {
        let scene = try Scene(passcode: state == "noPasscode" ? nil : DaemonProcess.passcode)
        try scene.bring(to: state)
        let isSealed = state == "beforeFirstUnlock"
        for name in Self.classes {
            let directory = scene.mount.appending(name)
            var status = stat()
            let looked = errnoOf { Int(stat("\(directory)/file", &status)) }
            // What is of class `none` can be found in every state.
            #expect(looked == (isSealed && name != "none" ? EACCES : 0), "stat of \(name)")
            if isSealed { continue }
            #expect(status.st_size == 7)
            #expect(try names(in: directory) == ["file"])
            #expect(errnoOf { Int(rename("\(directory)/file", "\(directory)/other")) } == 0, "rename of \(name)")
            #expect(errnoOf { Int(unlink("\(directory)/other")) } == 0, "unlink of \(name)")
        }
    }

    @Test func `the tables have every state in which the vault has keys`() throws {
        #expect(Set(try table(after: "\nOpening a file that exists").keys) == Set(["noPasscode"] + Self.states))
        #expect(Set(try table(after: "\nCreating a file in a directory").keys) == Set(["noPasscode"] + Self.states))
    }
}
