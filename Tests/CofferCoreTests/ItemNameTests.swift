import CofferCore
import Testing

@Suite struct ItemNameTests {
    private static func fault(of path: String) -> String? {
        do throws(CofferError) {
            _ = try ItemName(path)
            return nil
        } catch {
            return error.code == .param ? error.message : "another error: \(error.code.rawValue)"
        }
    }

    @Test(
        arguments: [
            "a", "github.com/token", "a/b/c", "...", "a/.b", "..a/b..", " ", "a b", "ключ/🔑", "é/e\u{301}", "a\nb",
            "a\\b", "-", "'", "a/\u{301}b",
        ]
    )
    func `a path of non-empty components is a name`(path: String) throws {
        #expect(try ItemName(path).path == path)
    }

    @Test(
        arguments: [
            ("", "bad name: it is empty"),
            ("a\0b", "bad name: it contains a NUL byte"),
            ("\0", "bad name: it contains a NUL byte"),
            ("/", "bad name: it begins or ends with a slash, or has two in a row"),
            ("/a", "bad name: it begins or ends with a slash, or has two in a row"),
            ("a/", "bad name: it begins or ends with a slash, or has two in a row"),
            ("a//b", "bad name: it begins or ends with a slash, or has two in a row"),
            (".", "bad name: '.' and '..' have no meaning here"),
            ("..", "bad name: '.' and '..' have no meaning here"),
            ("a/./b", "bad name: '.' and '..' have no meaning here"),
            ("a/..", "bad name: '.' and '..' have no meaning here"),
            ("../a", "bad name: '.' and '..' have no meaning here"),
        ]
    )
    func `any other path is refused with its fault`(path: String, fault: String) {
        #expect(Self.fault(of: path) == fault)
    }

    @Test(
        arguments: [
            (String(repeating: "a", count: 256), true), (String(repeating: "a/", count: 2048) + "a", true),
            (String(repeating: "aaaaaaaa/", count: 500) + "a", true), ("a//b", false), ("", false), ("..", false),
        ]
    )
    func `a name that is too long says so to programs`(path: String, isTooLong: Bool) {
        let error = #expect(throws: CofferError.self) { _ = try ItemName(path) }
        #expect(error?.reason == (isTooLong ? .nameTooLong : nil))
    }

    @Test(arguments: [65, Limits.nameComponents, Limits.nameComponents + 1])
    func `a name has as many parts as its bytes allow`(count: Int) {
        let path = Array(repeating: "a", count: count).joined(separator: "/")
        let isTooLong = count > Limits.nameComponents
        #expect(Self.fault(of: path) == (isTooLong ? "bad name: it has 4097 bytes, more than 4096" : nil))
    }

    @Test(arguments: [4095, 4096, 4097])
    func `a name has at most 4096 bytes`(count: Int) {
        let path = String(String(repeating: String(repeating: "a", count: 99) + "/", count: 50).prefix(count - 1)) + "z"
        #expect(path.utf8.count == count)
        #expect(Self.fault(of: path) == (count <= 4096 ? nil : "bad name: it has 4097 bytes, more than 4096"))
    }

    @Test(arguments: [254, 255, 256], ["", "x/", "x/y/"])
    func `a component has at most 255 bytes`(count: Int, prefix: String) {
        let fault = Self.fault(of: prefix + String(repeating: "n", count: count))
        #expect(fault == (count <= 255 ? nil : "bad name: a part of it has 256 bytes, more than 255"))
    }

    @Test func `limits count bytes, not characters`() {
        #expect(Self.fault(of: String(repeating: "é", count: 127)) == nil)
        #expect(
            Self.fault(of: String(repeating: "é", count: 128)) == "bad name: a part of it has 256 bytes, more than 255"
        )
    }

    @Test(
        arguments: [
            ("token", "", "token", ["token"]),
            ("github.com/token", "github.com", "token", ["github.com", "token"]),
            ("a/b/c", "a/b", "c", ["a", "b", "c"]),
            ("ключ/🔑", "ключ", "🔑", ["ключ", "🔑"]),
        ]
    )
    func `the service is all before the last slash, and the account the rest`(
        path: String,
        service: String,
        account: String,
        components: [String]
    ) throws {
        let name = try ItemName(path)
        #expect(name.service == service)
        #expect(name.account == account)
        #expect(name.components.map(String.init) == components)
    }

    @Test func `a slash before a combining character is a slash`() throws {
        let name = try ItemName("a/\u{301}b")
        #expect(name.components.count == 2)
        #expect(name.service == "a")
    }

    @Test func `names that differ in their bytes are different names`() throws {
        let composed = try ItemName("caf\u{E9}")
        let decomposed = try ItemName("cafe\u{301}")
        #expect(composed != decomposed)
    }

    @Test func `a name is quoted for a sentence`() throws {
        #expect(try ItemName("a/b").quoted == "'a/b'")
        #expect(try ItemName("a\n/\u{1B}[31m").quoted == #"'a\n/\u{1B}[31m'"#)
    }
}
