// Calls on the files of other processes, whose file systems may not answer.
#define _GNU_SOURCE
#include "CCofferShims.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int coffer_kind_of(int fd) {
    struct statx found;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &found) < 0) return -1;
    return found.stx_mode & S_IFMT;
}

int coffer_is_kernel_files(int fd) {
    struct statx found;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &found) < 0) return -1;
    // The numbers of /dev/fuse, which Linux never changes.
    return S_ISCHR(found.stx_mode) && found.stx_rdev_major == 10 && found.stx_rdev_minor == 229;
}

static int file_id(int directory, const char *path, int flags, uint64_t *device, uint64_t *inode) {
    struct statx found;
    if (statx(directory, path, flags | AT_STATX_DONT_SYNC, STATX_INO, &found) < 0) return -1;
    *device = makedev(found.stx_dev_major, found.stx_dev_minor);
    *inode = found.stx_ino;
    return 0;
}

int coffer_file_id(const char *path, uint64_t *device, uint64_t *inode) {
    return file_id(AT_FDCWD, path, 0, device, inode);
}

int coffer_known_file_id(const char *path, uint64_t *device, uint64_t *inode) {
    // struct open_how and RESOLVE_CACHED, which not every linux/openat2.h has.
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .mode = 0, .resolve = 0x20};
    long file = -1;
    // A change beside it may disturb one look-up, and another one then succeeds.
    for (int tries = 0; tries < 16; tries++) {
        file = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
        if (file >= 0 || errno != EAGAIN) break;
    }
    if (file < 0) {
        // Before Linux 5.12.
        if (errno == EINVAL || errno == ENOSYS) return file_id(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, device, inode);
        return -1;
    }
    int result = file_id((int)file, "", AT_EMPTY_PATH, device, inode);
    int code = errno;
    close((int)file);
    errno = code;
    return result;
}

int coffer_pipe(int ends[2], int capacity) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    // A user has a limit of such memory; beyond it, the pipe stays as it is.
    fcntl(ends[1], F_SETPIPE_SZ, capacity);
    return 0;
}

ssize_t coffer_move_to_pipe(int from, int to, size_t count) {
    if (fcntl(to, F_GETPIPE_SZ) <= 0) {
        errno = EINVAL;
        return -1;
    }
    return splice(from, NULL, to, NULL, count, SPLICE_F_NONBLOCK);
}

ssize_t coffer_splice(int from, int to, size_t count) { return splice(from, NULL, to, NULL, count, SPLICE_F_MOVE); }

ssize_t coffer_copy(int from, int to, size_t count) {
    char bytes[PIPE_BUF];
    ssize_t got;
    do {
        got = read(from, bytes, count < sizeof bytes ? count : sizeof bytes);
    } while (got < 0 && errno == EINTR);
    ssize_t done = 0;
    while (done < got) {
        ssize_t written = write(to, bytes + done, (size_t)(got - done));
        if (written >= 0) {
            done += written;
        } else if (errno == EAGAIN) {
            struct pollfd room = {.fd = to, .events = POLLOUT};
            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            got = -1;
        }
    }
    int code = errno;
    explicit_bzero(bytes, sizeof bytes);
    errno = code;
    return got;
}
