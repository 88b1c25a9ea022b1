import CofferCore
import CofferRouting
import Testing

@Suite struct SecretTextTests {
    private static func looks(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return looksSecret(bytes.span.bytes)
    }

    @Test(arguments: [
        "DB_HOST=localhost\nDB_PORT=5432\n", "# made by hand\nexport A=1\n\nB='x y'\n",
        "{\"type\": \"service_account\", \"private_key\": \"-----BEGIN\"}", "[default]\naws_secret_access_key = abc\n",
        "apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user:\n    client-key-data: TUlJ\n",
        "# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t0\tsid\t1\n",
        "machine example.com login nina password x\n",
        "//registry.npmjs.org/:_authToken=npm_x\n[a]\nb=1\nclientSecret=2",
        "{\"auths\":{\"a\":{\"identitytoken\":\"x\"}}}",
        "user: nina\napi-key: 17\n", "[section]\nPassPhrase: x\n",
    ])
    func `a form in which programs keep secrets looks secret`(text: String) { #expect(Self.looks(text)) }

    @Test(arguments: [
        "", "one line", "A=1\n", "Dear Nina,\nthe password: is on the note.\n",
        "import Foundation\nlet password: String\n",
        "name: x\ncolour: red\n", "{\"name\": \"x\", \"tokens\": 4}", "#!/bin/sh\necho hello\n",
        "<a href=\"x\">secret</a>",
        "\u{0}\u{1}password=1\n", "GIF89a password=",
    ])
    func `prose, code, settings and binary content do not`(text: String) { #expect(!Self.looks(text)) }

    @Test(arguments: [1025, 4096, 4097, 40_000])
    func `a long file of variables goes to the keychain or is complete, as a pipe or as a file`(count: Int) throws {
        let line = "KEY_NAME=some value that is long enough\n"
        let text = Array(String(repeating: line, count: count / line.utf8.count + 1).utf8.prefix(count))
        for isFile in [false, true] {
            var options = PlacementOptions()
            options.isPresentedAsFile = isFile
            let prefix = Array(text.prefix(32_769))
            let facts = RoutingFacts(
                prefix.span.bytes,
                size: .exactly(Int64(count)),
                options,
                formerKind: nil,
                isInDirectory: false
            )
            let verdict = try Routing.route(facts)
            #expect(verdict.protection == (count <= 4096 && !isFile ? .keychain(.whenUnlocked) : .file(.complete)))
        }
    }
}
