internal import ArgumentParser
internal import CofferClient

/// The factors for items whose access control requires authentication.
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

    /// Reads the factors that were given as descriptors.
    ///
    /// This happens before connecting: a descriptor that is read later may be the connection itself.
    func readGiven() throws(CofferError) -> GivenFactors {
        let passcode = try passcodeFd.map { (number) throws(CofferError) in try SecretInput.passcode(from: number) }
        let password = try applicationPasswordFd.map { (number) throws(CofferError) in
            try SecretInput.passcode(from: number, "the application password")
        }
        return GivenFactors(passcode: passcode, applicationPassword: password)
    }

    /// Connects and performs a request, and repeats it after the authentication that its item requires.
    func perform<Result>(
        on connection: ConnectionOptions,
        _ request: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        let given = try readGiven()
        let client = try connection.connect()
        return try given.satisfy(client) { () throws(CofferError) in try request(client) }
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

/// The factors that were given as descriptors.
struct GivenFactors {
    let passcode: Secret?
    let applicationPassword: Secret?

    /// How long a factor is valid: for the requests of one verb, whose connection ends with it.
    private static let reuseSeconds = 60

    /// Performs a request, and repeats it after the authentication that its item requires.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - request: The request; if it is refused, it has changed nothing.
    /// - Returns: The result of the request.
    func satisfy<Result>(
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
                // A factor that was presented and is still required does not help.
                guard shown.isDisjoint(with: wanted) else { throw error }
                for factor in AuthenticationFactor.allCases where wanted.contains(factor) {
                    try show(factor, to: client, refusal: error)
                }
                shown.formUnion(wanted)
            }
        }
    }

    /// Presents a new application password, to which an item is bound; a person types it twice.
    func showNewApplicationPassword(to client: BlockingClient) throws(CofferError) {
        let password =
            if let applicationPassword { applicationPassword } else { try SecretInput.askNew("application password") }
        try authenticate(.applicationPassword, password, client)
    }

    private func factors(for need: AuthenticationNeed) -> Set<AuthenticationFactor> {
        switch need {
        case .passcode: [.passcode]
        case .applicationPassword: [.applicationPassword]
        case .passcodeAndApplicationPassword: [.passcode, .applicationPassword]
        // The factor that was given as a descriptor; otherwise the prompt is for the passcode.
        case .passcodeOrApplicationPassword:
            passcode == nil && applicationPassword != nil ? [.applicationPassword] : [.passcode]
        }
    }

    private func show(
        _ factor: AuthenticationFactor,
        to client: BlockingClient,
        refusal: CofferError
    ) throws(CofferError) {
        let (given, prompt): (Secret?, Line) =
            switch factor {
            case .passcode: (passcode, "Passcode: ")
            case .applicationPassword: (applicationPassword, "Application password: ")
            }
        let secret = if let given { given } else { try Self.ask(prompt, orElse: refusal) }
        try authenticate(factor, secret, client)
    }

    private func authenticate(
        _ factor: AuthenticationFactor,
        _ secret: Secret,
        _ client: BlockingClient
    ) throws(CofferError) {
        let params = ContextAuthenticateParameters(factor: factor, reuseSeconds: Int64(Self.reuseSeconds))
        try client.call(params, payload: secret)
    }

    /// Prompts; without a terminal, the refusal itself is the error.
    private static func ask(_ prompt: Line, orElse refusal: CofferError) throws(CofferError) -> Secret {
        guard (try? SecretInput.openTerminal(orElse: "")) != nil else { throw refusal }
        return Secret(try SecretInput.ask(prompt, limit: Limits.passcodeBytes))
    }
}
