internal import CofferCore

/// What a page of a listing may hold, and what may be scanned for it.
struct PageQuota {
    /// The most bytes that an entry's JSON can have: a byte of a name may become six.
    private static let entryJSONBytes = jsonByteCount(ofNameWith: Limits.nameBytes)

    private let limit: Int
    private var count = 0
    private var byteCount = 0
    /// The rows that were scanned.
    private(set) var rowCount = 0

    init(_ limit: Int64?) { self.limit = Int(limit ?? Int64(Limits.pageItems)) }

    private static func jsonByteCount(ofNameWith byteCount: Int) -> Int { 512 + byteCount * 6 }

    /// The rows that may still be scanned.
    var rowsLeft: Int { Limits.queryItems - rowCount }

    /// Whether the page has to end: one more entry might not fit.
    var isSpent: Bool {
        count >= limit || byteCount + Self.entryJSONBytes > Limits.pageJSONBytes || rowsLeft <= 0
    }

    mutating func addRows(_ count: Int) { rowCount += count }

    /// Adds an entry to the page.
    mutating func add(_ name: String) {
        count += 1
        byteCount += Self.jsonByteCount(ofNameWith: name.utf8.count)
    }
}

extension CofferError {
    /// A parameter that has to be a position of an earlier page, and is none.
    static func noPosition(_ parameter: String) -> CofferError {
        CofferError(
            .param,
            "parameter '\(parameter)': expected the position that an earlier page of the same listing ended with",
            hint: "leave it out to begin anew"
        )
    }
}
