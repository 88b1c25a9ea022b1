import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a terminal gets to see of a daemon that sends whatever the protocol allows, and more.
@Suite struct HostileDaemonTests {
    @Test(arguments: HostileCase.all)
    func `no text of an answer or an error is obeyed by a terminal`(verb: HostileCase) throws {
        let conversation = try HostileConversation(verb)
        var methods: Set<String> = []
        for choice in 0...1 {
            let asked = try conversation.check(.init(choice: choice))
            methods.formUnion(asked)
            for index in asked.indices { try conversation.check(.init(choice: choice, refusedIndex: index)) }
        }
        methods.formUnion(try conversation.check(.init(choice: 0, refusedIndex: 0, refusal: "interactionRequired")))
        try conversation.check(.init(choice: 0, refusedIndex: 0, refusal: "decode"))
        #expect(methods.subtracting(["hello"]) == Set(verb.methods))
    }

    @Test(arguments: HostileCase.all)
    func `nor is a word or a number of a form that it has not`(verb: HostileCase) throws {
        let conversation = try HostileConversation(verb)
        for index in verb.methods.indices {
            var broken = 0
            while broken < conversation.boundCounts[index] {
                try conversation.check(.init(choice: 0, broken: (verb.methods[index], broken)))
                broken += 1
            }
        }
    }

    @Test func `every verb is tried, with every method`() throws {
        let dump = try runCommand("\(Project.binaries)/coffer", ["--experimental-dump-help"]).output
        let command = try #require(try JSONValue(parsing: dump.span.bytes).objectValue?["command"])
        let tried = Set(HostileCase.all.map { $0.verb.joined(separator: " ") })
        var apart: Set = ["device-key check", "device-key seal", "entitlement check", "login disable", "help"]
        apart.insert("clear-clipboard")
        // Their requests depend on what the daemon answers: they are those of show, get, put and keychain update.
        apart.formUnion(["copy", "duplicate", "edit", "generate", "login add", "otp add", "otp code"])
        apart.formUnion(["setup", "run", "inject", "import", "export", "send", "receive"])
        // The one talks to two daemons, and the others start other programs.
        apart.formUnion(["share", "mount", "umount", "ssh-agent setup"])
        // They ask the bus, and no daemon.
        apart.formUnion(["secret-service enable", "secret-service disable", "secret-service status"])
        // They read a repository, and ask no daemon.
        apart.formUnion(["backup list", "backup inspect", "backup check", "backup forget"])
        apart.insert("backup prune")
        // The one goes on for ever, and the other needs a key.
        apart.formUnion(["ssh-agent serve", "ssh-agent import"])
        for verb in HostileCase.verbs(of: command) where !apart.contains(verb) {
            #expect(tried.contains(verb), "\(verb)")
        }
        let called = Set(HostileCase.all.flatMap(\.methods))
        for method in try OpenRPC().methods {
            let name = method["name"]?.stringValue ?? ""
            let isUncalled = method["x-uncalled"] == true || HostileCase.unreached.contains(name)
            #expect(called.contains(name) != isUncalled, "\(name)")
        }
    }

    @Test(
        arguments: [
            ["\u{1B}[31m"], ["list", "--store", "a\u{9B}31m\nb"], ["get", "a", "--\u{1B}[31m\u{202E}"],
            ["unlock", "--passcode-fd", "\u{1B}]0;a\u{7}"], ["help", "\u{1B}[31m"], ["explain", "a\u{1B}\n\u{2066}"],
            ["put", "a", "b\u{1B}\u{85}", "--kind", "c\u{200B}\r\n"], ["list", "--expiring", "\u{1B}c"],
        ]
    )
    func `an error in the command line is reported without control characters`(arguments: [String]) throws {
        let folder = try TemporaryDirectory()
        let shown = try onPlainTerminal("\(Project.binaries)/coffer", arguments + ["--no-start"], [:], in: folder)
        #expect(!shown.text.isEmpty && HostileConversation.faults(of: shown.text).isEmpty, "\(shown)")
    }

