package import CofferCore

/// Everything on which the matrix may depend.
package struct RoutingFacts: Hashable, Sendable {
    /// What is known about an item's size.
    package enum Size: Hashable, Sendable {
        /// The size is known.
        case exactly(Int64)
        /// A pipe that did not end within that many bytes.
        case moreThan(Int64)
    }

    /// The kind that its owner states.
    package let kind: ItemKind?
    /// The kind that was stated for the item that is replaced.
    package let formerKind: ItemKind?
    /// Its size.
    package let size: Size
    /// Whether the caller declares that it consists of named fields.
    package let isDeclaredStructured: Bool
    /// Whether it is not declared, and its text parses as named fields: the result of ``looksStructured(_:)``.
    package let looksStructured: Bool
    /// Whether its content is a form in which programs keep secrets: the result of ``looksSecret(_:)``.
    package let looksSecret: Bool
    /// The format of its content: the result of ``ContentSignature``.
    package let signature: ContentSignature?
    /// Whether it is presented as a file, by name or by descriptor, and not as a value.
    package let isPresentedAsFile: Bool
    /// The stated use.
    package let scenario: Scenario?
    /// Whether it lies in a directory that was made, or that has a class, at any depth.
    package let isInDirectory: Bool

    package init(
        kind: ItemKind? = nil,
        formerKind: ItemKind? = nil,
        size: Size,
        isDeclaredStructured: Bool = false,
        looksStructured: Bool = false,
        looksSecret: Bool = false,
        signature: ContentSignature? = nil,
        isPresentedAsFile: Bool = false,
        scenario: Scenario? = nil,
        isInDirectory: Bool = false
    ) {
        self.kind = kind
        self.formerKind = formerKind
        self.size = size
        self.isDeclaredStructured = isDeclaredStructured
        self.looksStructured = looksStructured
        self.looksSecret = looksSecret
        self.signature = signature
        self.isPresentedAsFile = isPresentedAsFile
        self.scenario = scenario
        self.isInDirectory = isInDirectory
    }

    /// The facts about a content.
    ///
    /// - Parameters:
    ///   - prefix: Its first bytes.
    ///   - size: Its total size.
    ///   - options: The options of the caller.
    ///   - formerKind: The kind that was stated for the item that is replaced.
    ///   - isInDirectory: Whether its name lies in a directory that was made, or that has a class.
    package init(
        _ prefix: RawSpan,
        size: Size,
        _ options: PlacementOptions,
        formerKind: ItemKind?,
        isInDirectory: Bool
    ) {
        let isWhole = size == .exactly(Int64(prefix.byteCount))
        self.init(
            kind: options.kind,
            formerKind: formerKind,
            size: size,
            isDeclaredStructured: options.isStructured,
            looksStructured: isWhole && CofferCore.looksStructured(prefix),
            looksSecret: CofferRouting.looksSecret(prefix),
            signature: ContentSignature(of: prefix, isWhole: isWhole),
            isPresentedAsFile: options.isPresentedAsFile,
            scenario: options.scenario,
            isInDirectory: isInDirectory
        )
    }

    /// Whether its content was recognised as a secret, though no kind says that it is one.
    package var isRecognisedSecret: Bool {
        guard kind == nil && formerKind == nil else { return false }
        return looksSecret || isDeclaredStructured || signature?.kind.isSecret == true
    }

    /// The kind that was recognised in its content, if its owner stated none.
    ///
    /// Content that looks like a secret and is too large for the keychain has no kind, so that it is not refused.
    package var foundKind: ItemKind? {
        guard kind == nil, formerKind == nil, !isDeclaredStructured, let found = signature?.kind else { return nil }
        return found.isSecret && !size.fits(in: Limits.secretBytes) ? nil : found
    }
}

extension RoutingFacts.Size {
    /// Whether the item is known to have at most `limit` bytes.
    ///
    /// A size that is not known to fit does not fit: a wrong guess would exceed the keychain's limit, while the file
    /// store takes any size.
    ///
    /// - Parameter limit: A number of bytes.
    /// - Returns: `false` also if that is not known.
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
        case .moreThan(let count): "more than \(min(count, Int64(Limits.secretBytes)))"
        }
    }
}
