package import ArgumentParser
package import CofferClient
internal import CofferCore
internal import CofferSystem

/// The options that say where a verb looks for an item that it reads.
package struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The user who shares it with you ('coffer share').", valueName: "user"),
        completion: .user
    )
    package var from: String?

    @OptionGroup package var access: GroupOptions

    package init() {}

    package func validate() throws {
        try exclude(["--from": from != nil], ["--group": access.group != nil], because: "--from names the group")
    }

    /// The group of the item.
    package func group() throws(CofferError) -> String? {
        guard let from else { return access.group }
        return AccessGroup.user(try UserDatabase.number(ofUser: from))
    }

    /// Connects to the vault that has the item.
    package func connect(_ authentication: AuthenticationOptions) throws(CofferError) -> Session {
        guard let from else { return try authentication.connect() }
        let given = try authentication.readGiven()
        do throws(CofferError) {
            return Session(client: try SharedVault(authentication.connection).client, given: given)
        } catch {
            throw error.code == .missingEntitlement ? .isNotShared(by: from) : error
        }
    }

    /// Reads an item, and says what to do if it is not there.
    package func reading<Result>(
        _ name: ItemName,
        _ authentication: AuthenticationOptions,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as CofferError {
            switch (from, error.code) {
            case (let from?, .missingEntitlement): throw CofferError.isNotShared(by: from, name)
            case (.some, .interactionNotAllowed): throw error.explainedForSharing()
            case (nil, .itemNotFound):
                var explained = error
                if let way = SharedVault.way(to: name, authentication.connection) { explained.hint = way }
                throw explained
            default: throw error
            }
        }
    }
}

extension CofferError {
    fileprivate static func isNotShared(by user: String, _ name: ItemName? = nil) -> CofferError {
        CofferError(
            .missingEntitlement,
            "\(quotedForDisplay(user)) shares \(name.map { "no \($0.quoted)" } ?? "nothing") with you",
            hint: "'coffer share' lists what is shared with you"
        )
    }
}
