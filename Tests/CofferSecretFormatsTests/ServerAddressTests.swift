import CofferSecretFormats
import Testing

/// When two addresses mean the same.
@Suite struct ServerAddressTests {
    @Test(
        arguments: [
            ("https://example.com", "HTTPS://Example.COM"), ("https://example.com", "https://example.com:443"),
            ("https://example.com/a", "https://EXAMPLE.com:443/a"), ("http://a.example:80/", "http://a.example"),
            ("ssh://git@a.example", "ssh://git@A.example:22"), ("git+ssh://a.example:22", "GIT+SSH://a.example"),
            ("sparse+https://a.example/index/", "sparse+https://A.example:443/index/"),
            ("registry.example", "Registry.example:443"), ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]"),
        ]
    )
    func `case of the scheme and the host, and the scheme's own port say nothing`(one: String, other: String) {
        #expect(ServerAddress(url: one).means(ServerAddress(url: other)))
        #expect(ServerAddress(url: other).means(ServerAddress(url: one)))
    }

    @Test(
        arguments: [
            ("https://example.com", "http://example.com"), ("https://example.com", "https://example.com:80"),
            ("http://example.com", "http://example.com:443"), ("https://example.com/a", "https://example.com/A"),
            ("https://example.com/a", "https://example.com/a/"), ("https://a.example", "https://b.example"),
            ("https://nina@a.example", "https://Nina@a.example"), ("unknown://a:443", "unknown://a"),
            ("a.example", "https://a.example"),
        ]
    )
    func `all else says something`(one: String, other: String) {
        #expect(!ServerAddress(url: one).means(ServerAddress(url: other)))
    }

    @Test func `an address stays as it is, and is looked for in its other spellings`() {
        let address = ServerAddress(url: "HTTPS://Example.com:443/A")
        #expect(address.url == "HTTPS://Example.com:443/A")
        #expect(
            address.spellings.map(\.url)
                == ["HTTPS://Example.com:443/A", "https://example.com/A", "https://example.com:443/A"]
        )
        #expect(
            ServerAddress(url: "https://a.example").spellings.map(\.url) == [
                "https://a.example", "https://a.example:443",
            ]
        )
        #expect(ServerAddress(url: "x://a").spellings.count == 1)
    }
}
