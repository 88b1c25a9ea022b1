internal import CofferClient
internal import CofferSecretFormats

extension ExchangeEntry {
    /// Appends what an entry has for one-time codes: as the field `otp`, or, if `coffer otp` can't use it, as another one.
    mutating func addOneTimeKey(_ value: Secret?) throws(CofferError) {
        guard let value, value.count > 0 else { return }
        let fault: CofferError
        do throws(CofferError) {
            _ = try OneTimeKey(uri: value)
            return try add(Self.otp, try OneTimeKey.address(of: value, label: title))
        } catch {
            guard error.code == .param else { throw error }
            fault = error
        }
        try add("otp key", value)
        try leaveOut(.kept("otp key"), because: fault.message)
    }

    /// The field `otp` as Bitwarden reads it: that of Steam is `steam://KEY`, as it takes an address for one of other codes.
    var oneTimeKeyForBitwarden: Secret? {
        get throws(CofferError) {
            guard let address = self[Self.otp] else { return nil }
            let steamKey: Secret?
            do throws(CofferError) { steamKey = try OneTimeKey(uri: address).steamKey } catch {
                guard error.code == .param else { throw error }
                return address
            }
            guard let steamKey else { return address }
            let start = Array("steam://".utf8)
            return try Base32.encoded(steamKey).withBytes { (key) throws(CofferError) in
                try Secret(capacity: start.count + key.byteCount) { (output) throws(CofferError) in
                    output.append(start)
                    for place in 0..<key.byteCount { output.append(key.byte(at: place)) }
                }
            }
        }
    }

    /// Takes what KeePass and its plugins have for one-time codes out of the fields of an entry.
    ///
    /// What makes no codes stays a field.
    mutating func addOneTimeKeys(ofKeePass values: inout [(name: String, value: Secret)]) throws(CofferError) {
        for (_, value) in values.filter({ $0.name == "otp" }) { try addOneTimeKey(value) }
        values.removeAll { $0.name == "otp" }
        for prefix in ["TimeOtp-", "HmacOtp-"] {
            let own = values.filter { $0.name.hasPrefix(prefix) }
            let settings = own.map { (String($0.name.dropFirst(prefix.utf8.count)), $0.value) }
            guard try addOneTimeKey(settings, isCounted: prefix == "HmacOtp-") else { continue }
            values.removeAll { $0.name.hasPrefix(prefix) }
        }
        guard let seed = values.first(where: { $0.name == "TOTP Seed" })?.value else { return }
        let text = values.first { $0.name == "TOTP Settings" }?.value.exposeText() ?? "30;6"
        let words = text.split(separator: ";").map(String.init)
        guard words.count == 2 else { return }
        let parameters = words[1].uppercased() == "S" ? "&encoder=steam" : "&digits=\(words[1])"
        guard try addOneTimeKey(seed, isCounted: false, "\(parameters)&period=\(words[0])") else { return }
        values.removeAll { ["TOTP Seed", "TOTP Settings"].contains($0.name) }
    }

    /// Takes the settings of KeePass itself, without their prefix.
    private mutating func addOneTimeKey(
        _ settings: [(String, Secret)],
        isCounted: Bool
    ) throws(CofferError) -> Bool {
        var (key, parameters): (Secret?, String) = (nil, "")
        for (name, value) in settings {
            let text = name.hasPrefix("Secret") ? "" : value.exposeText() ?? ""
            switch name {
            case "Secret" where key == nil: key = try Base32.encoded(value)
            case "Secret-Base32" where key == nil: key = value
            case "Secret-Hex" where key == nil: key = try Base32.encoded(hex: value)
            case "Secret-Base64" where key == nil: key = try Base32.encoded(base64: value)
            case "Length": parameters += "&digits=\(text)"
            case "Period": parameters += "&period=\(text)"
            case "Algorithm": parameters += "&algorithm=\(text)"
            case "Counter": parameters += "&counter=\(text)"
            default: return false
            }
        }
        if isCounted && !parameters.contains("&counter=") { parameters += "&counter=0" }
        guard let key else { return false }
        return try addOneTimeKey(key, isCounted: isCounted, parameters)
    }

    /// Appends the address of a key, unless it makes no codes.
    private mutating func addOneTimeKey(
        _ key: Secret,
        isCounted: Bool,
        _ parameters: String
    ) throws(CofferError) -> Bool {
        let kind = isCounted ? "hotp" : "totp"
        let address = try key.withBytes { (bytes) throws(CofferError) in
            try OneTimeKey.address(key: bytes, kind: kind, label: title, parameters)
        }
        do throws(CofferError) {
            _ = try OneTimeKey(uri: address)
        } catch {
            guard error.code == .param else { throw error }
            return false
        }
        try add(Self.otp, address)
        return true
    }

    /// Appends addresses of sites: the first one as `url`.
    mutating func addURLs(_ urls: [Secret]) throws(CofferError) { for url in urls { try add(Self.url, url) } }

    /// The host of the first address, for an entry without a title.
    var host: String? {
        guard let url = self[Self.url]?.exposeText() else { return nil }
        let host = ServerAddress(origin: url).host
        return host.isEmpty ? nil : host
    }
}
