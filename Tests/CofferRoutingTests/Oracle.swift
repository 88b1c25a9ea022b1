import CofferCore
import CofferRouting

/// The matrix as a person reads it from section 10 of the semantics, written out as tables.
enum Oracle {
    /// The rule by the kind: up to 32 KiB, and above.
    static let statedKinds = [
        "password": "R1 R2",
        "token": "R1 R2",
        "key": "R1 R2",
        "certificate": "R1 R2",
        "document": "R4 R4",
        "database": "R4 R4",
        "image": "R4 R4",
        "download": "R4 R4",
        "cache": "R4 R4",
        "temporary": "R4 R4",
    ]

    /// The rule where no kind is stated: up to 1 KiB, up to 4 KiB, and above.
    ///
    /// D declared structured, L looks structured, F presented as a file.
    static let unstatedKind = [
        "---": "R6 R8 R8",
        "--F": "R6 R5 R5",
        "-L-": "R6 R7 R8",
        "-LF": "R6 R5 R5",
        "D--": "R3 R3 R8",
        "D-F": "R3 R3 R5",
        "DL-": "R3 R3 R8",
        "DLF": "R3 R3 R5",
    ]

    static let stores = [
        "R0": "file", "R1": "keychain", "R2": "refused", "R3": "keychain", "R4": "file", "R5": "file", "R6": "keychain",
        "R7": "keychain", "R8": "file",
    ]

    static func rule(for facts: RoutingFacts) throws -> String {
        if facts.isInDirectory { return "R0" }
        let size = facts.size.bytesAtLeast
        let (row, column): (String?, Int)
        if let kind = facts.kind {
            (row, column) = (statedKinds[kind.rawValue], size <= 32768 ? 0 : 1)
        } else {
            let letters =
                (facts.isDeclaredStructured ? "D" : "-") + (facts.looksStructured ? "L" : "-")
                + (facts.isPresentedAsFile ? "F" : "-")
            (row, column) = (unstatedKind[letters], size <= 1024 ? 0 : size <= 4096 ? 1 : 2)
        }
        struct NoRow: Error {}
        guard let row else { throw NoRow() }
        return String(row.split(separator: " ")[column])
    }
}

extension RoutingFacts.Size {
    /// An unseen end is worth as many bytes as there can be.
    fileprivate var bytesAtLeast: Int64 {
        switch self {
        case .exactly(let count): count
        case .moreThan: .max
        }
    }
}

extension RoutingFacts {
    /// The sizes at which a rule may change, each with its neighbours, and some far away.
    static let sizes: [Size] =
        [1024, 4096, 32768].flatMap { [.exactly($0 - 1), .exactly($0), .exactly($0 + 1), .moreThan($0)] }
        + [.exactly(0), .exactly(1), .exactly(1 << 40), .exactly(.max), .moreThan(0), .moreThan(.max)]

    /// Every combination of the facts of the matrix.
    static let product: [RoutingFacts] = {
        let kinds: [ItemKind?] = [nil] + ItemKind.allCases
        return kinds.flatMap { kind in
            sizes.flatMap { size in
                (0..<16).map { bits in
                    RoutingFacts(
                        kind: kind,
                        size: size,
                        isDeclaredStructured: bits & 1 != 0,
                        looksStructured: bits & 2 != 0,
                        isPresentedAsFile: bits & 4 != 0,
                        isInDirectory: bits & 8 != 0
                    )
                }
            }
        }
    }()
}
