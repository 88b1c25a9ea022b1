import Foundation

/// Two directories in which the same random operations are made: each has to have the same outcome in both.
package final class TwinDirectories {
    /// A file that is open in both.
    struct OpenPair {
        let numbers: [Int32]
        let flags: Int32
    }

    let roots: [String]
    var random: Numbers
    private var open: [OpenPair] = []
    private let names = (0..<12).map { "n\($0)" }
    let directories = ["", "d0", "d1", "d0/e0"]
    static let mostBytes = 200_000

    /// - Parameters:
    ///   - one: The path of a directory.
    ///   - other: The path of another one, on a file system that is known to be right.
    ///   - seed: What the operations depend on.
    package init(_ one: String, _ other: String, seed: UInt64) {
        roots = [one, other]
        random = Numbers(state: seed)
    }

    deinit { for pair in open { pair.numbers.forEach { close($0) } } }

    /// Pseudorandom numbers: splitmix64.
    struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    // MARK: Interruptions

    /// Closes all files.
    package func closeAll() {
        for pair in open { pair.numbers.forEach { close($0) } }
        open = []
    }

    // MARK: Operations

    /// Makes an operation in both.
    ///
    /// - Returns: What was different, if something was.
    package func step() -> String? {
        switch Int.random(in: 0..<135, using: &random) {
        case 0..<14: openFile()
        case 14..<22: closeFile()
        case 22..<45: write()
        case 45..<63: read()
        case 63..<68: truncate()
        case 68..<71: mapped()
        case 71..<75: both("fsync", Self.code { Int(fsync($0)) })
        case 75..<80: both("fstat", Self.size)
        case 80..<86: paths("rename", count: 2) { Int(rename($0[0], $0[1])) }
        case 86..<91: paths("unlink", count: 1) { Int(unlink($0[0])) }
        case 91..<94: directory("mkdir") { Int(mkdir($0, 0o755)) }
        case 94..<96: directory("rmdir") { Int(rmdir($0)) }
        case 96..<98: list()
        case 98..<100: wholeFile()
        default: lessCommonStep()
        }
    }

    private func openFile() -> String? {
        let path = path()
        let choices: [Int32] = [O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT, O_WRONLY | O_CREAT]
        var flags: Int32 = choices.randomElement(using: &random) ?? O_RDONLY
        if flags != O_RDONLY && Int.random(in: 0..<6, using: &random) == 0 { flags |= O_TRUNC }
        if flags & O_CREAT != 0 && Int.random(in: 0..<6, using: &random) == 0 { flags |= O_EXCL }
        if flags != O_RDONLY && Int.random(in: 0..<6, using: &random) == 0 { flags |= O_APPEND }
        let numbers = roots.map { root in
            let number = Foundation.open("\(root)/\(path)", flags | O_CLOEXEC, 0o644)
            return number < 0 ? -errno : number
        }
        if let failed = numbers.first(where: { $0 < 0 }) {
            if numbers.allSatisfy({ $0 == failed }) { return nil }
            numbers.filter { $0 >= 0 }.forEach { close($0) }
            return "open \(path) with flags \(flags): \(numbers)"
        }
        open.append(OpenPair(numbers: numbers, flags: flags))
        return open.count > 10 ? closeFile() : nil
    }

    private func closeFile() -> String? {
        guard let index = open.indices.randomElement(using: &random) else { return nil }
        return compare("close", open.remove(at: index).numbers.map { Self.code { Int(close($0)) }($0) })
    }

    private func write() -> String? {
        let bytes = content()
        let offset = Int.random(in: 0..<Self.mostBytes, using: &random)
        return both("write of \(bytes.count) at \(offset)") { number in
            "\(pwrite(number, bytes, bytes.count, off_t(offset))) \(Self.size(number))"
        }
    }

    private func read() -> String? {
        let offset = Int.random(in: 0..<Self.mostBytes, using: &random)
        let count = Int.random(in: 0..<70_000, using: &random)
        return both("read of \(count) at \(offset)") { number in
            var bytes = [UInt8](repeating: 0, count: count)
            let got = pread(number, &bytes, count, off_t(offset))
            return got < 0 ? "errno \(errno)" : "\(got) \(bytes.hashValue)"
        }
    }

    private func truncate() -> String? {
        let size = off_t(Int.random(in: 0..<Self.mostBytes, using: &random))
        if Bool.random(using: &random) { return both("ftruncate to \(size)", Self.code { Int(ftruncate($0, size)) }) }
        return paths("truncate to \(size)", count: 1) { Int(Foundation.truncate($0[0], size)) }
    }

    /// Changes a byte of a file in mapped memory.
    private func mapped() -> String? {
        let part = Double.random(in: 0..<1, using: &random)
        let byte = UInt8.random(in: 0...255, using: &random)
        return both("change of mapped memory") { number in
            var status = stat()
            guard fstat(number, &status) == 0, status.st_size > 0 else { return "empty" }
            let count = Int(status.st_size)
            guard let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0), memory != MAP_FAILED
            else {
                return "errno \(errno)"
            }
            let index = Int(part * Double(count))
            let before = memory.load(fromByteOffset: index, as: UInt8.self)
            memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            munmap(memory, count)
            return "\(before)"
        }
    }

    private func list() -> String? {
        let directory = directories.randomElement(using: &random) ?? ""
        return compare("listing of \(directory)", roots.map { Self.entries("\($0)/\(directory)") })
    }

    private func wholeFile() -> String? {
        let path = path()
        return compare("content of \(path)", roots.map { Self.summary("\($0)/\(path)") })
    }

    // MARK: Comparing

    /// What is different in the two trees, at the end.
    package func differences() -> [String] {
        let trees = roots.map { root in
            let paths = FileManager.default.subpaths(atPath: root)?.sorted() ?? []
            return paths.map { "\($0): \(Self.summary("\(root)/\($0)"))" }
        }
        return Set(trees[0]).symmetricDifference(trees[1]).sorted()
    }

    func both(_ what: String, _ call: (Int32) -> String) -> String? {
        guard let pair = open.randomElement(using: &random) else { return nil }
        return compare("\(what), flags \(pair.flags)", pair.numbers.map(call))
    }

    func paths(_ what: String, count: Int, _ call: ([String]) -> Int) -> String? {
        let paths = (0..<count).map { _ in path() }
        let outcomes = roots.map { root in call(paths.map { "\(root)/\($0)" }) < 0 ? "errno \(errno)" : "done" }
        return compare("\(what) of \(paths)", outcomes)
    }

    func directory(_ what: String, _ call: (String) -> Int) -> String? {
        let name = directories.dropFirst().randomElement(using: &random) ?? ""
        return compare("\(what) of \(name)", roots.map { call("\($0)/\(name)") < 0 ? "errno \(errno)" : "done" })
    }

    func compare(_ what: String, _ outcomes: [String]) -> String? {
        outcomes[0] == outcomes[1] ? nil : "\(what): \(outcomes[0]), and not \(outcomes[1])"
    }

    static func code(_ call: @escaping (Int32) -> Int) -> (Int32) -> String {
        { call($0) < 0 ? "errno \(errno)" : "done" }
    }

    static func size(_ number: Int32) -> String {
        var status = stat()
        return fstat(number, &status) == 0 ? "\(status.st_size)" : "errno \(errno)"
    }

    private static func entries(_ path: String) -> String {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted())?.joined(separator: " ") ?? "none"
    }

    /// What kind of file it is, its size, and a hash of its content.
    static func summary(_ path: String) -> String {
        var status = stat()
        guard lstat(path, &status) == 0 else { return "errno \(errno)" }
        let mode = String(status.st_mode, radix: 8)
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return "\(mode) \(attributes(path))"
        case S_IFLNK: return "\(mode) \(status.st_nlink) \(target(path))"
        default: break
        }
        let bytes = FileManager.default.contents(atPath: path)
        let content = bytes.map { "\($0.hashValue)" } ?? "unreadable"
        return "\(mode) \(status.st_nlink) \(status.st_size) \(content) \(attributes(path))"
    }

    // MARK: Choosing

    func path() -> String {
        let directory = directories.randomElement(using: &random) ?? ""
        return (directory.isEmpty ? "" : directory + "/") + (names.randomElement(using: &random) ?? "")
    }

    func content() -> [UInt8] {
        let count = Int.random(in: 0..<(Bool.random(using: &random) ? 3000 : 70_000), using: &random)
        let first = UInt8.random(in: 0...255, using: &random)
        return (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ first }
    }
}
