package import CofferCore

/// Everything that the matrix may look at.
package struct RoutingFacts: Hashable, Sendable {
    /// How much is known of an item's size.
    package enum Size: Hashable, Sendable {
        /// The whole item was seen, or its file says so.
        case exactly(Int64)
        /// A pipe whose end was not seen after that many bytes.
        case moreThan(Int64)
    }

    /// What its owner says it is.
    package let kind: ItemKind?
    /// How many bytes it has.
    package let size: Size
    /// Whether the caller handed it over as fields with names.
    package let isDeclaredStructured: Bool
    /// Whether nobody said so, and its text parses as fields with names: the answer of ``looksStructured(_:)``.
    package let looksStructured: Bool
    /// What its content shows it to be: the answer of ``ContentSignature``.
    package let signature: ContentSignature?
    /// Whether it came as a file, by name or by descriptor, rather than as a value.
    package let isPresentedAsFile: Bool
    /// What it is used for.
    package let scenario: Scenario?

    package init(
        kind: ItemKind? = nil,
        size: Size,
        isDeclaredStructured: Bool = false,
        looksStructured: Bool = false,
        signature: ContentSignature? = nil,
        isPresentedAsFile: Bool = false,
        scenario: Scenario? = nil
    ) {
        self.kind = kind
        self.size = size
        self.isDeclaredStructured = isDeclaredStructured
        self.looksStructured = looksStructured
        self.signature = signature
        self.isPresentedAsFile = isPresentedAsFile
        self.scenario = scenario
    }

    /// The kind that its content was found to be of, where its owner said nothing that tells.
    ///
    /// What looks like a secret and is too large for the keychain is none of a stated kind, and not to be refused.
    package var foundKind: ItemKind? {
        guard kind == nil, !isDeclaredStructured, let found = signature?.kind else { return nil }
        return found.isSecret && !size.fits(in: Limits.secretBytes) ? nil : found
    }
}

extension RoutingFacts.Size {
    /// Whether the item is known to have at most `limit` bytes.
    ///
    /// What is not known to fit does not: a wrong guess here would overfill the keychain, while the file store takes
    /// any size.
    ///
    /// - Parameter limit: A number of bytes.
    /// - Returns: `false` also where it is not known.
    package func fits(in limit: Int) -> Bool {
        switch self {
        case .exactly(let count): count <= Int64(limit)
        case .moreThan: false
        }
    }

    /// The size for a sentence, before the word "bytes".
    var words: String {
        switch self {
        case .exactly(let count): "\(count)"
        case .moreThan(let count): "more than \(count)"
        }
    }
}
