internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show which client did what with the vault, and which requests were refused.",
        discussion: """
            The oldest come first. No record holds a value. With --verify, no record is shown: each is checked to be the one \
            that was written, in its place.
            """
    )

    @Flag(name: .shortAndLong, help: "Continue with new records, until it is interrupted.")
    var follow = false
    @Flag(help: "Check that no record was changed, taken out or moved.")
    var verify = false
    @Option(help: ArgumentHelp("Only records about an item, given by its name or reference.", valueName: "name"))
    var item: String?
    @Option(
        help: ArgumentHelp("Only records about items of an access group.", valueName: "group"),
        completion: .group
    )
    var group: String?
    @Option(
        help: ArgumentHelp("Only records about a unit, such as 'backup.service'.", valueName: "unit"),
        completion: .unit
    )
    var unit: String?
    @Option(
        help: ArgumentHelp(
            "Only records since this time: a date, or a time ago such as 90m, 12h or 7d.",
            valueName: "time"
        )
    )
    var since: String?
    @Flag(help: "Only refused requests.")
    var refused = false
    @Option(name: .shortAndLong, help: ArgumentHelp("Only the last N records.", valueName: "n"))
    var lines: Int?
    @OptionGroup var pager: PagerOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    private func query() throws(CofferError) -> AuditQuery {
        let start = try since.map { (text) throws(CofferError) in try Moment.milliseconds(text, of: "--since", .ago) }
        return AuditQuery(item: item, group: group, unit: unit, since: start, isRefused: refused)
    }

    func validate() throws {
        let selecting: KeyValuePairs = [
            "--follow": follow, "--lines": lines != nil, "--item": item != nil, "--group": group != nil,
            "--unit": unit != nil, "--since": since != nil, "--refused": refused,
        ]
        try exclude(["--verify": verify], selecting)
        if let lines, lines < 0 { throw ValidationError("--lines is the number of the last records, 0 or more") }
    }

    func run() throws {
        let query = try query()
        let client = try connection.connect()
        if verify { return try check(client) }
        // The subscription comes first, so that no event is lost while the records are read.
        if follow { try client.watch(.audit) } else { pager.begin(format) }
        let last = try showRecords(client, query)
        if follow { try resume(client, query, after: last) }
    }

    // MARK: Showing

    /// Prints the records.
    ///
    /// - Returns: The number of the last record.
    private func showRecords(_ client: BlockingClient, _ query: AuditQuery) throws -> Int64 {
        var kept: [AuditRecord] = []
        var after: Int64 = 0
        var last: Int64 = 0
        var (isDamaged, sealedCount) = (false, 0)
        repeat {
            let page = try client.call(AuditListParameters(after: after, query)).value
            if after == 0, lines == nil, query.item == nil, query.group == nil, let summary = page.summary {
                format.show(AuditSummaryReport(summary: summary))
            }
            if let lines {
                kept = (kept + page.records).suffix(lines)
            } else {
                for record in page.records { format.show(record) }
            }
            isDamaged = isDamaged || page.isDamaged
            sealedCount += page.sealedCount
            last = page.records.last?.number ?? last
            guard let next = page.next else { break }
            after = next
        } while Output.failure == nil
        for record in kept { format.show(record) }
        if sealedCount > 0 { format.show(SealedAuditReport(sealedCount: sealedCount)) }
        if isDamaged {
            Output.standardError.line("warning: some records can't be read: 'coffer audit --verify' says which")
        }
        return max(last, after)
    }

    private func resume(_ client: BlockingClient, _ query: AuditQuery, after last: Int64) throws {
        while Output.failure == nil {
            switch try client.nextEvent() {
            case .auditDidGrow(let records):
                for record in records where record.number > last && query.matches(record) { format.show(record) }
            case .eventsMissed(let count):
                Output.standardError.line(
                    "warning: at least \(counted(count, "record", "records")) came too fast to be shown"
                )
            default: continue
            }
        }
    }

    // MARK: Checking

    private func check(_ client: BlockingClient) throws {
        var (checkedCount, sealedCount): (Int64, Int64) = (0, 0)
        var findings: [String] = []
        try forEachPage { (after: Int64?) throws(CofferError) in
            let part = try client.call(AuditVerifyParameters(after: after ?? 0)).value
            checkedCount += part.checkedCount
            sealedCount += part.sealedCount
            findings += part.findings
            return part.next
        }
        format.show(
            AuditVerificationReport(checkedCount: checkedCount, sealedCount: sealedCount, findings: findings)
        )
        // A lost end of the database leaves no gap between the records.
        let faults = try client.status().faults
        for fault in faults { Output.standardError.lines(fault.text) }
        if findings.isEmpty {
            let sealed = sealedCount > 0 ? "; \(sealedCount) of them can be read after the first unlock" : ""
            format.say("\(counted(checkedCount, "record", "records")), each as it was written\(sealed)")
            if !faults.isEmpty { throw ExitStatus.damaged }
            return
        }
        throw CofferError(
            .decode,
            "the audit was changed outside of the daemon, or is damaged",
            hint:
                "the system's journal has the records, too, as far as it goes back: 'journalctl COFFER_ACTION=item.get'"
        )
    }
}

