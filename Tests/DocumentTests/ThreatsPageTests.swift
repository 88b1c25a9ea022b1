import CofferCore
import Foundation
import Testing

/// The tables of `proto-docs/THREATS.md`.
@Suite struct ThreatsPageTests {
    private let page: Page

    init() throws { page = try Page("THREATS.md") }

    /// The grades, with a class that each adds to the one before.
    private static let grades: [(name: String, adds: ProtectionClass)] = [
        ("D", .none),
        ("C", .completeUntilFirstUserAuthentication),
        ("CX", .completeWhenUserInactive),
        ("all", .complete),
    ]

    /// What the state gives to who may ask the daemon: the last grade whose class can be read.
    private static func grade(of state: VaultState) -> String? {
        grades.last { $0.adds.permits(.read, in: state) }?.name
    }

    @Test func `every grade is in the table, and names what it adds`() throws {
        let rows = try page.table(["grade", "what"])
        #expect(rows.map { $0[0] } == ["nothing", "shape"] + Self.grades.map(\.name))
        for grade in Self.grades {
            let row = try #require(rows.first { $0[0] == grade.name })
            #expect(row[1].quotedWords.contains(grade.adds.rawValue))
        }
    }

    @Test func `every accessibility is in the grade of the states that it can be read in`() throws {
        let rows = try page.table(["grade", "what"])
        for accessibility in [Accessibility.always, .afterFirstUnlock, .whenUnlocked] {
            let row = try #require(rows.first { $0[1].quotedWords.contains(accessibility.rawValue) })
            let adds = try #require(Self.grades.first { $0.name == row[0] }?.adds)
            for state in VaultState.allCases {
                #expect(
                    accessibility.isAvailable(in: state) == adds.permits(.read, in: state),
                    "\(accessibility), \(state)"
                )
            }
        }
    }

    @Test func `every state leaves what can be read in it`() throws {
        let rows = try page.table(["state", "grade", "why"])
        #expect(rows.map { $0[0] } == VaultState.allCases.map { "`\($0.rawValue)`" })
        for (row, state) in zip(rows, VaultState.allCases) {
            let bare = state == .deviceKeyMissing ? "shape" : "nothing"
            #expect(row[1] == Self.grade(of: state) ?? bare, "\(state)")
        }
    }

    /// The columns of the table of attackers: every state of a vault that can be used.
    private static let columns = [
        "`noPasscode`", "`beforeFirstUnlock`", "`lockedExpired`", "`locked`", "`locking`, `unlocked`",
    ]

    @Test func `the columns of the attackers are all states of a vault that is there`() {
        let named = Self.columns.flatMap(\.quotedWords)
        let expected = VaultState.allCases.filter { $0 != .noVault && $0 != .deviceKeyMissing }.map(\.rawValue)
        #expect(named.sorted() == expected.sorted())
    }

    @Test func `who may ask the daemon, or read its memory, gets what the state leaves`() throws {
        let rows = try page.table(["who"] + Self.columns)
        let names = Set(["nothing", "shape"] + Self.grades.map(\.name))
        for row in rows { #expect(names.isSuperset(of: row.dropFirst()), "\(row[0])") }
        let expected = try Self.columns.map { column in
            let grades = try column.quotedWords.map { try #require(VaultState(rawValue: $0).flatMap(Self.grade)) }
            return Set(grades).count == 1 ? grades[0] : ""
        }
        for who in ["another process of the same user", "root on the running machine"] {
            let row = try #require(rows.first { $0[0] == who })
            #expect(Array(row.dropFirst()) == expected, "\(who)")
        }
        // The disk alone is the same in every state of a vault with a passcode.
        for row in rows where row[0].hasPrefix("thief of the disk") { #expect(Set(row.dropFirst(2)).count == 1) }
    }

    @Test func `every row that names a defence, or the lack of one, names where it is held`() throws {
        let rows =
            try page.table(["who", "what stands in the way, and what does not", "held by"])
            + page.table(["where", "what gets there", "held by"])
        #expect(rows.count >= 20)
        for row in rows {
            let places = row[2].quotedWords
            #expect(!places.isEmpty, "\(row[0])")
            for place in places {
                let exists = FileManager.default.fileExists(atPath: Page.root.appending(path: place).path)
                #expect(exists, "\(place)")
            }
        }
    }

    @Test func `every bound of what clients can fill is that of the code`() throws {
        let rows = try page.table(["what", "filled by", "bound", "beyond it", "held by"])
        let limits = try ["Limits", "Limits+Desktop"].map { name in
            try String(contentsOf: Page.root.appending(path: "Sources/base/Core/\(name).swift"), encoding: .utf8)
        }
        .joined()
        let named: [String: Int] = [
            "connections": Limits.connections, "requestsInFlight": Limits.requestsInFlight,
            "requestBytes": Limits.requestBytes, "transitBytes": Limits.transitBytes,
            "transitSecretBytes": Limits.transitSecretBytes, "stallSeconds": Limits.stallSeconds,
            "outboxBytes": Limits.outboxBytes, "outboxSecretBytes": Limits.outboxSecretBytes,
            "eventBytes": Limits.eventBytes, "transitEventBytes": Limits.transitEventBytes,
            "peerDescriptors": Limits.peerDescriptors, "peerFileThreads": Limits.peerFileThreads,
            "workerThreads": Limits.workerThreads, "transfersPerConnection": Limits.transfersPerConnection,
            "handles": Limits.handles, "openFiles": Limits.openFiles, "refusals": Limits.refusals,
            "refusalsPerSecond": Limits.refusalsPerSecond, "auditWaitingRecords": Limits.auditWaitingRecords,
            "accessRules": Limits.accessRules,
            "credentialConnections": Limits.credentialConnections, "agentConnections": Limits.agentConnections,
            "closedFiles": Limits.closedFiles, "mounts": Limits.mounts, "handlesOfMount": Limits.handlesOfMount,
            "unsyncedBytes": Int(Limits.unsyncedBytes), "unsyncedLogBytes": Int(Limits.unsyncedLogBytes),
            "noticesOfMount": Limits.noticesOfMount, "nodesOfMount": Limits.nodesOfMount,
            "removedDirectoriesOfMount": Limits.removedDirectoriesOfMount,
            "kernelRequestsAtOnce": Limits.kernelRequestsAtOnce,
            "kernelRequestsOfMounts": Limits.kernelRequestsOfMounts, "waitingPrompts": Limits.waitingPrompts,
            "transferSessions": Limits.transferSessions, "servicePrompts": Limits.servicePrompts,
            "sessionItems": Limits.sessionItems, "sessionItemBytes": Limits.sessionItemBytes,
            "callsOfUnknown": Limits.callsOfUnknown, "servedConnections": Limits.servedConnections,
        ]
        let text = rows.map { $0[2] + $0[3] }.joined(separator: "\n")
        for (name, value) in named {
            #expect(text.contains("`\(name)` = \(value)"), "\(name)")
            #expect(limits.contains("static let \(name)"), "\(name)")
        }
        #expect(text.split(separator: "` = ").count - 1 == named.count)
        for place in rows.flatMap({ $0[4].quotedWords }) {
            #expect(FileManager.default.fileExists(atPath: Page.root.appending(path: place).path), "\(place)")
        }
    }

    @Test func `the figures of guesses offline come from the cost of a guess`() throws {
        #expect(
            page.text.contains("`\(PasscodeCost.moderate.rawValue)` takes \(PasscodeCost.moderate.memoryKiB >> 10) MiB")
        )
    }
}
