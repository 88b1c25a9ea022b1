package import CofferCore

/// A row of the decision matrix.
///
/// The matrix is in `proto-docs/ROUTING.md`; the raw value is the name there, on the wire and in the log.
package enum Rule: String, CaseIterable, Sendable {
    /// A secret by its kind, and small enough.
    case r1 = "R1"
    /// A secret by its kind, and too large.
    case r2 = "R2"
    /// Declared as fields with names.
    case r3 = "R3"
    /// A file by its kind.
    case r4 = "R4"
    /// Came as a file.
    case r5 = "R5"
    /// Small.
    case r6 = "R6"
    /// Parses as fields with names.
    case r7 = "R7"
    /// Nothing else applied.
    case r8 = "R8"

    /// The store that the rule gives; none where it refuses.
    package var store: StoreName? {
        switch self {
        case .r1, .r3, .r6, .r7: .keychain
        case .r4, .r5, .r8: .file
        case .r2: nil
        }
    }

    /// Why, in a sentence for people.
    package var reason: String {
        switch self {
        case .r1: "a password, token, key or certificate of at most 32 KiB belongs in the keychain"
        case .r2: "a password, token, key or certificate of more than 32 KiB does not fit in the keychain"
        case .r3: "a structured secret of at most 4 KiB belongs in the keychain"
        case .r4: "a document, database, image, download, cache or temporary item belongs in the file store"
        case .r5: "what comes as a file and has more than 1024 bytes stays a file"
        case .r6: "what has no stated kind and at most 1024 bytes belongs in the keychain"
        case .r7: "text of at most 4 KiB that parses as fields with names is taken for a structured secret"
        case .r8: "whatever no other rule is about belongs in the file store"
        }
    }

    /// The bytes up to which an item of no stated kind is taken for a secret, and a file for a value.
    package static let smallBytes = 1 << 10
    /// The bytes of a structured secret: above it, text with fields is more likely a configuration file.
    package static let structuredBytes = Limits.structuredBytes

    /// Finds the first row of the matrix that fits: the kind decides where one is stated, the size after it.
    ///
    /// - Parameter facts: What is known of the item.
    package init(for facts: RoutingFacts) {
        switch facts.kind {
        case .password, .token, .key, .certificate:
            self = facts.size.fits(in: Limits.secretBytes) ? .r1 : .r2
        case .document, .database, .image, .download, .cache, .temporary:
            self = .r4
        case nil:
            self.init(forUnstatedKind: facts)
        }
    }

    private init(forUnstatedKind facts: RoutingFacts) {
        let isSmall = facts.size.fits(in: Self.smallBytes)
        let mayBeStructured = facts.size.fits(in: Self.structuredBytes)
        if facts.isDeclaredStructured && mayBeStructured {
            self = .r3
        } else if facts.isPresentedAsFile && !isSmall {
            self = .r5
        } else if isSmall {
            self = .r6
        } else if facts.looksStructured && mayBeStructured {
            self = .r7
        } else {
            self = .r8
        }
    }
}