/// The result of a check of all records.
private struct AuditVerificationReport: Printable {
    let checkedCount: Int64
    let sealedCount: Int64
    let findings: [String]

    var json: JSONObject {
        let findings = JSONValue.array(findings.map { .string($0) })
        if sealedCount == 0 { return ["checked": .integer(checkedCount), "findings": findings] }
        return ["checked": .integer(checkedCount), "sealedCount": .integer(sealedCount), "findings": findings]
    }

    var text: [Line] { findings.map { "\($0)" } }
}

/// The number of records that are under the passcode, which was not given yet.
private struct SealedAuditReport: Printable {
    let sealedCount: Int

    var json: JSONObject { ["sealedCount": .integer(Int64(sealedCount))] }

    var text: [Line] {
        let records = sealedCount == 1 ? "1 record" : "\(sealedCount) records"
        return ["\(records) can be read after the first unlock: 'coffer unlock'"]
    }
}

/// The summary of records that were removed for new ones.
private struct AuditSummaryReport: Printable {
    let summary: AuditSummary

    var json: JSONObject { ["summary": .object(summary.json)] }

    var text: [Line] {
        let times = "\(Timestamp.text(summary.firstTime)) to \(Timestamp.text(summary.lastTime))"
        let unread: [Line] =
            summary.unreadCount > 0 ? ["    \(summary.unreadCount) of them before the first unlock, unread"] : []
        return ["\(times): \(counted(summary.recordCount, "record", "records")) made room for others"] + unread
            + summary.tallies.map { tally in
                "    \(tally.client ?? "all others"): \(tally.allowedCount) done, \(tally.refusedCount) refused"
            }
    }
}

extension AuditRecord: Printable {
    var text: [Line] { ["\(line)"] }

    private var line: String {
        var words = [Timestamp.text(time), client?.shortWords ?? "cofferd", action]
        for (index, item) in items.enumerated() {
            words.append(item.name.map { quotedForDisplay($0) } ?? item.reference?.hexadecimal ?? "")
            // Once for those that follow each other.
            let isLast = index + 1 == items.count || items[index + 1].group != item.group
            if isLast, let group = item.group { words.append("in \(quotedForDisplay(group))") }
        }
        if itemCount > items.count { words.append("and \(itemCount - items.count) more") }
        if client == nil || refusal != nil { words.append(client == nil ? state.words.forPipe : "refused") }
        if count > 1 { words.append("(\(count) times)") }
        let why = [reason, refusal?.message].compactMap(\.self).joined(separator: "; ")
        return words.joined(separator: " ") + (why.isEmpty ? "" : ": " + why)
    }
}
