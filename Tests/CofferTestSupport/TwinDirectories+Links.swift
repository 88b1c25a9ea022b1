import Foundation

// Links, attributes, space, and what else programs do more rarely.
extension TwinDirectories {
    /// Makes one of the operations in both.
    func lessCommonStep() -> String? {
        switch Int.random(in: 0..<35, using: &random) {
        case 0..<4: paths("link", count: 2) { Int(link($0[0], $0[1])) }
        case 4..<6: makeSymbolicLink()
        case 6..<7: paths("readlink", count: 1) { Self.target($0[0]) == "none" ? -1 : 0 }
        case 7..<11: rename()
        case 11..<15: allocate()
        case 15..<20: attribute()
        case 20..<22: changeMode()
        case 22..<24: stateTimes()
        case 24..<27: append()
        case 27..<30: mapped()
        case 30..<33: changeOpen()
        default: sequential()
        }
    }

    private func makeSymbolicLink() -> String? {
        // Some lead to files beside them, and some nowhere.
        let target = "n\(Int.random(in: 0..<16, using: &random))"
        return paths("symlink to \(target)", count: 1) { Int(symlink(target, $0[0])) }
    }

    private func rename() -> String? {
        let flags = Bool.random(using: &random) ? GNUCalls.exchange : GNUCalls.noReplace
        if Int.random(in: 0..<4, using: &random) == 0 {
            let names = (0..<2).map { _ in directories.dropFirst().randomElement(using: &random) ?? "d0" }
            let outcomes = roots.map { root in
                GNUCalls.rename("\(root)/\(names[0])", to: "\(root)/\(names[1])", flags: flags) < 0
                    ? "errno \(errno)" : "done"
            }
            return compare("renameat2 of \(names) with flags \(flags)", outcomes)
        }
        return paths("renameat2 with flags \(flags)", count: 2) { GNUCalls.rename($0[0], to: $0[1], flags: flags) }
    }

    /// Reserves space, or makes a hole.
    private func allocate() -> String? {
        let modes: [Int32] = [0, GNUCalls.keepSize, GNUCalls.punchHole, GNUCalls.punchHole]
        let mode = modes.randomElement(using: &random) ?? 0
        let offset = Int.random(in: 0..<Self.mostBytes, using: &random)
        let count = Int.random(in: 0..<100_000, using: &random)
        return both("fallocate of \(count) at \(offset) with mode \(mode)") { number in
            let outcome = GNUCalls.allocate(number, mode: mode, at: offset, count: count)
            return "\(outcome < 0 ? "errno \(errno)" : "done") \(Self.size(number))"
        }
    }

    private func attribute() -> String? {
        let name = "user.a\(Int.random(in: 0..<4, using: &random))"
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return paths("removexattr \(name)", count: 1) { GNUCalls.removeAttribute(name, of: $0[0]) }
        case 1:
            let path = path()
            return compare("listxattr of \(path)", roots.map { Self.attributes("\($0)/\(path)") })
        default:
            let value = Array(content().prefix(Int.random(in: 0..<300, using: &random)))
            let flags = Int32.random(in: 0...2, using: &random)
            return paths("setxattr \(name) with flags \(flags)", count: 1) {
                GNUCalls.setAttribute(name, to: value, of: $0[0], flags: flags)
            }
        }
    }

    private func changeMode() -> String? {
        let mode = mode_t(0o600 | Int.random(in: 0..<0o200, using: &random))
        return paths("chmod to \(mode)", count: 1) { Int(chmod($0[0], mode)) }
    }

    /// States times, and looks at them.
    private func stateTimes() -> String? {
        let times = (0..<2).map { _ in
            timespec(
                tv_sec: Int.random(in: -1_000_000...4_000_000_000, using: &random),
                tv_nsec: Int.random(in: 0..<1_000_000_000, using: &random)
            )
        }
        let path = path()
        let outcomes = roots.map { root in
            if utimensat(AT_FDCWD, "\(root)/\(path)", times, 0) < 0 { return "errno \(errno)" }
            var status = stat()
            guard stat("\(root)/\(path)", &status) == 0 else { return "errno \(errno)" }
            return "\(status.st_atim) \(status.st_mtim)"
        }
        return compare("utimensat of \(path)", outcomes)
    }

    /// Writes at the end, wherever that is.
    private func append() -> String? {
        let bytes = Array(content().prefix(5000))
        let path = path()
        let outcomes = roots.map { root in
            let number = open("\(root)/\(path)", O_WRONLY | O_APPEND | O_CLOEXEC)
            if number < 0 { return "errno \(errno)" }
            defer { close(number) }
            return "\(write(number, bytes, bytes.count)) \(Self.size(number))"
        }
        return compare("append of \(bytes.count) to \(path)", outcomes)
    }

    /// Changes several pages of a file in mapped memory, shared or private, and may sync them.
    private func mapped() -> String? {
        let first = Double.random(in: 0..<1, using: &random)
        let bytes = content()
        let flags = Bool.random(using: &random) ? MAP_SHARED : MAP_PRIVATE
        let syncs = Bool.random(using: &random)
        return both("change of memory that is mapped with \(flags)") { number in
            var status = stat()
            guard fstat(number, &status) == 0, status.st_size > 0 else { return "empty" }
            let count = Int(status.st_size)
            guard let memory = mmap(nil, count, PROT_READ | PROT_WRITE, flags, number, 0), memory != MAP_FAILED else {
                return "errno \(errno)"
            }
            defer { munmap(memory, count) }
            let start = Int(first * Double(count))
            let part = UnsafeMutableRawBufferPointer(start: memory, count: count)[start...].prefix(bytes.count)
            let before = part.reduce(0) { ($0 &* 31) &+ Int($1) }
            UnsafeMutableRawBufferPointer(rebasing: part).copyBytes(from: bytes.prefix(part.count))
            let outcome = syncs ? Int(msync(memory, count, MS_SYNC)) : 0
            return "\(before) \(outcome)"
        }
    }

    /// Changes the attributes of a file that is open, and may have no name.
    private func changeOpen() -> String? {
        let mode = mode_t(0o600 | Int.random(in: 0..<0o200, using: &random))
        return both("fchmod to \(mode)") { number in
            var status = stat()
            let outcome = fchmod(number, mode)
            guard fstat(number, &status) == 0 else { return "errno \(errno)" }
            return "\(outcome) \(status.st_mode) \(status.st_nlink) \(status.st_size)"
        }
    }

    /// Reads and writes where the descriptor is.
    private func sequential() -> String? {
        let bytes = Array(content().prefix(3000))
        let offset = Int.random(in: 0..<Self.mostBytes, using: &random)
        return both("lseek to \(offset), read and write") { number in
            var found = [UInt8](repeating: 0, count: 2000)
            let place = lseek(number, off_t(offset), SEEK_SET)
            let got = Foundation.read(number, &found, found.count)
            let done = Foundation.write(number, bytes, bytes.count)
            let end = lseek(number, 0, SEEK_END)
            return "\(place) \(got) \(found.hashValue) \(done) \(end)"
        }
    }

    // MARK: Looking

    static func target(_ path: String) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "none"
    }

    /// The extended attributes that programs have set.
    static func attributes(_ path: String) -> String {
        guard let names = GNUCalls.attributes(of: path) else { return "errno \(errno)" }
        return names.filter { $0.hasPrefix("user.a") }.map { name in
            "\(name)=\(GNUCalls.attribute(name, of: path).map { "\($0.hashValue)" } ?? "errno \(errno)")"
        }.joined(separator: " ")
    }
}
