package import ArgumentParser
package import CofferClient

/// When an item can be read, in the words of people: a protection that both stores have.
package enum Readability: String, CaseIterable, ExpressibleByArgument, Sendable {
    case unlocked
    case deposit
    case afterLogin = "after-login"
    case always

    /// The class of a file.
    package var protectionClass: ProtectionClass {
        switch self {
        case .unlocked: .complete
        case .deposit: .completeUnlessOpen
        case .afterLogin: .completeUntilFirstUserAuthentication
        case .always: .none
        }
    }

    /// The accessibility of a secret.
    package var accessibility: Accessibility {
        switch self {
        case .unlocked: .whenUnlocked
        case .deposit: .whenUnlockedDeposit
        case .afterLogin: .afterFirstUnlock
        case .always: .always
        }
    }
}

/// The option for when an item can be read.
package struct ReadabilityOptions: ParsableArguments {
    @Option(help: "When it can be read, in either store.")
    package var readable: Readability?

    package init() {}
}

/// The options of a secret that a verb makes or replaces.
package struct NewProtectionOptions: ParsableArguments {
    @OptionGroup package var readability: ReadabilityOptions
    @OptionGroup package var control: AccessControlOptions

    package init() {}

    /// What was given.
    package func protection() throws(CofferError) -> NewProtection {
        NewProtection(readable: readability.readable, accessControl: try control.accessControl())
    }
}

/// The option for the authentication that a secret requires.
package struct AccessControlOptions: ParsableArguments {
    @Option(
        name: .customLong("access-control"),
        help: ArgumentHelp("Require authentication to read it, such as userPresence.", valueName: "words")
    )
    var words: String?

    package init() {}

    /// Whether it was given.
    package var isGiven: Bool { words != nil }

    /// What was given.
    package func accessControl() throws(CofferError) -> AccessControl? {
        try words.map { (words) throws(CofferError) in try AccessControl(argument: words) }
    }
}

/// The protection of a secret that is made or replaced, as far as its client says.
package struct NewProtection {
    package var readable: Readability?
    package var accessControl: AccessControl?

    package init(readable: Readability? = nil, accessControl: AccessControl? = nil) {
        self.readable = readable
        self.accessControl = accessControl
    }

    /// Whether nothing was said.
    package var isEmpty: Bool { readable == nil && accessControl == nil }

    /// The options for a store with this protection.
    package func changing(_ wishes: PlacementOptions) -> PlacementOptions {
        guard let readable else { return wishes }
        var wishes = wishes
        wishes.protectionClass = readable.protectionClass
        wishes.accessibility = readable.accessibility
        return wishes
    }
}
