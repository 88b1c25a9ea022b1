import CofferCore
import CofferKernelFiles
import Foundation
import Testing

/// Errors of the daemon as the kernel reports them.
@Suite struct ErrnoTests {
    private static let numbers: [String: Int32] = [
        "EACCES": EACCES, "EBUSY": EBUSY, "EEXIST": EEXIST, "EFBIG": EFBIG, "EINTR": EINTR, "EINVAL": EINVAL,
        "EIO": EIO,
        "ENOENT": ENOENT, "EBADF": EBADF, "EISDIR": EISDIR, "ELOOP": ELOOP, "EMLINK": EMLINK,
        "ENAMETOOLONG": ENAMETOOLONG,
        "ENFILE": ENFILE, "ENODATA": ENODATA, "ENOTDIR": ENOTDIR, "ENOTEMPTY": ENOTEMPTY, "ENOSPC": ENOSPC,
        "EOPNOTSUPP": EOPNOTSUPP, "EPERM": EPERM,
    ]

    @Test func `the page has the errno of every error, and no other`() throws {
        var found: [ErrorCode: Int32] = [:]
        for (word, code) in try Self.rows(below: "| error | errno |") { found[ErrorCode(rawValue: word)] = code }
        #expect(found == Errno.codes)
    }

    @Test func `the page has the errno of every reason, and no other`() throws {
        var found: [String: Int32] = [:]
        for (word, code) in try Self.rows(below: "| reason | errno |") { found[word] = code }
        let reasons = ErrorReason.allCases.map { ($0.rawValue, Errno.code(of: $0)) }
        #expect(found == Dictionary(uniqueKeysWithValues: reasons))
    }

    /// The words of a table's first column, with the numbers of the second.
    private static func rows(below header: String) throws -> [(String, Int32?)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "proto-docs/MOUNT.md"), encoding: .utf8)
        let table = try #require(page.components(separatedBy: header).dropFirst().first)
        return table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("|") }.flatMap { line in
            let cells = line.split(separator: "|")
            let code = numbers[cells[1].trimmingCharacters(in: .whitespaces)]
            return cells[0].matches(of: /`(\w+)`/).map { (String($0.1), code) }
        }
    }

    @Test func `every code of the protocol has an errno, and an unknown one is EIO`() {
        for row in ErrorCode.table { #expect(Errno.codes[row.code] != nil, "\(row.code.rawValue)") }
        #expect(Errno(CofferError(ErrorCode(rawValue: "new"), "new")) == Errno(EIO))
    }
}
