package import ArgumentParser
package import CofferClient
internal import CofferTerminal

/// The factors for items whose access control requires authentication.
package struct AuthenticationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passcode, if an item asks for it, from this descriptor.", valueName: "number"))
    package var passcodeFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Read the application password, if an item asks for it, from this descriptor.",
            valueName: "number"
        )
    )
    package var applicationPasswordFd: Int32?

    @OptionGroup package var connection: ConnectionOptions

    package init() {}

    /// Reads the factors that were given as descriptors.
    ///
    /// This happens before connecting: a descriptor that is read later may be the connection itself.
    package func readGiven() throws(CofferError) -> [AuthenticationFactor: Secret] {
        var given: [AuthenticationFactor: Secret] = [:]
        given[.passcode] = try SecretInput.passcode(from: passcodeFd)
        given[.applicationPassword] = try SecretInput.passcode(from: applicationPasswordFd, "the application password")
        return given
    }

    /// Reads the factors and connects.
    package func connect() throws(CofferError) -> Session { try connect(with: readGiven()) }

    /// Connects, after the factors were read.
    package func connect(with given: [AuthenticationFactor: Secret]) throws(CofferError) -> Session {
        Session(client: try connection.connect(), given: given)
    }
}

extension AccessControl {
    /// Reads words that are joined by commas.
    package init(argument: String) throws(CofferError) {
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

/// A connection that authenticates when an item requires it.
package struct Session {
    package let client: BlockingClient
    /// The factors that were given as descriptors.
    package let given: [AuthenticationFactor: Secret]

    package init(client: BlockingClient, given: [AuthenticationFactor: Secret]) {
        self.client = client
        self.given = given
    }

    /// Sends a request, and repeats it after the authentication that its item requires.
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        try satisfy { () throws(CofferError) in try client.call(params, payload: payload) }
    }

    /// Performs a request, and repeats it after the authentication that its item requires.
    ///
    /// - Parameter request: The request; if it is refused, it has changed nothing.
    /// - Returns: The result of the request.
    package func satisfy<Result>(_ request: () throws(CofferError) -> Result) throws(CofferError) -> Result {
        var shown: Set<AuthenticationFactor> = []
        while true {
            do throws(CofferError) {
                return try request()
            } catch {
                guard error.code == .interactionRequired, let need = error.need else { throw error }
                let wanted = factors(for: need)
                // A factor that was presented and is still required does not help.
                guard shown.isDisjoint(with: wanted) else { throw error }
                for factor in AuthenticationFactor.allCases where wanted.contains(factor) {
                    try show(factor, orElse: error)
                }
                shown.formUnion(wanted)
            }
        }
    }

    /// Presents the application password to which an access control binds an item; a person types it twice.
    package func showNewPassword(for control: AccessControl?) throws(CofferError) {
        guard control?.factors.contains(.applicationPassword) == true else { return }
        let password =
            if let password = given[.applicationPassword] { password } else {
                try SecretInput.askNew("application password")
            }
        try authenticate(.applicationPassword, password)
    }

    private func factors(for need: AuthenticationNeed) -> Set<AuthenticationFactor> {
        switch need {
        case .passcode: [.passcode]
        case .applicationPassword: [.applicationPassword]
        case .passcodeAndApplicationPassword: [.passcode, .applicationPassword]
        // The factor that was given as a descriptor; otherwise the prompt is for the passcode.
        case .passcodeOrApplicationPassword:
            given[.passcode] == nil && given[.applicationPassword] != nil ? [.applicationPassword] : [.passcode]
        }
    }

    /// Presents a factor; without a terminal to prompt on, the refusal itself is the error.
    private func show(_ factor: AuthenticationFactor, orElse refusal: CofferError) throws(CofferError) {
        if let secret = given[factor] { return try authenticate(factor, secret) }
        guard (try? SecretInput.openTerminal(orElse: "")) != nil else { throw refusal }
        let prompt: Line = factor == .passcode ? "Passcode: " : "Application password: "
        try authenticate(factor, Secret(try SecretInput.ask(prompt, limit: Limits.passcodeBytes)))
    }

    private func authenticate(_ factor: AuthenticationFactor, _ secret: Secret) throws(CofferError) {
        try client.call(
            ContextAuthenticateParameters(factor: factor, reuseSeconds: Limits.factorSeconds),
            payload: secret
        )
    }
}
