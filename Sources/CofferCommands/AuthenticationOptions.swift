internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// What is shown for items whose access control asks for a passcode or a password.
struct AuthenticationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passcode, if an item asks for it, from this descriptor.", valueName: "number"))
    var passcodeFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Read the application password, if an item asks for it, from this descriptor.",
            valueName: "number"
        )
    )
    var applicationPasswordFd: Int32?

    /// Reads what was given by descriptors.
    ///
    /// Before connecting: a descriptor that is read later may be the connection itself.
    func readGiven() throws(CofferError) -> GivenFactors {
        let passcode: SecretBytes?
        if let passcodeFd {
            passcode = try SecretInput.passcode(from: passcodeFd)
        } else {
            passcode = nil
        }
        let password: SecretBytes?
        if let applicationPasswordFd {
            password = try SecretInput.passcode(from: applicationPasswordFd, "the application password")
        } else {
            password = nil
        }
        return GivenFactors(passcode: passcode, applicationPassword: password)
    }
}

extension AccessControl {
    /// Reads words that are joined by commas.
    init(argument: String) throws(CofferError) {
        var flags: Set<Flag> = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let flag = Flag(rawValue: String(word)) else {
                let names = Flag.allCases.map(\.rawValue).joined(separator: ", ")
                throw CofferError(
                    .param,
                    "--access-control \(quotedForDisplay(argument)): \(quotedForDisplay(String(word))) is none of its words",
                    hint: "the words are \(names); they are joined by commas"
                )
            }
            flags.insert(flag)
        }
        try self.init(flags)
    }
}

/// What was given by descriptors, to be shown where an item asks for it.
struct GivenFactors: ~Copyable {
    let passcode: SecretBytes?
    let applicationPassword: SecretBytes?

    /// For how long what is shown is good: for the requests of one verb, whose connection ends with it.
    private static let reuseSeconds = 60

    /// Carries a request out, and again with what its item asks for.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - request: The request; nothing has happened where it is refused.
    /// - Returns: What it returns.
    borrowing func satisfy<Result: ~Copyable>(
        _ client: BlockingClient,
        _ request: () throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        var shown: Set<AuthenticationFactor> = []
        while true {
            do throws(CofferError) {
                return try request()
            } catch {
                guard error.code == .interactionRequired, let need = error.need else { throw error }
                let wanted = factors(for: need)
                // What was shown and is asked for again does not help.
                guard shown.isDisjoint(with: wanted) else { throw error }
                for factor in AuthenticationFactor.allCases where wanted.contains(factor) {
                    try show(factor, to: client, refusal: error)
                }
                shown.formUnion(wanted)
            }
        }
    }

    /// Shows a new application password, which an item is to be bound to: a person types it twice.
    borrowing func showNewApplicationPassword(to client: BlockingClient) throws(CofferError) {
        if applicationPassword != nil { return try authenticate(.applicationPassword, applicationPassword, client) }
        try authenticate(.applicationPassword, try SecretInput.askNew("application password"), client)
    }

    private borrowing func factors(for need: AuthenticationNeed) -> Set<AuthenticationFactor> {
        switch need {
        case .passcode: [.passcode]
        case .applicationPassword: [.applicationPassword]
        case .passcodeAndApplicationPassword: [.passcode, .applicationPassword]
        // The one that was given; a person is asked for the passcode.
        case .passcodeOrApplicationPassword:
            passcode == nil && applicationPassword != nil ? [.applicationPassword] : [.passcode]
        }
    }

    private borrowing func show(
        _ factor: AuthenticationFactor,
        to client: BlockingClient,
        refusal: CofferError
    ) throws(CofferError) {
        switch factor {
        case .passcode:
            if passcode != nil { return try authenticate(factor, passcode, client) }
            try authenticate(factor, try Self.ask("Passcode: ", orElse: refusal), client)
        case .applicationPassword:
            if applicationPassword != nil { return try authenticate(factor, applicationPassword, client) }
            try authenticate(factor, try Self.ask("Application password: ", orElse: refusal), client)
        }
    }

    private borrowing func authenticate(
        _ factor: AuthenticationFactor,
        _ secret: borrowing SecretBytes?,
        _ client: BlockingClient
    ) throws(CofferError) {
        let params = ContextAuthenticateParameters(factor: factor, reuseSeconds: Int64(Self.reuseSeconds))
        try client.call(params, payload: secret)
    }

    /// Asks a person; where there is none, what was refused is what there is to say.
    private static func ask(_ prompt: Line, orElse refusal: CofferError) throws(CofferError) -> SecretBytes {
        guard (try? SecretInput.openTerminal(orElse: "")) != nil else { throw refusal }
        return try SecretInput.ask(prompt, limit: Limits.passcodeBytes)
    }
}
