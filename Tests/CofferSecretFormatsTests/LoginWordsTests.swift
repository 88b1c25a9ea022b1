import CofferClient
import CofferSecretFormats
import CofferCore
import Testing

/// What a search finds a login by.
@Suite struct LoginWordsTests {
    private func words(_ text: String) throws -> [AttributeName: String] {
        LoginWords(try Secret(exposed: text)).attributes
    }

    @Test func `a login has its user name, and its addresses up to their ports`() throws {
        let login =
            "pw\nusername: nina\nurl: https://eve:s3cret@Shop.example:443/a/s3cret?t=s3cret\nurl 2: b.example:8443/x\n"
        #expect(try words(login) == ["username": "nina", "url": "https://shop.example b.example:8443"])
        #expect(
            try words(#"{"password": "x", "login": "otto", "url": "http://a:80#s3cret"}"#) == [
                "username": "otto", "url": "http://a",
            ]
        )
        #expect(try words("pw\nurl: https://a/1\nurl 2: https://a/2\n") == ["url": "https://a"])
    }

    @Test(arguments: [
        "username: nina", "USERNAME=nina\nURL=https://a\n", "username=nina\nurl=https://a\n", "pw\nuser name: x\n",
        "\0",
    ])
    func `what is no login has no words`(text: String) throws { #expect(try words(text).isEmpty) }

    @Test func `what is too long is left out`() throws {
        let name = String(repeating: "n", count: Limits.loginNameBytes)
        #expect(try words("pw\nusername: \(name)\n") == ["username": name])
        #expect(try words("pw\nusername: \(name)n\n").isEmpty)
        let hosts = (0..<100).map { "url \($0): https://a-host-of-some-length-\($0).example" }
        let url = try #require(try words("pw\n" + hosts.joined(separator: "\n"))["url"])
        #expect(url.utf8.count <= Limits.loginAddressBytes && url.utf8.count > Limits.loginAddressBytes - 64)
    }

    @Test func `an address is searched up to its host, and a word as it is`() {
        #expect(LoginWords.searched("HTTPS://Shop.example:443/login?x") == "https://shop.example")
        #expect(LoginWords.searched("Shop.example") == "Shop.example")
        #expect(LoginWords.searched("://") == "://")
        #expect(LoginWords.searched("https://") == "https://")
    }
}
