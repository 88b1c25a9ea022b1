internal import CofferClient
internal import CofferMemory
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Where an export writes: a file that appears when it is whole, standard output, or a new directory.
struct ExportTarget {
    let format: ExportFormat
    let path: String
    let recipients: [String]

    /// Refuses a target or a program that is not there, before an item is read.
    func check() throws(CofferError) {
        switch format {
        case .age: _ = try program("age", package: "age")
        case .pass:
            _ = try program("gpg", package: "gpg")
            var status = stat()
            guard unsafe lstat(path, &status) != 0 else {
                throw CofferError(
                    .duplicateItem,
                    "can't write \(quotedForDisplay(path)): it exists already",
                    hint: "name a directory that does not exist"
                )
            }
        default: break
        }
    }

    /// Writes entries.
    func write(_ entries: [ExchangeEntry], _ texts: ([ExchangeEntry]) throws(CofferError) -> Secret) throws(CofferError)
    {
        switch format {
        case .pass: try writeTree(entries)
        case .age: try encrypt(try texts(entries))
        default: try write(try texts(entries))
        }
    }

    private func write(_ text: Secret) throws(CofferError) {
        if path == "-" { return try text.write(to: STDOUT_FILENO, "the output") }
        let file = try OutputFile(path)
        try text.write(to: file.number, quotedForDisplay(path))
        try file.finish()
    }

    private func program(_ name: String, package: String) throws(CofferError) -> String {
        guard let path = Program.path(name) else {
            throw CofferError(
                .notAvailable,
                "can't export: \(name) is not installed",
                hint: "install the package \(package)"
            )
        }
        return path
    }

    // MARK: age

    /// Has age encrypt a text, which reaches it through a pipe.
    private func encrypt(_ text: Secret) throws(CofferError) {
        let tool = try program("age", package: "age")
        let arguments = ["--encrypt"] + recipients.flatMap { [unsafe access($0, R_OK) == 0 ? "-R" : "-r", $0] }
        func run(_ output: Int32) throws(CofferError) {
            do {
                let isDone = try text.withBytes { (bytes) throws(SystemError) in
                    try ChildProcess.run(tool, arguments, reading: bytes, writingTo: output)
                }
                if isDone { return }
            } catch {
                throw error.cofferError("can't run age")
            }
            throw CofferError(
                .io,
                "nothing was exported: age has refused to encrypt it",
                hint: "a recipient is a key age1…, a key of SSH, or a file of such keys"
            )
        }
        if path == "-" { return try run(STDOUT_FILENO) }
        let file = try OutputFile(path)
        try run(file.number)
        try file.finish()
    }

    // MARK: pass

    /// Writes a tree of pass under another name, and gives it its own once it is whole.
    private func writeTree(_ entries: [ExchangeEntry]) throws(CofferError) {
        let parts = path.split(separator: "/")
        let above = parts.dropLast().joined(separator: "/")
        let name = String(parts.last ?? "")
        let partial = "\(name).part"
        let parent: Directory
        let tree: OutputTree
        do throws(SystemError) {
            parent = try Directory(openingPath: path.hasPrefix("/") ? "/\(above)" : above.isEmpty ? "." : above)
            tree = try OutputTree(new: partial, in: parent)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay("\(path).part"))")
        }
        do throws(CofferError) {
            try fillTree(tree, entries)
            do throws(SystemError) { try parent.rename(partial, to: name) } catch {
                throw error.cofferError("can't write \(quotedForDisplay(path))")
            }
        } catch {
            try? parent.removeTree(partial)
            throw error
        }
    }

    private func fillTree(_ tree: OutputTree, _ entries: [ExchangeEntry]) throws(CofferError) {
        func file(_ components: [String]) throws(CofferError) -> OutputFile {
            try OutputFile(new: components, in: tree, shownAs: "\(path).part/\(components.joined(separator: "/"))")
        }
        let list = try file([".gpg-id"])
        try list.write(recipients.map { "\($0)\n" }.joined())
        try list.finish()
        for entry in entries {
            let output = try file(entry.folder.map { String($0) } + ["\(entry.title).gpg"])
            try encrypted(entry).write(to: output.number, entry.place)
            try output.finish()
        }
    }

    private func encrypted(_ entry: ExchangeEntry) throws(CofferError) -> Secret {
        let content = entry.whole ?? Secret(nil)
        let isLine = content.withBytes { bytes in
            !(0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 10 }
        }
        let arguments = ["--quiet", "--batch", "--no-encrypt-to", "--compress-algo=none", "--encrypt"]
        return try ImportSource.output(
            of: ("gpg", "gpg"),
            arguments + recipients.flatMap { ["--recipient", $0] },
            input: isLine ? try SecretLine.with(content) : content,
            limit: content.count + Limits.openPGPOverheadBytes,
            to: "encrypt",
            entry.place
        )
    }
}
