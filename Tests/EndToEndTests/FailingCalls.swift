import CofferTestSupport
import Foundation
import Testing

/// A daemon whose system calls on the state directory can be made to fail, those of its libraries as well.
final class FailingCalls {
    /// The calls that fail together.
    enum Kind: Int32, CaseIterable {
        case sync = 1
        case open, directory, rename, write, remove
    }

    let daemon: DaemonProcess
    private let control: UnsafeMutablePointer<Int32>

    init() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.source.utf8, to: "calls.c")
        let library = directory.appending("calls.so")
        let compiled = try runCommand(
            "/usr/bin/env",
            ["clang", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        )
        try #require(compiled.status == 0, "\(compiled.errors)")
        let path = try directory.write([UInt8](repeating: 0, count: 4096), to: "control")
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        let mapped = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
        try #require(mapped != MAP_FAILED)
        control = mapped.bindMemory(to: Int32.self, capacity: 4)
        let launcher = ["/usr/bin/env", "LD_PRELOAD=\(library)", "FAILING_CALLS=\(path)"]
        daemon = try DaemonProcess(in: directory, launchedBy: launcher)
    }

    deinit { munmap(control, 4096) }

    /// Has the Nth call of a kind from now on fail.
    func fail(_ number: Int32, of kind: Kind) {
        (control[1], control[2], control[3]) = (number, 0, 0)
        control[0] = kind.rawValue
    }

    /// Lets all calls succeed again.
    ///
    /// - Returns: Whether one has failed.
    func end() -> Bool {
        control[0] = 0
        return control[3] != 0
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/stat.h>
        #include <unistd.h>

        // The kind that fails, which call of it, how many there were, whether one has failed.
        static volatile int *control;

        __attribute__((constructor)) static void begin(void) {
            const char *path = getenv("FAILING_CALLS");
            int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
            if (file < 0) return;
            void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (mapped != MAP_FAILED) control = mapped;
            close(file);
        }

        static int fails(int kind) {
            if (!control || control[0] != kind || __sync_add_and_fetch(&control[2], 1) != control[1]) return 0;
            control[3] = 1;
            errno = EIO;
            return 1;
        }

        static int is_file(int fd) {
            struct stat status;
            return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
        }

        static int is_ours(int directory, const char *path) {
            return directory != AT_FDCWD || strstr(path, "/state") != NULL;
        }

        #define NEXT(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
        #define OPEN(name, parameters, directory, types, ...) \\
            int name(parameters, int flags, ...) { \\
                va_list more; \\
                va_start(more, flags); \\
                mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; \\
                va_end(more); \\
                if (is_ours(directory, path) && fails(2)) return -1; \\
                return ((int (*)(types, int, ...))dlsym(RTLD_NEXT, #name))(__VA_ARGS__, flags, mode); \\
            }
        #define COMMA ,
        OPEN(open, const char *path, AT_FDCWD, const char *, path)
        OPEN(open64, const char *path, AT_FDCWD, const char *, path)
        OPEN(openat, int fd COMMA const char *path, fd, int COMMA const char *, fd, path)
        OPEN(openat64, int fd COMMA const char *path, fd, int COMMA const char *, fd, path)

        int fsync(int fd) { return fails(1) ? -1 : NEXT(int, fsync, int)(fd); }
        int syncfs(int fd) { return fails(1) ? -1 : NEXT(int, syncfs, int)(fd); }
        int fdatasync(int fd) { return fails(1) ? -1 : NEXT(int, fdatasync, int)(fd); }
        int mkdirat(int fd, const char *path, mode_t mode) {
            return fails(3) ? -1 : NEXT(int, mkdirat, int, const char *, mode_t)(fd, path, mode);
        }
        int renameat(int one, const char *from, int other, const char *to) {
            return fails(4) ? -1 : NEXT(int, renameat, int, const char *, int, const char *)(one, from, other, to);
        }
        ssize_t write(int fd, const void *bytes, size_t count) {
            return is_file(fd) && fails(5) ? -1 : NEXT(ssize_t, write, int, const void *, size_t)(fd, bytes, count);
        }
        ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
            return fails(5) ? -1 : NEXT(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, bytes, count, at);
        }
        ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) {
            return fails(5) ? -1 : NEXT(ssize_t, pwrite64, int, const void *, size_t, off_t)(fd, bytes, count, at);
        }
        int unlink(const char *path) {
            return is_ours(AT_FDCWD, path) && fails(6) ? -1 : NEXT(int, unlink, const char *)(path);
        }
        int unlinkat(int fd, const char *path, int flags) {
            return fails(6) ? -1 : NEXT(int, unlinkat, int, const char *, int)(fd, path, flags);
        }
        """
}