    @Test func `a daemon tells what is wrong with its command line likewise`() throws {
        let folder = try TemporaryDirectory()
        for arguments in [["--\u{1B}[31m"], ["--grace", "\u{9B}31m\n"], ["--config", "\u{1B}\u{202E}\nx"]] {
            let shown = try onPlainTerminal("\(Project.binaries)/cofferd", arguments, [:], in: folder)
            #expect(!shown.text.isEmpty && HostileConversation.faults(of: shown.text).isEmpty, "\(shown)")
        }
    }
}

/// A conversation of a verb with a daemon that poisons what it sends.
private struct HostileConversation {
    /// What the daemon does.
    struct Plan {
        var choice: Int
        /// The number of the request that it refuses.
        var refusedIndex: Int?
        /// The code of that; poison if nothing is said.
        var refusal: String?
        /// The text that is not of its form, by the method and its number.
        var broken: (method: String, number: Int)?
    }

    let verb: HostileCase
    /// Of each method, how many texts have a form.
    let boundCounts: [Int]
    private let rpc: OpenRPC
    private let folder: TemporaryDirectory

    init(_ verb: HostileCase) throws {
        self.verb = verb
        rpc = try OpenRPC()
        folder = try TemporaryDirectory()
        try folder.write(Array("pass one".utf8), to: "pass")
        try folder.write(Array(Self.serviceManager.utf8), to: "busctl", mode: 0o700)
        let rpc = rpc
        boundCounts = try verb.methods.map { method in
            var answers = HostileAnswers(rpc.document, choice: 0, fixed: verb.fixed)
            _ = try answers.value(of: Self.result(of: method, rpc))
            return answers.boundCount
        }
    }

