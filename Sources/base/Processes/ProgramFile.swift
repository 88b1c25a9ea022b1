internal import CCofferShims
package import CofferSystem
internal import Glibc

/// A program that is to be executed.
package struct ProgramFile: Sendable {
    /// Its path.
    package let path: String

    /// Finds a program as a shell does, and checks whether it can be executed.
    ///
    /// - Parameters:
    ///   - name: Its path, or a name without a slash.
    ///   - folders: The directories of `$PATH`, joined by colons; an empty one is the current directory.
    /// - Throws: `ENOENT` if there is none.
    package init(_ name: String, in folders: String?) throws(SystemError) {
        var refusal = SystemError("stat", code: ENOENT)
        for path in Self.candidates(name, folders ?? "/usr/bin:/bin") {
            do throws(SystemError) {
                try Self.check(path)
                self.path = path
                return
            } catch  where [ENOENT, ENOTDIR].contains(error.code) {
                continue
            } catch {
                // A later directory may have one that can be executed.
                refusal = error
            }
        }
        throw refusal
    }

    private static func candidates(_ name: String, _ folders: String) -> [String] {
        if name.isEmpty { return [] }
        if name.utf8.contains(UInt8(ascii: "/")) { return [name] }
        return folders.split(separator: ":", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "./\(name)" : "\($0)/\(name)"
        }
    }

    private static func check(_ path: String) throws(SystemError) {
        var status = Glibc.stat()
        _ = try retrying("stat") { unsafe stat(path, &status) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError("execve", code: EISDIR) }
        _ = try retrying("access") { unsafe access(path, X_OK) }
    }

    /// Replaces the program of this process, which keeps its descriptors except for those that are close-on-exec.
    ///
    /// A file that is neither a program nor names an interpreter fails, and is not given to a shell.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments, beginning with its name, up to a null pointer.
    ///   - environment: Its variables, up to a null pointer.
    /// - Returns: Why it could not be executed; otherwise it does not return.
    package func execute(
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        _ environment: [UnsafeMutablePointer<CChar>?]
    ) -> SystemError {
        ProcessHardening.restoreWriteSignals()
        unsafe execve(path, arguments, environment)
        let failure = SystemError("execve")
        ProcessHardening.ignoreWriteSignals()
        return failure
    }
}

/// The variables that this process was started with.
package enum InheritedEnvironment {
    /// The variables, `NAME=value`, except those of some names.
    package static func variables(except names: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe []
        guard var next = unsafe coffer_environment() else { return unsafe [] }
        while let variable = unsafe next.pointee {
            let name = unsafe String(decoding: variable.bytes(upTo: UInt8(ascii: "=")), as: UTF8.self)
            if !names.contains(name) { unsafe variables.append(variable) }
            unsafe next += 1
        }
        return unsafe variables
    }
}

extension UnsafeMutablePointer<CChar> {
    fileprivate func bytes(upTo end: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        var place = 0
        while case let byte = unsafe UInt8(bitPattern: self[place]), byte != 0, byte != end {
            bytes.append(byte)
            place += 1
        }
        return bytes
    }
}

extension OwnedDescriptor {
    /// Lets a program that replaces this one have the descriptor, under its number.
    package borrowing func inherit() throws(SystemError) {
        let number = self.number
        _ = try retrying("fcntl") { fcntl(number, F_SETFD, 0) }
    }

    /// Makes a standard stream of it as well.
    package borrowing func replace(stream: Int32) throws(SystemError) {
        let number = self.number
        _ = try retrying("dup2") { dup2(number, stream) }
    }

    /// Has a program that replaces this one not get a descriptor that this process inherited.
    package static func closeOnExecute(_ number: Int32) { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
}
