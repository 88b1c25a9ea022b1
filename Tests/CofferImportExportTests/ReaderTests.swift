import CofferClient
import CofferImportExport
import CofferTestSupport
import Foundation
import Testing

/// The files that other programs export, in Tests/Vectors/import.
@Suite struct ReaderTests {
    private func list(_ format: ImportFormat, _ file: String) throws -> ExchangeList {
        let bytes = try Data(contentsOf: URL(filePath: "\(Project.root)/Tests/Vectors/import/\(file)"))
        return try format.entries(of: try Secret(exposed: String(decoding: bytes, as: UTF8.self)))
    }

    /// Everything of an entry, in words.
    private func words(_ entry: ExchangeEntry) -> String {
        var parts = [entry.kind.rawValue, (entry.folder + [entry.title]).joined(separator: "/")]
        parts += entry.fields.map { "\($0.name)=\($0.value.exposeText() ?? "?")" }
        if let server = entry.server { parts.append("server=\(server.account) \(server.url) \(server.domain)") }
        if let whole = entry.whole?.exposeText() { parts.append("whole=\(whole)") }
        if let notes = entry.notes?.exposeText() { parts.append("notes=\(notes)") }
        if !entry.tags.isEmpty { parts.append("tags=\(entry.tags.joined(separator: ","))") }
        if let created = entry.dates.created { parts.append("created=\(ExchangeDate.iso(created))") }
        if let modified = entry.dates.modified { parts.append("modified=\(ExchangeDate.iso(modified))") }
        if let expires = entry.dates.expires { parts.append("expires=\(ExchangeDate.iso(expires))") }
        parts += entry.attachments.map { "file=\($0.name):\($0.content.exposeText() ?? "?")" }
        return parts.joined(separator: "|")
    }

    private func expect(
        _ format: ImportFormat,
        _ file: String,
        _ expected: [String],
        remarks: [String] = []
    ) throws {
        let list = try list(format, file)
        #expect(list.entries.map(words) == expected)
        #expect(list.remarks + list.omissions.map(\.words) == remarks)
    }

    @Test func `Bitwarden's logins, notes and cards are read with folders, fields and one-time keys`() throws {
        try expect(
            .bitwarden,
            "bitwarden.json",
            [
                "login|Work/Servers/GitHub|password=correct \"horse\"|username=nina|url=https://github.com/login"
                    + "|url 2=https://gist.github.com|otp=otpauth://totp/GitHub?secret=JBSWY3DPEHPK3PXP"
                    + "|Security question pet=Rex|notes=first line\nsecond line|tags=favorite"
                    + "|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z",
                "note|Wi-Fi / guest|notes=the code is 1234\nask Otto: he knows\n",
                "card|Visa|cardholderName=Nina Example|brand=Visa|number=4111111111111111|expMonth=4|expYear=2031|code=123",
                "login|Mail|password=pw-mail|username=nina@example.com|notes=a: b\nusername: not this one",
            ],
            remarks: ["item 5 'Gone' is left out: it is in the trash"]
        )
    }

    @Test(
        arguments: [
            (
                "chrome.csv",
                [
                    "login|github.com|password=pw-chrome|username=nina|url=https://github.com/",
                    "login|example.com|password=a,\"b\"|username=nina|url=https://example.com/|notes=two\nlines",
                    "login|example.com|password=pw-otto|username=otto|url=https://example.com/",
                ]
            ),
            (
                "firefox.csv",
                [
                    "login||password=pw-firefox|username=nina|url=https://github.com|created=2022-04-15T05:20:00.000Z"
                        + "|modified=2022-04-15T05:20:00.001Z"
                ]
            ),
            (
                "safari.csv",
                [
                    "login|GitHub (nina)|password=pw-safari|username=nina|url=https://github.com/"
                        + "|otp=otpauth://totp/GitHub:nina?secret=JBSWY3DPEHPK3PXP"
                ]
            ),
            (
                "lastpass.csv",
                [
                    "login|Work/Code/GitHub|password=pw-lastpass|username=nina|url=https://github.com"
                        + "|otp=otpauth://totp/GitHub?secret=JBSWY3DPEHPK3PXP|tags=favorite",
                    "note|Door|notes=a note of two\nlines",
                ]
            ),
            (
                "1password.csv",
                [
                    "login|GitHub|password=pw-1password|username=nina|url=https://github.com|Recovery=rec-123"
                        + "|tags=favorite,work,code"
                ]
            ),
            (
                "keepassxc.csv",
                [
                    "login|Work/GitHub|password=pw-keepassxc|username=nina|url=https://github.com|otp=otpauth://totp/"
                        + "GitHub:nina?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=GitHub"
                        + "|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z",
                    "login|Bank|password=pw-bank|username=nina|created=2023-01-02T03:04:05.000Z"
                        + "|modified=2024-05-06T07:08:09.000Z",
                ]
            ),
            (
                "bitwarden.csv",
                [
                    "login|Work/GitHub|password=pw-bitwarden-csv|username=nina|url=https://github.com"
                        + "|otp=otpauth://totp/GitHub?secret=JBSWY3DPEHPK3PXP|pin=1234|place=home|tags=favorite"
                ]
            ),
        ]
    )
    func `each dialect of CSV is known by its first line`(file: String, expected: [String]) throws {
        try expect(.csv, file, expected)
    }

