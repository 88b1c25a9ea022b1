internal import CofferCore
internal import CofferRouting
internal import CofferWire

extension Protection {
    /// The warnings about the protection that an item gets.
    ///
    /// - Parameter said: The protection that the client asked for, if it is one of the other store.
    func warnings(convertedFrom said: Protection?) -> [String] {
        var warnings: [String] = []
        if case .keychain(let accessibility) = self, accessibility.isDeprecated {
            warnings.append(
                "this protection is deprecated: the item can be read in every state, and the passcode does not protect it"
            )
        }
        if let said {
            warnings.append(
                "'\(said.name)' is a protection of the \(said.store.words): in the \(store.words), this is '\(words)'"
            )
        }
        return warnings
    }
}

extension Placement {
    /// Describes what was decided.
    ///
    /// - Parameters:
    ///   - verdict: The decision.
    ///   - former: The protection of the item that is replaced, if there is one.
    init(_ verdict: Verdict, replacing former: Protection? = nil) {
        // What the caller has not named does not surprise it.
        let isNamed = verdict.protectionSource == .caller
        var warnings = isNamed ? verdict.protection.warnings(convertedFrom: verdict.convertedFrom) : []
        if let former, former != verdict.protection, former.converted(to: verdict.store) != verdict.protection {
            warnings.append(
                "until now it could be read \(former.words); from now on it can be read \(verdict.protection.words)"
            )
        }
        self.init(
            protection: verdict.protection,
            rule: verdict.rule.rawValue,
            reason: verdict.reason,
            protectionSource: verdict.protectionSource.rawValue,
            signature: verdict.signature?.rawValue,
            warnings: warnings
        )
    }
}
