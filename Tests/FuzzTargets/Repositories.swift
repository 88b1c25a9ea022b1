import CofferBackup
import CofferCore
import CofferMemory

/// The first byte says which object of a repository it is; what the tag would refuse is read without it.
func checkRepository(_ input: [UInt8]) throws(FuzzFinding) {
    let bytes = Array(input.dropFirst())
    switch input.first {
    case 0: try checkRepositoryConfiguration(bytes)
    case 1: _ = ifAccepted { () throws(ByteReader.Malformed) in try IndexObject.records(inFront: bytes, repositoryID) }
    case 2:
        guard let configuration = frozenConfiguration else { return }
        // The signature can't be right unless it is a frozen one.
        _ = ifAccepted { () throws(CofferError) in try Snapshot(bytes, named: "snapshots/x", configuration) }
    case 3: try checkFileList(bytes)
    default: try checkPackTable(bytes)
    }
}

private let repositoryID = ItemID((0..<16).map { _ in 0 }) ?? ItemID()

private let frozenConfiguration = ifAccepted { () throws(CofferError) in
    let bytes: [UInt8] = Array("COFFERBK".utf8) + [0, 1] + [UInt8](repeating: 0, count: 97) + [0, 0, 0, 2, 0, 1, 0, 0]
    return try RepositoryConfiguration(bytes + [UInt8](repeating: 0, count: 124))
}

private func checkRepositoryConfiguration(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let configuration = ifAccepted({ () throws(CofferError) in try RepositoryConfiguration(bytes) }) else {
        return
    }
    try require(configuration.bytes == bytes, "a configuration is written with other bytes")
}

private func checkFileList(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let entries = ifAccepted({ () throws(CofferError) in try FileEntry.all(in: bytes) }) else { return }
    for entry in entries {
        let parts = entry.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) && !$0.elementsEqual(".".utf8) }
        try require(isBelow && !entry.path.utf8.contains(0), "a path leads out of the target of a restore")
        try require(entry.byteCount >= 0, "a file has fewer than no bytes")
    }
}

private func checkPackTable(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let secret = try? SecretBytes(zeros: SymmetricKey.byteCount), let key = SymmetricKey(secret) else { return }
    _ = ifAccepted { () throws(CofferError) in
        try PackRecord(of: repositoryID, Int64(bytes.count), under: key) { (offset, count) throws(CofferError) in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }
}