    @Test func `the XML of KeePass comes with groups, attached files and expiry, and without its recycle bin`() throws {
        try expect(
            .keepassXML,
            "keepass.xml",
            [
                "login|Mail & News|password=p<w>&raw;|username=nina|url=https://mail.example.com"
                    + "|otp=otpauth://totp/Mail:nina?secret=JBSWY3DPEHPK3PXP&period=30|PIN=4711|tags=work,code"
                    + "|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z"
                    + "|expires=2031-01-01T00:00:00.000Z|file=hello.txt:hello attachment\n",
                "login|Servers/db|password=pw-db",
            ],
            remarks: ["line 46 'gone' is left out: it is in the recycle bin"]
        )
    }

    @Test func `a netrc has machines, a default, quotes and macros`() throws {
        try expect(
            .netrc,
            "netrc",
            [
                "login|github.com/nina|password=pw-netrc|username=nina",
                "login|example.com/otto|password=with \"space\"|username=otto",
                "login|last.example.com/eve|password=pw-last|username=eve|account=staff",
                "login|default/anonymous|password=guest|username=anonymous",
            ],
            remarks: ["line 6 'macdef' is left out: a macro has no password"]
        )
    }

    @Test func `the credentials of git and docker are for a server`() throws {
        try expect(
            .gitCredentials,
            "git-credentials",
            [
                "credential||password=pw:git|server=nina https://github.com ",
                "credential||password=pw-otto|server=otto https://example.com:8443/group/repo.git ",
            ]
        )
        try expect(
            .docker,
            "docker-config.json",
            [
                "credential||password=pw-docker|server=nina https://index.docker.io/v1/ docker",
                "credential||password=pw-registry|server=otto registry.example.com:5000 docker",
            ],
            remarks: ["the registry 'quay.io' is left out: it has no credentials in the file"]
        )
    }

    @Test func `pgpass and dotenv have an entry in each line`() throws {
        try expect(
            .pgpass,
            "pgpass",
            [
                "login|localhost/shop/nina|password=pw:pg|username=nina|host=localhost|port=5432|database=shop",
                "login|any/any/otto|password=any\\where|username=otto|host=*|port=*|database=*",
            ]
        )
        try expect(
            .dotenv,
            "dotenv",
            [
                "variable|DATABASE_URL|whole=postgres://nina:pw@localhost/shop\nx",
                "variable|QUOTED|whole=single $HOME", "variable|API_KEY|whole=second",
            ],
            remarks: [
                "line 4 'EMPTY' is left out: it has nothing but its name",
                "line 3 'API_KEY' is left out: a later line sets it again",
            ]
        )
    }

    @Test func `the texts of macOS and of the Secret Service are read`() throws {
        try expect(
            .macosKeychain,
            "macos-keychain.txt",
            [
                "secret|Backup/nina|password=pw-backup|username=nina",
                "login|github.com/nina|password=päw|username=nina|url=https://github.com/",
            ],
            remarks: ["line 23 is left out: it is a key or a certificate"]
        )
        try expect(
            .secretService,
            "secret-service.txt",
            [
                "secret|Backup of nina|password=line one\nline two|username=nina|service=backup"
                    + "|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z",
                "secret|Wi-Fi|password=pw-wifi|server=router|created=2023-01-02T03:04:05.000Z"
                    + "|modified=2024-05-06T07:08:09.000Z",
            ]
        )
    }