    /// The output of 'busctl' for a unit: a credential with a hostile name.
    private static let serviceManager = #"""
        #!/bin/sh
        case "$*" in
            *LoadUnit*) echo '{"type":"o","data":["/unit"]}' ;;
            *LoadState*) echo '{"type":"s","data":"loaded"}' ;;
            *) printf '{"type":"a(ss)","data":[["a\u001b[31m\u009b","/run/coffer/credentials.sock"]]}' ;;
        esac
        """#

    /// Puts back what a run may have taken away: the mark of the vault that a login unlocks among them.
    private func prepare() throws {
        _ = unlink(folder.appending("out"))
        for name in ["new", HostileCase.repository] {
            try? FileManager.default.removeItem(atPath: folder.appending(name))
        }
        if verb.usesRepository {
            let frozen = "\(Project.root)/Tests/Vectors/backup/v1"
            try FileManager.default.copyItem(atPath: frozen, toPath: folder.appending(HostileCase.repository))
        }
        let home = folder.appending(".config/coffer")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try folder.write(Array(String(repeating: "a1", count: 16).utf8), to: ".config/coffer/login-vault")
    }

    private static func result(of method: String, _ rpc: OpenRPC) throws -> JSONValue {
        try rpc.method(method)["result"]?.objectValue?["schema"] ?? false
    }

    /// Runs the verb on a terminal, and its like with --json and without a terminal.
    ///
    /// - Returns: The methods that were called.
    @discardableResult func check(_ plan: Plan) throws -> [String] {
        let asked = Shared<[String]>([])
        let daemon = try AnsweringDaemon(at: folder.appending("socket")) { [verb, rpc] in
            Self.answers(verb, rpc, plan, asked)
        }
        defer { withExtendedLifetime(daemon) {} }
        var methods: [String]?
        let printsJSON = verb.hasJSON && plan.refusedIndex == nil
        for arguments in [verb.arguments] + (printsJSON ? [verb.arguments + ["--json"]] : []) {
            asked.value = []
            try prepare()
            let words = "exec \"$0\" \"$@\" <pass 3<pass 4<pass"
            let shown = try onPlainTerminal(
                "/bin/bash",
                ["-c", words, "\(Project.binaries)/coffer"] + arguments,
                [
                    "COFFER_SOCKET": folder.appending("socket"), "HOME": folder.path,
                    "PATH": "\(folder.path):/usr/bin:/bin",
                ],
                in: folder
            )
            methods = methods ?? asked.value
            let faults = Self.faults(of: shown.text)
            #expect(faults.isEmpty && shown.status < 128, "\(arguments) \(plan): \(faults) \(shown)")
            // What an authentication would change has been asked again.
            let isTold =
                plan.refusedIndex == nil || plan.refusal == "interactionRequired"
                || shown.text.contains(HostileAnswers.forgery) || shown.status == 0
            #expect(isTold, "\(arguments) \(plan): \(shown)")
        }
        return methods ?? asked.value
    }

    /// What a terminal would obey, or not show, or take for a line of Coffer's own.
    static func faults(of text: String) -> [String] {
        // The one sequence that Coffer writes itself: a bar is taken away.
        let text = text.replacing("\r\u{1B}[K", with: "")
        let seen: [Unicode.Scalar] = ["\n", "\t"]
        let obeyed = text.unicodeScalars.filter { scalar in
            let properties = scalar.properties
            let isHarmless = properties.generalCategory != .control && properties.generalCategory != .format
            return !seen.contains(scalar) && !(isHarmless && !properties.isDefaultIgnorableCodePoint)
                || scalar == "\u{2028}" || scalar == "\u{FFFD}"
        }
        let forged = text.split(separator: "\n").filter { $0.hasPrefix(HostileAnswers.forgery) }
        return obeyed.map { $0.escaped(asASCII: true) } + forged.map(String.init)
    }

    // MARK: The daemon's side

    private static func answers(
        _ verb: HostileCase,
        _ rpc: OpenRPC,
        _ plan: Plan,
        _ asked: Shared<[String]>
    ) -> AnsweringDaemon.Answers {
        var known: Set<String> = []
        var watches = false
        return { request, _ in
            asked.change { $0.append(request.method) }
            let isFirst = known.insert(request.method).inserted
            if asked.value.count - 1 == plan.refusedIndex { return [try refusal(plan, rpc, to: request)] }
            let broken = plan.broken?.method == request.method ? plan.broken?.number : nil
            var answers = HostileAnswers(rpc.document, choice: plan.choice, fixed: verb.fixed, broken: broken)
            let schema = try result(of: request.method, rpc)
            let value = isFirst ? try answers.value(of: schema) : try answers.least(of: schema)
            let frame = AnsweringDaemon.frame(["result": value], to: request, payload: isFirst ? [0x78] : [])
            if request.method == "vault.watch" { watches = true }
            let isLast = watches && asked.value.count == verb.requestCount
            return try isLast ? [frame] + news(rpc, plan.choice) + [[]] : [frame]
        }
    }

    private static func refusal(_ plan: Plan, _ rpc: OpenRPC, to request: Request) throws -> [UInt8] {
        var answers = HostileAnswers(rpc.document, choice: plan.choice)
        var error = try answers.value(of: ["$ref": "#/components/schemas/Error"]).objectValue ?? [:]
        if let refusal = plan.refusal, var data = error["data"]?.objectValue {
            data.set("code", .string(refusal))
            data.set("need", "passcode")
            error.set("data", .object(data))
        }
        return AnsweringDaemon.frame(["error": .object(error)], to: request)
    }

    /// All news that there is, and then the end.
    private static func news(_ rpc: OpenRPC, _ choice: Int) throws -> [[UInt8]] {
        let all = rpc["x-notifications"]?.arrayValue?.compactMap(\.objectValue) ?? []
        return try all.map { news in
            var params = JSONObject()
            for parameter in OpenRPC.parameters(of: news) {
                var answers = HostileAnswers(rpc.document, choice: choice)
                params.set(parameter.name, try answers.value(of: parameter.schema))
            }
            return AnsweringDaemon.frame(["method": news["name"] ?? .null, "params": .object(params)], to: nil)
        }
    }
}
