internal import CofferCore
internal import Glibc

/// Reports of a mount that serves, by syslog(3): it has no terminal any more.
enum Journal {
    /// Reports that changes of a file were lost.
    ///
    /// - Parameters:
    ///   - number: The number of the file, by which `find -inum` finds it: names of files are secret.
    ///   - reason: Why they were lost.
    static func report(lossOf number: UInt64, _ reason: Line) {
        report("what was written last to the file with inode \(Int(clamping: number)) is lost: \(reason)")
    }

    private static func report(_ line: Line) {
        unsafe line.forPipe.withCString { text in
            unsafe withVaList([text]) { arguments in unsafe vsyslog(LOG_WARNING, "%s", arguments) }
        }
    }
}