    @Test func `the Credential Exchange Format comes with collections and unknown credentials`() throws {
        try expect(
            .cxf,
            "cxf.json",
            [
                "login|Work/GitHub|password=pw-cxf|username=nina|url=https://github.com|otp=otpauth://totp/nina"
                    + "?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=8&period=60&issuer=GitHub|PIN=4711"
                    + "|notes=a note|tags=code,favorite|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z",
                "secret|API|api-key key=key-123|api-key keyType=bearer",
            ],
            remarks: [
                "item 1 'GitHub': the attached file 'scan.pdf' is left out: the JSON has no bytes of files"
            ]
        )
    }

    @Test func `one entry stops no other, and each that is not stored whole is named`() throws {
        func omissions(_ format: ImportFormat, _ text: String) throws -> (titles: [String], words: [String]) {
            let list = try format.entries(of: try Secret(exposed: text))
            return (list.entries.map(\.title), list.omissions.map(\.words))
        }
        let json = """
            {"items": [{"type": 1, "name": "a", "login": {"password": "x", "later": {"y": [1, 2]}}}, 7,
            {"type": 9, "name": "b", "bank": {"iban": "DE1"}}, {"type": 2, "name": "c"}]}
            """
        let bitwarden = try omissions(.bitwarden, json)
        #expect(bitwarden.titles == ["a", "b"])
        #expect(
            bitwarden.words == [
                "item 2 is left out: item 2 has no 'type'", "item 4 'c' is left out: it has nothing but its name",
            ]
        )
        let csv = try omissions(.csv, "name,password\na,1\nb\nc,x\"y\nd,2\n")
        #expect(csv.titles == ["a", "d"])
        #expect(csv.words.count == 2)
        #expect(try omissions(.dotenv, "A=1\nhello\nB=2\n").words == ["line 2 is left out: NAME=value is expected"])
        #expect(try omissions(.pgpass, "h:1:d:u:p\na:b\n").words.count == 1)
        #expect(try omissions(.docker, #"{"auths": {"a": {"auth": "%"}, "b": {"auth": "YTpi"}}}"#).words.count == 1)
    }

    @Test(arguments: [
        ("steam://ABCDEFGHIJKLMNOP", "steam://ABCDEFGHIJKLMNOP"),
        ("otpauth://totp/Steam:me?secret=ABCDEFGHIJKLMNOP&issuer=Steam&encoder=steam", "steam://ABCDEFGHIJKLMNOP"),
        ("otpauth://totp/me?secret=ABCDEFGHIJKLMNOP", "otpauth://totp/me?secret=ABCDEFGHIJKLMNOP"),
    ])
    func `the codes of Steam are exported as Bitwarden reads them`(given: String, written: String) throws {
        let json = #"{"items": [{"type": 1, "name": "a", "login": {"totp": "\#(given)"}}]}"#
        let entries = try ImportFormat.bitwarden.entries(of: try Secret(exposed: json)).entries
        let text = try ExportFormat.bitwarden.text(of: entries, at: 0).exposeText()
        let found = try #require(text?.firstMatch(of: /"totp": *"([^"]*)"/))
        #expect(found.1.replacing("\\/", with: "/") == written)
        let again = try ImportFormat.bitwarden.entries(of: try Secret(exposed: text ?? "")).entries
        let kept = try #require(again.first?["otp"]?.exposeText())
        #expect(kept.hasPrefix("otpauth://totp/") && kept.hasSuffix("encoder=steam") == written.hasPrefix("steam:"))
    }

    @Test func `KeePass's own one-time codes and those of its plugins become the field otp`() throws {
        func entry(_ fields: [(String, String)]) throws -> ExchangeEntry {
            let strings = fields.map { "<String><Key>\($0.0)</Key><Value>\($0.1)</Value></String>" }.joined()
            let xml = "<KeePassFile><Root><Group><Entry>\(strings)</Entry></Group></Root></KeePassFile>"
            return try #require(try ImportFormat.keepassXML.entries(of: try Secret(exposed: xml)).entries.first)
        }
        let key = "JBSWY3DPEHPK3PXP"
        let own = try entry([
            ("TimeOtp-Secret-Base32", key), ("TimeOtp-Length", "8"), ("TimeOtp-Algorithm", "HMAC-SHA-256"),
        ])
        #expect(own["otp"]?.exposeText() == "otpauth://totp/key?secret=\(key)&digits=8&algorithm=HMAC-SHA-256")
        #expect(own.fields.count == 1)
        let hex = try entry([("HmacOtp-Secret-Hex", "48656c6c6f21deadbeef"), ("HmacOtp-Counter", "3")])
        #expect(hex["otp"]?.exposeText() == "otpauth://hotp/key?secret=\(key)&counter=3")
        let tray = try entry([("TOTP Seed", "jbsw y3dp ehpk 3pxp"), ("TOTP Settings", "30;S")])
        #expect(tray["otp"]?.exposeText() == "otpauth://totp/key?secret=\(key)&encoder=steam&period=30")
        let other = try entry([("otp", "key=\(key)&amp;step=60&amp;size=8")])
        #expect(other["otp"]?.exposeText() == "otpauth://totp/key?secret=\(key)&period=60&digits=8")
        let odd = try entry([("TimeOtp-Secret-Base32", key), ("TimeOtp-Length", "9")])
        #expect(odd["TimeOtp-Length"]?.exposeText() == "9" && odd["otp"] == nil)
    }

    @Test func `the data of 1Password names the files of its archive`() throws {
        let bytes = try Data(contentsOf: URL(filePath: "\(Project.root)/Tests/Vectors/import/1pux.json"))
        let list = try OnePUXReader.entries(
            of: try Secret(exposed: String(decoding: bytes, as: UTF8.self)),
            files: ["export.data", "files/doc1__hello.txt"]
        ) { (name) throws(CofferError) in try Secret(exposed: "content of \(name)") }
        #expect(
            list.entries.map(words) == [
                "login|GitHub|password=pw-1pux|username=nina|url=https://github.com"
                    + "|otp=otpauth://totp/GitHub:nina?secret=JBSWY3DPEHPK3PXP|PIN=4711|since=2023-01-02|notes=a note"
                    + "|tags=work,two words,favorite|created=2023-01-02T03:04:05.000Z|modified=2024-05-06T07:08:09.000Z"
                    + "|file=hello.txt:content of files/doc1__hello.txt"
            ]
        )
    }

    @Test func `a file of 1Password that its archive lacks, and a reference to another item, are named alone`() throws {
        let json = """
            {"accounts": [{"vaults": [{"items": [
            {"overview": {"title": "bank"}, "details": {"password": "x", "sections": [{"fields": [
                {"title": "scan", "value": {"file": {"fileName": "scan.pdf", "documentId": "gone"}}},
                {"title": "letter", "value": {"file": {"fileName": "letter.pdf", "documentId": "bad"}}},
                {"title": "card", "value": {"reference": "item3"}},
                {"title": "PIN", "value": {"concealed": "4711"}}]}]}},
            {"overview": {"title": "passport"}, "details": {
                "documentAttributes": {"fileName": "page.png", "documentId": "lost"}}},
            {"overview": {"title": "will"}, "details": {
                "documentAttributes": {"fileName": "will.txt", "documentId": "here"}}}
            ]}]}]}
            """
        let list = try OnePUXReader.entries(
            of: try Secret(exposed: json),
            files: ["export.data", "files/bad__letter.pdf", "files/here__will.txt"]
        ) { (name: String) throws(CofferError) -> Secret in
            guard name == "files/here__will.txt" else { throw CofferError(.io, "the archive is damaged") }
            return try Secret(exposed: "content of \(name)")
        }
        #expect(
            list.entries.map(words) == [
                "secret|bank|password=x|PIN=4711", "secret|will|file=will.txt:content of files/here__will.txt",
            ]
        )
        #expect(
            list.omissions.map(\.words) == [
                "item 1 'bank': the field 'card' is left out: it refers to another item",
                "item 1 'bank': the attached file 'scan.pdf' is left out: its bytes are not in the archive",
                "item 1 'bank': the attached file 'letter.pdf' is left out: the archive is damaged",
                "item 2 'passport': the attached file 'page.png' is left out: its bytes are not in the archive",
            ]
        )
    }
}
