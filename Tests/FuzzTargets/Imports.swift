import CofferClient
import CofferCore
import CofferImportExport

/// The files of other programs, whose format the first byte chooses.
///
/// What is read is written and read again, and is the same.
func checkImport(_ input: [UInt8]) throws(FuzzFinding) {
    let formats = ImportFormat.allCases
    guard let first = input.first, let content = secret(Array(input.dropFirst())) else { return }
    let format = formats[Int(first) % formats.count]
    let list = ifAccepted { () throws(CofferError) in
        guard format == .onePUX else { return try format.entries(of: content) }
        return try OnePUXReader.entries(of: content, files: []) { (_) throws(CofferError) in content }
    }
    guard let list, !list.entries.isEmpty else { return }
    try require(list.entries.count <= Limits.importEntries, "\(list.entries.count) entries")
    let names = EntryName.names(of: list.entries, below: nil).compactMap { try? $0.get() }
    try require(Set(names).count == names.count, "two entries have one name")
    try require(!names.contains { $0.path.unicodeScalars.contains { $0.value < 32 } }, "a name has a control character")
    try checkRoundTrip(of: list.entries)
}

/// Fields and notes survive Bitwarden's JSON.
private func checkRoundTrip(of entries: [ExchangeEntry]) throws(FuzzFinding) {
    // JSON holds text alone.
    let plain = entries.filter { entry in
        let values = entry.fields.map(\.value) + (entry.notes.map { [$0] } ?? [])
        return entry.whole == nil && !values.isEmpty && values.allSatisfy { $0.exposeText() != nil }
    }
    let text = ifAccepted { () throws(CofferError) in try ExportFormat.bitwarden.text(of: plain, at: 0) }
    guard let text else { throw FuzzFinding(description: "what was read can't be written") }
    let again = ifAccepted { () throws(CofferError) in try ImportFormat.bitwarden.entries(of: text) }
    guard let again else { throw FuzzFinding(description: "what was written can't be read") }
    try require(again.entries.count == plain.count, "\(plain.count) entries became \(again.entries.count)")
    for (one, other) in zip(plain, again.entries) {
        let isSame =
            one.notes?.exposeBytes() == other.notes?.exposeBytes()
            && one["password"]?.exposeBytes() == other["password"]?.exposeBytes()
            && one["username"]?.exposeBytes() == other["username"]?.exposeBytes()
        try require(isSame, "an entry is another one when it was written and read")
    }
}

private func secret(_ bytes: [UInt8]) -> Secret? {
    ifAccepted { () throws(CofferError) in try Secret(copying: bytes.span.bytes) }
}
