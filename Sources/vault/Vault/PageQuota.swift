package import CofferCore

/// The limits of a page of a listing: its entries, its bytes, and the rows scanned for it.
package struct PageQuota {
    /// The maximum size of an entry's JSON: escaping makes up to six bytes of one.
    private static let entryJSONBytes = jsonByteCount(
        ofNameWith: Limits.nameBytes + max(Limits.groupBytes, Limits.linkTargetBytes)
    )

    private let limit: Int
    private var count = 0
    private var byteCount = 0
    package private(set) var rowCount = 0

    package init(_ limit: Int64?) { self.limit = Int(limit ?? Int64(Limits.pageItems)) }

    private static func jsonByteCount(ofNameWith byteCount: Int) -> Int { 512 + byteCount * 6 }

    package var rowsLeft: Int { Limits.queryItems - rowCount }

    /// Whether the page is full: another entry might not fit.
    package var isSpent: Bool {
        count >= limit || byteCount + Self.entryJSONBytes > Limits.pageJSONBytes || rowsLeft <= 0
    }

    package mutating func addRows(_ count: Int) { rowCount += count }

    package mutating func add(_ name: String, of group: String = "", and target: String = "") {
        count += 1
        byteCount += Self.jsonByteCount(ofNameWith: name.utf8.count + group.utf8.count + target.utf8.count)
    }
}

extension CofferError {
    /// A parameter that is no position of an earlier page.
    package static func noPosition(_ parameter: String) -> CofferError {
        CofferError(
            .param,
            "parameter '\(parameter)': expected the position that an earlier page of the same listing ended with",
            hint: "leave it out to begin anew"
        )
    }
}
