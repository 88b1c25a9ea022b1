import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Any text goes through the command line and comes out in JSON as it is; a terminal never gets what it would obey.
@Suite struct NaughtyStringsTests {
    /// A vault with an item for each string of some, and an item of the one namespace where it is a name.
    private func vault(_ texts: [String]) throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        for text in texts {
            try client.add(
                .internetPassword,
                [.account: .text(text), .server: .text(text), .label: .text(text), .comment: .text(text)],
                Array(text.utf8),
                user: [AttributeName(text): text]
            )
            if (try? ItemName(text)) != nil { try client.put(text, Array(text.utf8)) }
        }
        return daemon
    }

    /// A line of JSON, parsed by another program than the tested one.
    private struct Line: Decodable {
        struct Attributes: Decodable {
            let account: String
            let server: String
            let label: String
            let comment: String
        }

        let name: String?
        let attributes: Attributes?
        let user: [String: String]?
    }

    private func lines(_ text: String) throws -> [Line] {
        try text.utf8.split(separator: 10).map { try JSONDecoder().decode(Line.self, from: Data($0)) }
    }

    @Test func `in JSON every text is what it was`() throws {
        let texts = NaughtyStrings.all
        let daemon = try vault(texts)
        let all = try daemon.coffer(["keychain", "find", "--class", "internet-password", "--all", "--json"])
        #expect(all.status == 0, "\(all.errors)")
        let items = try lines(all.text)
        #expect(items.count == texts.count)
        for (item, text) in zip(items, texts) {
            let attributes = try #require(item.attributes)
            let raw = Array(text.utf8)
            for found in [attributes.account, attributes.server, attributes.label, attributes.comment] {
                #expect(Array(found.utf8) == raw, "\(text.debugDescription)")
            }
            #expect(item.user?.map { Array($0.key.utf8) } == [raw])
            #expect(item.user?.map { Array($0.value.utf8) } == [raw])
        }
        let names = try lines(daemon.coffer(["list", "--json"]).text).compactMap { $0.name.map { Array($0.utf8) } }
        let expected = texts.filter { (try? ItemName($0)) != nil }.map { Array($0.utf8) }
        // The logins are listed, too: what can't be named by its texts is named by its reference.
        #expect(Set(names).isSuperset(of: expected))
        #expect(names.count == expected.count + texts.count)
        // A line of JSON has nothing in it that would end it.
        let controls = all.output.filter { $0 < 0x20 && $0 != 10 }
        #expect(controls == [])
    }

    /// An option with its value: a value that begins like an option has to be in one argument with it, and one that begins with
    /// a mark that combines with what is in front of it must not be.
    private func option(_ name: String, _ text: String) -> [String] {
        "=\(text)".first == "=" ? ["\(name)=\(text)"] : [name, text]
    }

    @Test func `as arguments they find their item and no other one`() throws {
        // An argument has no NUL; and U+FFFD replaces what was not UTF-8.
        let texts = NaughtyStrings.all.filter {
            !$0.unicodeScalars.contains("\0") && !$0.unicodeScalars.contains("\u{FFFD}")
        }
        let sample = stride(from: 0, to: texts.count, by: 12).map { texts[$0] }
        let daemon = try vault(sample)
        for text in sample {
            let found = try daemon.coffer(
                ["keychain", "find", "--class=internet-password"] + option("--account", text) + option("--label", text)
                    + [
                        "--contains=server=\(text)", "--prefix=label=\(text)", "--other=comment=\(text)",
                    ]
            )
            #expect(found.status == 0, "\(text.debugDescription): \(found.errors)")
            #expect(found.output == Array(text.utf8), "\(text.debugDescription)")
            guard (try? ItemName(text)) != nil else { continue }
            let content = try daemon.coffer(["get", "--", text])
            #expect(content.output == Array(text.utf8), "\(text.debugDescription): \(content.errors)")
        }
    }

    @Test func `go in by arguments as they are`() throws {
        let texts = NaughtyStrings.all.filter {
            !$0.unicodeScalars.contains("\0") && !$0.unicodeScalars.contains("\u{FFFD}")
        }
        let sample = stride(from: 3, to: texts.count, by: 12).map { texts[$0] }
        let daemon = try vault([])
        for text in sample {
            let added = try daemon.coffer(
                ["keychain", "add"] + option("--account", text) + option("--label", text) + ["--attribute=n=\(text)"],
                input: Array(text.utf8)
            )
            #expect(added.status == 0, "\(text.debugDescription): \(added.errors)")
        }
        let items = try daemon.connect().find(KeychainQuery(.genericPassword)).page.items
        #expect(items.count == sample.count)
        for (item, text) in zip(items, sample) {
            let raw = Array(text.utf8)
            for attribute in [KeychainAttribute.account, .label] {
                guard case .text(let stored) = item.attributes?[attribute] else { continue }
                #expect(Array(stored.utf8) == raw)
            }
            #expect(item.user.map { Array(($0["n"] ?? "").utf8) } == raw)
        }
    }

    @Test func `a terminal gets no control character, whatever is listed or refused`() throws {
        let texts = NaughtyStrings.all
        let daemon = try vault(texts)
        let names = texts.filter { (try? ItemName($0)) != nil && !$0.unicodeScalars.allSatisfy(\.isASCII) }
        let files = try names.prefix(40).enumerated().map { number, text in
            try daemon.directory.write(Array(text.utf8), to: "name-\(number)")
            return "name-\(number)"
        }
        let shows = files.map { "coffer show -- \"$(cat \($0))\"" }.joined(separator: "; ")
        let commands = [
            "coffer keychain find --class internet-password --all", "coffer list", "coffer list --long",
            "coffer keychain find --class internet-password --all --attributes",
            "coffer keychain find --class internet-password --all --json", "coffer list --json",
            "coffer keychain find --account $'\\e[2J\\u202e\\u009b31m'", "coffer get $'no\\e[31msuch\\u202ething'",
            "coffer keychain find --other $'\\e[31m=x'", "coffer keychain find --reference $'\\e[31m'",
            "coffer keychain add --attribute $'\\e[31m=x' --attribute $'\\e[31m=y' </dev/null", shows,
            "coffer remove $'\\e[2J\\u202e'", "coffer keychain update --account $'\\e[2J' --set $'\\e[2J=x'",
            "coffer keychain add $'/no/such/\\e[2J'",
        ]
        for command in commands {
            let shown = try onTerminal(daemon, command).shown
            #expect(!shown.isEmpty)
            let obeyed = shown.unicodeScalars.filter { scalar in
                switch scalar.properties.generalCategory {
                case .control: scalar != "\r" && scalar != "\n"
                case .format, .lineSeparator, .paragraphSeparator: true
                default: false
                }
            }
            #expect(obeyed.isEmpty, "\(command.prefix(80)): \(Set(obeyed.map { String($0.value, radix: 16) }))")
        }
    }

    @Test func `a line of a list is one line on a terminal, whatever is in its texts`() throws {
        let texts = ["a\nb", "a\rb", "a\u{2028}b", "a\u{85}b", "a\u{B}b"]
        let daemon = try vault(texts)
        let lists = try [
            "coffer keychain find --class internet-password --all", "coffer list",
        ].map { try onTerminal(daemon, $0).shown }
        // The list has the passwords of these names and the logins with these texts.
        #expect(lists.map { $0.split(separator: "\r\n").count } == [texts.count, 2 * texts.count])
    }
}
