package import CofferCore

/// A row of the decision matrix.
///
/// The matrix is in `proto-docs/ROUTING.md`; the raw value is the name there, on the wire and in the log.
package enum Rule: String, CaseIterable, Sendable {
    /// In a directory that holds files.
    case r0 = "R0"
    /// A secret by its kind, within the limit.
    case r1 = "R1"
    /// A secret by its kind, beyond the limit.
    case r2 = "R2"
    /// Declared as named fields.
    case r3 = "R3"
    /// A file by its kind.
    case r4 = "R4"
    /// Presented as a file.
    case r5 = "R5"
    /// Small.
    case r6 = "R6"
    /// Parses as named fields.
    case r7 = "R7"
    /// Nothing else applied.
    case r8 = "R8"

    /// The store of the rule; `nil` if it refuses.
    package var store: StoreName? {
        switch self {
        case .r1, .r3, .r6, .r7: .keychain
        case .r0, .r4, .r5, .r8: .file
        case .r2: nil
        }
    }

    /// The reason, in a sentence for people.
    ///
    /// - Parameter bounds: The sizes by which it decided.
    package func reason(_ bounds: RoutingBounds) -> String {
        switch self {
        case .r0: "what lies in a directory that was made, or that has a class, is a file like all that it holds"
        case .r1: "a password, token, key or certificate of at most \(Limits.secretBytes) bytes belongs in the keychain"
        case .r2:
            "a password, token, key or certificate of more than \(Limits.secretBytes) bytes does not fit in the keychain"
        case .r3: "a structured secret of at most \(bounds.structuredBytes) bytes belongs in the keychain"
        case .r4: "a document, database, image, download, cache or temporary item belongs in the file store"
        case .r5: "what comes as a file and has more than \(bounds.fileBytes) bytes stays a file"
        case .r6: "what has no stated kind and at most \(bounds.smallBytes) bytes belongs in the keychain"
        case .r7:
            "text of at most \(bounds.structuredBytes) bytes that parses as fields with names is taken for a structured secret"
        case .r8: "what is large and not recognised as a secret is stored as a file"
        }
    }

    /// Finds the first row of the matrix that matches: the directory, then the kind if one is stated or recognised, the
    /// size after it.
    ///
    /// - Parameters:
    ///   - facts: The facts about the item.
    ///   - bounds: The sizes that decide.
    package init(for facts: RoutingFacts, _ bounds: RoutingBounds = RoutingBounds()) {
        let isSecret = facts.kind == nil && facts.formerKind?.isSecret == true
        if facts.isInDirectory && !isSecret {
            self = .r0
            return
        }
        switch facts.kind ?? facts.formerKind ?? facts.foundKind {
        case .some(let kind) where kind.isSecret: self = facts.size.fits(in: Limits.secretBytes) ? .r1 : .r2
        case .some: self = .r4
        case nil: self.init(forUnstatedKind: facts, bounds)
        }
    }

    private init(forUnstatedKind facts: RoutingFacts, _ bounds: RoutingBounds) {
        let isSmall = facts.size.fits(in: bounds.smallBytes)
        let mayBeStructured = facts.size.fits(in: bounds.structuredBytes)
        if facts.isDeclaredStructured && mayBeStructured {
            self = .r3
        } else if facts.isPresentedAsFile && !facts.size.fits(in: bounds.fileBytes) {
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

extension ItemKind {
    /// Whether items of the kind belong to the keychain.
    var isSecret: Bool {
        switch self {
        case .password, .token, .key, .certificate: true
        case .document, .database, .image, .download, .cache, .temporary: false
        }
    }

    /// The scenario of an item whose owner says nothing but its kind.
    package var scenario: Scenario? {
        switch self {
        case .document: .userDocument
        case .database: .database
        case .image: .downloadedImage
        case .download: .download
        case .cache: .cache
        case .temporary: .temporary
        case .password, .token, .key, .certificate: nil
        }
    }
}
