internal import CofferClient
internal import CofferMemory

/// Docker's `config.json`: the credentials of registries, as the helper of docker stores them.
enum DockerReader {
    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let root = try SecretJSON(content).root
        guard root["auths"].isObject else {
            throw .malformed(
                "this is not docker's config.json with credentials: it has no object 'auths'",
                hint: "with 'credsStore' the credentials are kept by that helper, and not in the file"
            )
        }
        var list = ExchangeList()
        for (server, value) in root["auths"].members {
            let place = "the registry \(quotedForDisplay(server))"
            try list.take(place) { () throws(CofferError) in try entry(value, server, place) }
        }
        return list
    }

    private static func entry(_ value: JSONItem, _ server: String, _ place: String) throws(CofferError) -> ExchangeEntry
    {
        var entry = ExchangeEntry(place: place)
        entry.kind = .credential
        let token = try value["identitytoken"].secret()
        guard let pair = try credential(value, place) ?? token.map({ ("<token>", $0) }) else {
            try entry.leaveOut(.entry, because: "it has no credentials in the file")
            return entry
        }
        // A token counts, if there is one, with the name that docker gives it.
        let (account, secret) = token.map { ("<token>", $0) } ?? pair
        entry.server = ExchangeEntry.Server(url: server, account: account, domain: "docker")
        try entry.add(ExchangeEntry.password, secret)
        return entry
    }

    /// The user name and the password, which are base64 of both with a colon between them.
    private static func credential(_ value: JSONItem, _ place: String) throws(CofferError) -> (String, Secret)? {
        if let name = try value["username"].text(), let password = try value["password"].secret() {
            return (name, password)
        }
        guard let auth = try value["auth"].secret(), auth.count > 0 else { return nil }
        let pair = try auth.withBytes { (bytes) throws(CofferError) -> Secret in
            do { return Secret(try Base64.decode(bytes)) } catch {
                throw .malformed("\(place): 'auth' is not base64")
            }
        }
        let colon = pair.withBytes { $0.place(of: UInt8(ascii: ":"), in: 0..<$0.byteCount) }
        guard let colon, let name = try pair.part(0..<colon).plainText else {
            throw .malformed("\(place): 'auth' is not a user name and a password with a colon between them")
        }
        return (name, try pair.part((colon + 1)..<pair.count))
    }
}
