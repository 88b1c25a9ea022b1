import CofferTestSupport
import Foundation
import Testing

/// Every program that writes a login, and every one that reads it, for one address and one user.
@Suite struct LoginMatrixTests {
    /// The programs that store the login of nina at git.example.
    enum Writer: String, CaseIterable {
        case loginAdd, bitwarden, csv, git, docker, cargo, keychainAdd

        /// The line that stores it.
        var line: String {
            switch self {
            case .loginAdd: "printf pw | coffer login add work/site --username nina --url https://git.example/login"
            case .bitwarden: "coffer import bitwarden login.json"
            case .csv: "coffer import csv login.csv"
            case .git:
                "printf 'protocol=https\\nhost=git.example\\nusername=nina\\npassword=pw\\n' | git-credential-coffer store"
            case .docker:
                #"printf '{"ServerURL":"https://git.example","Username":"nina","Secret":"pw"}' | docker-credential-coffer store"#
            case .cargo:
                #"printf '{"v":1,"registry":{"index-url":"https://git.example","name":"nina"},"kind":"login","token":"pw"}\n' | cargo-credential-coffer --cargo-plugin"#
            case .keychainAdd:
                "printf pw | coffer keychain add --class internet-password --server git.example --protocol https --account nina"
            }
        }

        /// The name of the item.
        var name: String {
            switch self {
            case .loginAdd, .bitwarden, .csv: "work/site"
            case .git, .docker, .cargo, .keychainAdd: "login:nina@git.example"
            }
        }
    }

    /// The programs that read it.
    enum Reader: String, CaseIterable {
        case findUser, findHost, findAddress, git, docker, username, password, url, export

        func line(of name: String) -> String {
            switch self {
            case .findUser: "coffer find nina"
            case .findHost: "coffer find git.example"
            case .findAddress: "coffer find https://git.example/any"
            case .git: "printf 'protocol=https\\nhost=git.example\\n' | git-credential-coffer get"
            case .docker: "printf https://git.example | docker-credential-coffer get"
            case .username, .password, .url: "coffer get \(name) --field \(rawValue)"
            case .export: "coffer export --all --format csv --yes --passcode-fd 3 --output - 3<pass"
            }
        }

        /// Whether an output is that of the login.
        func isFound(_ text: String, under name: String) -> Bool {
            switch self {
            case .findUser, .findHost, .findAddress: text == "\(name)\n"
            case .git: text == "username=nina\npassword=pw\n"
            case .docker: text == #"{"ServerURL":"https://git.example","Username":"nina","Secret":"pw"}"# + "\n"
            case .username: text == "nina"
            case .password: text == "pw"
            case .url: text.hasPrefix("https://git.example")
            case .export: ["nina", "pw", "https://git.example"].allSatisfy { text.contains($0) }
            }
        }
    }

    /// The pairs that do not meet, each with the reason.
    static func reason(_ writer: Writer, _ reader: Reader) -> String? {
        switch (writer, reader) {
        case (.cargo, .git), (.cargo, .docker): "a token of a registry of crates is no password of its server"
        case (.docker, .git): "what docker stores may be a token for images alone, which the server refuses to git"
        default: nil
        }
    }

    @Test(arguments: Writer.allCases)
    func `what a program stores, each of the others finds`(writer: Writer) throws {
        let scene = try CredentialScene()
        try scene.write("\(DaemonProcess.passcode)", to: "pass")
        let row = "work,site,nina,pw,https://git.example/login"
        try scene.write("folder,title,username,password,url\n\(row)\n", to: "login.csv")
        try scene.write(
            """
            {"encrypted": false, "folders": [{"id": "1", "name": "work"}], "items": [{"id": "2", "folderId": "1", "type": 1,
            "name": "site", "login": {"username": "nina", "password": "pw",
            "uris": [{"uri": "https://git.example/login"}, {"uri": "https://other.example"}]}}]}
            """,
            to: "login.json"
        )
        let stored = try scene.run(writer.line)
        #expect(stored.status == 0, "\(stored)")
        for reader in Reader.allCases {
            let read = try scene.run(reader.line(of: writer.name))
            let isExpected = Self.reason(writer, reader) == nil
            #expect(reader.isFound(read.text, under: writer.name) == isExpected, "\(writer) × \(reader): \(read)")
        }
        // Its user name and its address are attributes, so that a locked vault has them as well.
        let locked = try scene.run("coffer lock --now >/dev/null; coffer find https://git.example/any")
        #expect(locked.text == "\(writer.name)\n", "\(writer): \(locked)")
        let shown = try scene.run("coffer show \(writer.name) --json")
        let item = try JSONDecoder().decode(Shown.self, from: Data(shown.text.utf8))
        #expect(item.username == "nina" && item.addresses.first == "https://git.example", "\(writer): \(shown)")
    }

    /// What `show` says of a login, in either of the two classes that a login can have.
    private struct Shown: Decodable {
        let `class`: String
        let attributes: Attributes
        let user: [String: String]?

        struct Attributes: Decodable {
            let account: String?
            let `protocol`: String?
            let server: String?
        }

        private var isServers: Bool { `class` == "internetPassword" }
        var username: String? { isServers ? attributes.account : user?["username"] }
        var addresses: [String] {
            guard isServers else { return (user?["url"] ?? "").split(separator: " ").map(String.init) }
            return ["\(attributes.protocol ?? "")://\(attributes.server ?? "")"]
        }
    }

    @Test func `a look-up shows the programs no login of another server`() throws {
        let scene = try CredentialScene()
        let all = try scene.run(
            """
            records() { for name in other/site login:eve@other.example; do coffer audit --item $name; done | wc -l; }
            printf pw | coffer login add work/site --username nina --url https://git.example/login >/dev/null
            printf pw | coffer login add other/site --username eve --url https://other.example >/dev/null
            printf pw | coffer keychain add --class internet-password --server other.example --protocol https --account eve >/dev/null
            before=$(records); printf 'protocol=https\\nhost=git.example\\n' | git-credential-coffer get
            printf 'protocol=https\\nhost=none.example\\n' | git-credential-coffer get
            printf https://none.example | docker-credential-coffer get; [ "$before" -ge 2 ] && [ "$(records)" = "$before" ]
            """
        )
        let expected = "username=nina\npassword=pw\ncredentials not found in native keychain\n"
        #expect(all.status == 0 && all.text == expected, "\(all)")
    }
}
