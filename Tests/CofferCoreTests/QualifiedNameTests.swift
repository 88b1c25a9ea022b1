import CofferCore
import Testing

@Suite struct QualifiedNameTests {
    @Test(arguments: [
        ("login:nina@github.com", "nina", "github.com"), ("login:nina@work@mail.example", "nina@work", "mail.example"),
        ("login:github.com", "", "github.com"),
    ])
    func `a login is named by its account and its server`(name: String, account: String, server: String) throws {
        let read = try #require(QualifiedName(try ItemName(name)))
        #expect(read == .login(account: account, server: server))
        #expect(read.itemName?.path == name)
        #expect(read.itemClass == .internetPassword)
        let attributes: [KeychainAttribute: String] = [.account: account, .server: server]
        #expect(QualifiedName(.internetPassword) { attributes[$0] ?? "" } == read)
    }

    @Test(arguments: [
        ("key:deploy", ItemClass.key), ("certificate:my CA/x", .certificate), ("password:wifi", .genericPassword),
    ])
    func `a label is named with the word of its class`(name: String, itemClass: ItemClass) throws {
        let read = try #require(QualifiedName(try ItemName(name)))
        #expect(read.itemClass == itemClass)
        #expect(read.itemName?.path == name)
        #expect(QualifiedName(itemClass) { $0 == .label ? String(name.split(separator: ":")[1]) : "" } == read)
    }

    @Test func `a reference names an item of any class`() throws {
        let reference = ItemID()
        let read = try #require(QualifiedName(try ItemName("reference:\(reference.hexadecimal)")))
        #expect(read == .reference(reference))
        #expect(read.query.reference == reference)
        #expect(read.itemClass == nil)
    }

    @Test(arguments: ["github.com/token", "login:", "key", "keys:a", "a/key:b", "reference:abc", "Login:a@b"])
    func `anything else is a path only`(name: String) throws {
        #expect(QualifiedName(try ItemName(name)) == nil)
    }

    @Test(arguments: [
        ("nina", "a@b"), ("", ""), ("nina", "bad\u{0}server"), ("", "x//y"), ("x", String(repeating: "s", count: 300)),
    ])
    func `an item whose name would mean another one, or is none, has only its reference`(
        account: String,
        server: String
    ) {
        let attributes: [KeychainAttribute: String] = [.account: account, .server: server]
        let name = QualifiedName(.internetPassword) { attributes[$0] ?? "" }
        #expect(name == nil)
        #expect(QualifiedName(.key) { _ in "" } == nil)
    }

    @Test func `names are compared as bytes`() throws {
        let composed = try #require(QualifiedName(try ItemName("key:caf\u{E9}")))
        let decomposed = try #require(QualifiedName(try ItemName("key:cafe\u{301}")))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}
