import CofferTestSupport
import Foundation

/// A pinentry that answers what a test has written down, and writes down what it is told.
final class FakePinentry {
    let directory: TemporaryDirectory
    private var answers: [String] = []

    /// Installs it as the only program of a directory.
    ///
    /// - Parameter answers: What each of its processes answers: a passcode, `agree`, `cancel`, or ``waiting`` for nothing.
    init(_ answers: [String] = []) throws {
        directory = try TemporaryDirectory()
        let script = """
            #!/bin/sh
            cd '\(directory.path)'
            echo $$ >>pids
            number=$(wc -l <pids)
            answer=$(sed -n "${number}p" answers)
            echo OK
            while read -r line; do
                printf '%s\\n' "$line" >>log
                case $line in
                GETPIN | CONFIRM)
                    case $answer in
                    waiting) exec sleep 3000 ;;
                    cancel) echo 'ERR 83886179 Operation cancelled <Pinentry>' ;;
                    agree) echo OK ;;
                    *) printf 'D %s\\nOK\\n' "$answer" ;;
                    esac ;;
                *) echo OK ;;
                esac
            done
            echo taken >>log
            """
        try FileManager.default.createDirectory(atPath: directory.appending("bin"), withIntermediateDirectories: true)
        try install(script, as: "pinentry")
        try directory.write([], to: "log")
        try directory.write([], to: "pids")
        try answer(answers)
    }

    /// What is answered by none of its processes: it has to be ended.
    static let waiting = "waiting"

    /// Says what further processes answer.
    func answer(_ further: [String]) throws {
        answers += further
        try directory.write(Array(answers.map { "\($0)\n" }.joined().utf8), to: "answers")
    }

    /// Installs a program beside it.
    func install(_ script: String, as name: String) throws {
        let path = try directory.write(Array(script.utf8), to: "script")
        // A program that this process had written could still be open in what another test starts, and not be executed.
        let copied = try runCommand("/usr/bin/install", ["--mode=700", path, directory.appending("bin/\(name)")])
        guard copied.status == 0 else { throw POSIXError(.EIO) }
    }

    /// The variables of a program that finds it, and takes a display to be there.
    var variables: [String: String] { ["PATH": "\(directory.appending("bin")):/usr/bin:/bin", "DISPLAY": ":0"] }

    /// What it was told, in lines.
    var log: [String] { lines("log") }

    /// What it was told of one kind, as `SETDESC`.
    func told(_ command: String) -> [String] {
        log.filter { $0.hasPrefix("\(command) ") }.map { String($0.dropFirst(command.count + 1)) }
    }

    /// How many processes it had.
    var count: Int { lines("pids").count }

    /// Whether it waits for a person.
    var isShown: Bool { ["GETPIN", "CONFIRM"].contains(log.last) }

    /// Whether none of its processes is left.
    var hasEnded: Bool { lines("pids").allSatisfy { kill(pid_t($0) ?? 0, 0) == -1 } }

    private func lines(_ name: String) -> [String] {
        String(decoding: directory.contents(name) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
