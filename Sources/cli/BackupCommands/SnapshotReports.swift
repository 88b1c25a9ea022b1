internal import CofferBackup
internal import CofferCore
internal import CofferTerminal
internal import CofferWire

extension Snapshot {
    /// A snapshot as JSON.
    var json: JSONObject {
        var json: JSONObject = [
            "number": .integer(reference.number), "digest": .string(hexadecimal(reference.digest)),
            "date": .integer(date), "fileCount": .integer(fileCount), "byteCount": .integer(byteCount),
        ]
        if isForgotten { json.set("forgotten", .bool(true)) }
        return json
    }

    /// The cells of its row.
    var cells: [Line] {
        [
            "\(reference.number)", "\(Timestamp.minutes(date))",
            isForgotten ? "forgotten" : "\(counted(fileCount, "file", "files"))",
            isForgotten ? "" : "\(ByteCount.text(byteCount))",
            "\(reference.shortName)",
        ]
    }

    static let columns = [
        Table.Column(title: "number", isNumber: true), Table.Column(title: "date"),
        Table.Column(title: "files", rank: 1), Table.Column(title: "size", rank: 2, isNumber: true),
        Table.Column(title: "digest", rank: 3),
    ]
}

extension FormatOptions {
    /// Prints what is wrong in a repository: a line each on standard error, or an object each on standard output.
    func show(_ findings: [RepositoryFinding], unlistedCount: Int = 0) {
        for finding in findings {
            if json {
                Output.standardOutput.line(["finding": .string(finding.message)] as JSONObject)
            } else {
                Output.standardError.line("\("damaged:", in: .red) \(finding.message)")
            }
        }
        if unlistedCount > 0 && !json { Output.standardError.line("and \(unlistedCount) more") }
    }
}

extension CofferError {
    /// The error at the end of a verb that has listed what is wrong.
    static func damagedRepository(_ count: Int) -> CofferError {
        CofferError(
            .decode,
            "the repository is not as it was written: \(count) \(count == 1 ? "finding" : "findings")",
            hint: "what is named can't be restored from here; 'coffer backup create' stores again what the vault still "
                + "has of it, once a damaged pack is moved out of the repository"
        )
    }
}
