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
    }
}
