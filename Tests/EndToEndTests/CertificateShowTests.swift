import CofferTestSupport
import Foundation
import Testing

/// `coffer show` says what `openssl x509` says of a certificate.
@Suite struct CertificateShowTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func shell(_ commands: String) throws -> String {
        let result = try runCommand("/bin/sh", ["-ec", commands], directory: daemon.directory.path)
        try #require(result.status == 0, "\(commands): \(result.errors)")
        return String(decoding: result.output, as: UTF8.self)
    }

    /// Makes the certificate `cert`, and adds it.
    private func add(_ commands: String) throws {
        _ = try shell("openssl ecparam -name prime256v1 -genkey -noout -out key; \(commands)")
        let file = "\(daemon.directory.path)/cert"
        let added = try daemon.coffer(["keychain", "add", file, "--class", "certificate", "--label", "it"])
        try #require(added.status == 0, "\(added.errors)")
    }

    /// The lines of `coffer show`, by their labels.
    private func show(timeZone: String = "UTC") throws -> [String: String] {
        let shown = try runCommand(
            "\(Project.binaries)/coffer",
            ["show", "certificate:it"],
            environment: ["COFFER_SOCKET": daemon.socketPath, "TZ": timeZone]
        )
        try #require(shown.status == 0, "\(shown.errors)")
        let lines = shown.text.split(separator: "\n").compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        return Dictionary(lines, uniquingKeysWith: { first, _ in first })
    }

    /// What `openssl x509` prints behind the equals sign.
    private func openssl(_ options: String) throws -> String {
        let names = "-nameopt esc_2253,utf8,sname,sep_comma_plus_space -dateopt iso_8601"
        let text = try shell("openssl x509 -in cert -noout \(names) \(options)")
        let value = try #require(text.firstIndex(of: "="))
        return text[text.index(after: value)...].trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(arguments: [
        (subject: "/C=DE/O=Example/CN=example.org", days: 30),
        (subject: "/DC=org/DC=example/OU=a, b;c/CN=Ärger \\\"x\\\" #1/emailAddress=me@example.org", days: 10_000),
        (subject: "/serialNumber=12/L=Berlin+ST=Berlin/UID=me/GN=A/SN=B/title=Dr", days: 365),
        (subject: "/CN= edge /1.2.3.4.5=none", days: 1), (subject: "/CN=#x/OU=<a>", days: 2),
    ])
    func `a certificate is shown as openssl shows it`(subject: String, days: Int) throws {
        let oid = "-config extra.cnf"
        _ = try shell(
            """
            printf 'oid_section = new\\n[new]\\nplain = 1.2.3.4.5\\n[req]\\ndistinguished_name = dn\\n[dn]\\n' >extra.cnf
            """
        )
        try add(
            "openssl req -x509 -key key \(oid) -utf8 -multivalue-rdn -subj \"\(subject)\" -days \(days) -out cert 2>/dev/null"
        )
        let shown = try show()
        #expect(try shown["subject"] == openssl("-subject"))
        #expect(try shown["issuer"] == openssl("-issuer"))
        #expect(try shown["valid from"] == openssl("-startdate").replacing("Z", with: " UTC"))
        #expect(try shown["valid until"] == openssl("-enddate").replacing("Z", with: " UTC"))
        #expect(try shown["fingerprint"] == "SHA-256 \(openssl("-fingerprint -sha256"))")
        #expect(try shown["serial number"]?.replacing(":", with: "") == openssl("-serial"))
        #expect(shown["also for"] == nil)
    }

    @Test func `the names it is also for are shown with their kinds`() throws {
        let names = "DNS:example.org,DNS:*.example.org,IP:192.0.2.7,email:me@example.org,URI:https://example.org/a"
        try add(
            """
            openssl req -x509 -key key -subj /CN=a -days 1 -out cert \
            -addext 'subjectAltName=\(names),IP:2001:db8::1,RID:1.2.3,otherName:1.2.3;UTF8:x'
            """
        )
        let text = try shell("openssl x509 -in cert -noout -text")
        let line = try #require(text.split(separator: "\n").first { $0.contains("DNS:example.org") })
        let expected = line.replacing("IP Address:", with: "IP:").trimmingCharacters(in: .whitespaces)
        let shown = try #require(try show()["also for"])
        let start = try #require(expected.range(of: ", IP:2001")).lowerBound
        #expect(shown.hasPrefix("\(expected[..<start]), IP:2001:db8::1, ID:1.2.3, other:"), "\(shown)")
    }

    @Test func `the dates are in the zone of the person, and a past one says so`() throws {
        try add(
            """
            openssl req -x509 -key key -subj /CN=a -days 1 -out first
            openssl x509 -in first -signkey key -days -1 -out cert 2>/dev/null
            """
        )
        let (here, there) = (try show(), try show(timeZone: "XST-9"))
        #expect(here["valid until"]?.hasSuffix(" UTC (it has ended)") == true, "\(here)")
        #expect(there["valid until"]?.hasSuffix(" XST (it has ended)") == true, "\(there)")
        #expect(here["valid from"]?.hasSuffix(" UTC") == true)
        #expect(here["valid from"]?.prefix(16) != there["valid from"]?.prefix(16))
    }

    @Test func `while it is locked, its names are shown without the rest`() throws {
        try add("openssl req -x509 -key key -subj /CN=a/O=b -days 1 -out cert")
        let locked = try daemon.coffer(["lock", "--now"])
        #expect(locked.status == 0, "\(locked.errors)")
        let shown = try show()
        #expect(shown["subject"] == "CN=a, O=b" && shown["issuer"] == "CN=a, O=b", "\(shown)")
        #expect(shown["valid until"] == nil && shown["fingerprint"] == nil)
    }
}
