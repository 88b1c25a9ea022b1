import CofferCore
import CofferVault
import CofferWire
import Testing

/// The scopes of requests on the keychain, as `proto-docs/ORDER.md` has them.
@Suite struct RequestScopeTests {
    private static let password: JSONObject = [
        "class": "genericPassword", "attributes": ["service": "site/a", "account": "token"],
    ]

    private static func password(with key: String, _ value: JSONValue) -> JSONObject {
        var params = password
        params.set(key, value)
        return params
    }

    @Test(arguments: [Method.keychainUpdate, .keychainDelete, .keychainAdd])
    func `a change of a password that is named in full concerns its name`(method: Method) {
        #expect(RequestScope(of: method, Self.password) == .changing(.names(["site/a/token"])))
    }

    @Test(arguments: ["login:nina@github.com", "key:deploy", "password:wifi", "reference:\(ItemID().hexadecimal)"])
    func `a name that an item has besides others concerns the whole catalog`(name: String) {
        #expect(RequestScope(of: .itemGet, ["name": .string(name)]) == .reading(.catalog))
        #expect(RequestScope(of: .itemPut, ["name": .string(name)]) == .changing(.catalog))
        #expect(RequestScope(of: .itemMove, ["name": "a", "to": .string(name)]) == .changing(.catalog))
        #expect(RequestScope(of: .itemGet, ["name": "a:b"]) == .reading(.names(["a:b"])))
    }

    @Test func `a search for one, too, and another secret of it changes nothing in that`() {
        #expect(RequestScope(of: .keychainFind, Self.password) == .reading(.names(["site/a/token"])))
        let update = Self.password(with: "set", ["accessible": "Always"])
        #expect(RequestScope(of: .keychainUpdate, update) == .changing(.names(["site/a/token"])))
        let params: JSONObject = ["class": "genericPassword", "attributes": ["service": "", "account": "token"]]
        #expect(RequestScope(of: .keychainFind, params) == .reading(.names(["token"])))
    }

    @Test(
        arguments: [
            password(with: "class", "internetPassword"), password(with: "class", 5),
            password(with: "attributes", ["service": "site/a"]), password(with: "attributes", ["account": "token"]),
            password(with: "attributes", ["service": "site/a", "account": 5]),
            password(with: "set", ["attributes": ["account": "another"]]), ["reference": "00"], [:],
        ] as [JSONObject]
    )
    func `any other request on the keychain concerns all of it`(params: JSONObject) {
        #expect(RequestScope(of: .keychainUpdate, params) == .changing(.keychain))
    }
}
