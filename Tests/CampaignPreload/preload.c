// Stands between cofferd and the C library: records what is done to the files of the state directory, or lets some of it
// fail. Campaigns load it with LD_PRELOAD; nothing that is installed knows of it.
//
//   CAMPAIGN_STATE    the state directory
//   CAMPAIGN_CONTROL  a file of one struct control, which is shared with the campaign
//   CAMPAIGN_LOG      where records go, if they are wanted
//   CAMPAIGN_QUICK    where it is set, a sync only takes a moment, and a passcode is stretched as little as it can be: a
//                     kill loses nothing that is not synced, and what a guess costs is not what is tried
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { k_write = 1, k_sync = 2, k_open = 4, k_rename = 8, k_unlink = 16, k_read = 32, k_mkdir = 64, k_resize = 128 };

struct control {
    int32_t kinds;    // which calls count
    int32_t failing;  // the number of the call that fails, from 1 on; 0: none
    int32_t code;     // what it fails with
    int32_t is_lasting;
    int32_t counted;
    int32_t failed;
    int64_t position;  // bytes in the log
};

struct record {
    uint32_t kind;
    uint32_t flags;
    uint64_t first;   // a directory, or the file
    uint64_t second;  // the other directory, or what is made
    int64_t offset;
    uint32_t name_count;
    uint32_t count;  // of what follows the name: data, or the other name
};

enum { r_write = 1, r_resize, r_grow, r_sync, r_create, r_mkdir, r_rename, r_unlink, r_link };

#define MOST_FILES 65536
static unsigned char is_ours[MOST_FILES];
static struct control *control;
static int log_number = -1;
static int is_quick;
static char state[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CAMPAIGN_STATE"), *control_path = getenv("CAMPAIGN_CONTROL"), *log = getenv("CAMPAIGN_LOG");
    if (path == NULL || control_path == NULL) return;
    is_quick = getenv("CAMPAIGN_QUICK") != NULL;
    snprintf(state, sizeof state, "%s", path);
    int number = (int)syscall(SYS_openat, AT_FDCWD, control_path, O_RDWR | O_CLOEXEC, 0);
    if (number < 0) abort();
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    syscall(SYS_close, number);
    if (control == MAP_FAILED) abort();
    if (log == NULL) return;
    log_number = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log_number < 0) abort();
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int knows(int number) { return control != NULL && number >= 0 && number < MOST_FILES && is_ours[number]; }

static int knows_path(int directory, const char *path) {
    if (control == NULL || path == NULL) return 0;
    if (path[0] != '/') return knows(directory);
    size_t count = strlen(state);
    return strncmp(path, state, count) == 0 && (path[count] == '/' || path[count] == 0);
}

// Whether this call is the one that fails.
static int fails(enum kind kind) {
    if ((control->kinds & kind) == 0 || control->failing == 0) return 0;
    int number = __atomic_add_fetch(&control->counted, 1, __ATOMIC_SEQ_CST);
    if (number != control->failing && !(control->is_lasting && number > control->failing)) return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
    errno = control->code;
    return 1;
}

static uint64_t inode(int number) {
    struct stat status;
    return fstat(number, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

// The directory that a path lies in; its last part is left in *name.
static uint64_t parent(int directory, const char *path, const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    if (slash == NULL) return inode(directory);
    char above[4096];
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    struct stat status;
    return fstatat(directory, above, &status, 0) == 0 ? (uint64_t)status.st_ino : 0;
}

static void record(uint32_t kind, uint32_t flags, uint64_t first, uint64_t second, int64_t offset, const char *name,
                   const void *bytes, size_t count) {
    if (log_number < 0) return;
    struct record head = {kind, flags, first, second, offset, (uint32_t)strlen(name), (uint32_t)count};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)name, head.name_count}, {(void *)bytes, count}};
    size_t all = sizeof head + head.name_count + count;
    if (syscall(SYS_writev, log_number, parts, 3) != (long)all) abort();
    __atomic_add_fetch(&control->position, (int64_t)all, __ATOMIC_SEQ_CST);
}

// A hole is recorded as the zeros that it reads as.
static void record_zeros(int number, off_t offset, off_t count) {
    if (log_number < 0) return;
    struct stat status;
    if (fstat(number, &status) != 0) abort();
    if (offset + count > status.st_size) count = status.st_size - offset;
    void *zeros = count > 0 ? calloc(1, (size_t)count) : NULL;
    if (zeros != NULL) record(r_write, 0, inode(number), 0, offset, "", zeros, (size_t)count);
    free(zeros);
}

#define BEGIN \
    int saved; \
    pthread_mutex_lock(&lock)
#define END(result) \
    saved = errno; \
    pthread_mutex_unlock(&lock); \
    errno = saved; \
    return result

// What is open

static int opened(int (*real)(int, const char *, int, ...), int directory, const char *path, int flags, mode_t mode) {
    if (!knows_path(directory, path)) return real(directory, path, flags, mode);
    if (fails(k_open)) return -1;
    BEGIN;
    struct stat status;
    int is_new = (flags & O_CREAT) && fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0;
    int number = real(directory, path, flags, mode);
    if (number >= 0 && number < MOST_FILES) {
        is_ours[number] = 1;
        const char *name;
        uint64_t above = parent(directory, path, &name);
        if (is_new) record(r_create, 0, above, inode(number), 0, name, NULL, 0);
        if (!is_new && (flags & O_TRUNC)) record(r_resize, 0, inode(number), 0, 0, "", NULL, 0);
    }
    END(number);
}

static int open_at(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return (int)syscall(SYS_openat, directory, path, flags | O_LARGEFILE, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(open_at, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int __open64_2(const char *path, int flags) { return opened(open_at, AT_FDCWD, path, flags, 0); }
int __open_2(const char *path, int flags) { return opened(open_at, AT_FDCWD, path, flags, 0); }

int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(open_at, directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));
int __openat64_2(int directory, const char *path, int flags) { return opened(open_at, directory, path, flags, 0); }
int __openat_2(int directory, const char *path, int flags) { return opened(open_at, directory, path, flags, 0); }

int close(int number) {
    if (number >= 0 && number < MOST_FILES) is_ours[number] = 0;
    return (int)syscall(SYS_close, number);
}

int fcntl(int number, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    int result = (int)syscall(SYS_fcntl, number, command, argument);
    int is_copy = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    if (is_copy && result >= 0 && result < MOST_FILES) is_ours[result] = knows(number) ? 1 : 0;
    return result;
}
int fcntl64(int number, int command, ...) __attribute__((alias("fcntl")));

// What is read and written

ssize_t read(int number, void *bytes, size_t count) {
    if (knows(number) && fails(k_read)) return -1;
    return syscall(SYS_read, number, bytes, count);
}

ssize_t pread(int number, void *bytes, size_t count, off_t offset) {
    if (knows(number) && fails(k_read)) return -1;
    return syscall(SYS_pread64, number, bytes, count, offset);
}
ssize_t pread64(int number, void *bytes, size_t count, off_t offset) __attribute__((alias("pread")));

// What is asked of the cache goes to the disk, where it can fail.
ssize_t preadv2(int number, const struct iovec *parts, int count, off_t offset, int flags) {
    if (knows(number) && (control->kinds & k_read) && (flags & RWF_NOWAIT)) {
        errno = EAGAIN;
        return -1;
    }
    REAL(preadv2);
    return real(number, parts, count, offset, flags);
}

ssize_t pwrite(int number, const void *bytes, size_t count, off_t offset) {
    if (!knows(number)) return syscall(SYS_pwrite64, number, bytes, count, offset);
    if (fails(k_write)) return -1;
    BEGIN;
    ssize_t done = syscall(SYS_pwrite64, number, bytes, count, offset);
    if (done > 0) record(r_write, 0, inode(number), 0, offset, "", bytes, (size_t)done);
    END(done);
}
ssize_t pwrite64(int number, const void *bytes, size_t count, off_t offset) __attribute__((alias("pwrite")));

ssize_t write(int number, const void *bytes, size_t count) {
    if (!knows(number)) return syscall(SYS_write, number, bytes, count);
    if (fails(k_write)) return -1;
    BEGIN;
    off_t offset = lseek(number, 0, SEEK_CUR);
    ssize_t done = syscall(SYS_write, number, bytes, count);
    if (done > 0) record(r_write, 0, inode(number), 0, offset, "", bytes, (size_t)done);
    END(done);
}

int ftruncate(int number, off_t count) {
    if (!knows(number)) return (int)syscall(SYS_ftruncate, number, count);
    if (fails(k_resize)) return -1;
    BEGIN;
    int result = (int)syscall(SYS_ftruncate, number, count);
    if (result == 0) record(r_resize, 0, inode(number), 0, count, "", NULL, 0);
    END(result);
}
int ftruncate64(int number, off_t count) __attribute__((alias("ftruncate")));

int posix_fallocate(int number, off_t offset, off_t count) {
    REAL(posix_fallocate);
    if (!knows(number)) return real(number, offset, count);
    if (fails(k_resize)) return errno;
    BEGIN;
    int result = real(number, offset, count);
    if (result == 0) record(r_grow, 0, inode(number), 0, offset + count, "", NULL, 0);
    END(result);
}
int posix_fallocate64(int number, off_t offset, off_t count) __attribute__((alias("posix_fallocate")));

int fallocate(int number, int mode, off_t offset, off_t count) {
    if (!knows(number)) return (int)syscall(SYS_fallocate, number, mode, offset, count);
    if (fails(k_resize)) return -1;
    BEGIN;
    int result = (int)syscall(SYS_fallocate, number, mode, offset, count);
    // Of other modes than making room and making holes nothing is known here, and nothing is used.
    int is_punch = mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
    if (result == 0 && mode != 0 && !is_punch) abort();
    if (result == 0 && is_punch) record_zeros(number, offset, count);
    if (result == 0 && mode == 0) record(r_grow, 0, inode(number), 0, offset + count, "", NULL, 0);
    END(result);
}
int fallocate64(int number, int mode, off_t offset, off_t count) __attribute__((alias("fallocate")));

static int synced(long call, int number, uint32_t of_all) {
    if (!knows(number)) return (int)syscall(call, number);
    if (fails(k_sync)) return -1;
    if (is_quick) return nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
    BEGIN;
    // Recorded and not done: what counts here is the order.
    int result = log_number >= 0 ? 0 : (int)syscall(call, number);
    if (result == 0) record(r_sync, of_all, inode(number), 0, 0, "", NULL, 0);
    END(result);
}

int fsync(int number) { return synced(SYS_fsync, number, 0); }
int fdatasync(int number) { return synced(SYS_fdatasync, number, 0); }
int syncfs(int number) { return synced(SYS_syncfs, number, 1); }

// Names

int renameat2(int directory, const char *name, int other, const char *new_name, unsigned int flags) {
    if (!knows_path(directory, name)) return (int)syscall(SYS_renameat2, directory, name, other, new_name, flags);
    if (fails(k_rename)) return -1;
    BEGIN;
    const char *old_part, *new_part;
    uint64_t from = parent(directory, name, &old_part), to = parent(other, new_name, &new_part);
    int result = (int)syscall(SYS_renameat2, directory, name, other, new_name, flags);
    if (result == 0) record(r_rename, flags, from, to, 0, old_part, new_part, strlen(new_part));
    END(result);
}
int renameat(int directory, const char *name, int other, const char *new_name) {
    return renameat2(directory, name, other, new_name, 0);
}
int rename(const char *name, const char *new_name) { return renameat2(AT_FDCWD, name, AT_FDCWD, new_name, 0); }

int linkat(int directory, const char *name, int other, const char *new_name, int flags) {
    if (!knows_path(directory, name)) return (int)syscall(SYS_linkat, directory, name, other, new_name, flags);
    if (fails(k_rename)) return -1;
    BEGIN;
    const char *old_part, *new_part;
    uint64_t from = parent(directory, name, &old_part), to = parent(other, new_name, &new_part);
    int result = (int)syscall(SYS_linkat, directory, name, other, new_name, flags);
    if (result == 0) record(r_link, 0, from, to, 0, old_part, new_part, strlen(new_part));
    END(result);
}

int unlinkat(int directory, const char *path, int flags) {
    if (!knows_path(directory, path)) return (int)syscall(SYS_unlinkat, directory, path, flags);
    if (fails(k_unlink)) return -1;
    BEGIN;
    const char *name;
    uint64_t above = parent(directory, path, &name);
    int result = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (result == 0) record(r_unlink, 0, above, 0, 0, name, NULL, 0);
    END(result);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int directory, const char *path, mode_t mode) {
    if (!knows_path(directory, path)) return (int)syscall(SYS_mkdirat, directory, path, mode);
    if (fails(k_mkdir)) return -1;
    BEGIN;
    const char *name;
    uint64_t above = parent(directory, path, &name);
    int result = (int)syscall(SYS_mkdirat, directory, path, mode);
    struct stat status;
    if (result == 0 && fstatat(directory, path, &status, 0) == 0)
        record(r_mkdir, 0, above, (uint64_t)status.st_ino, 0, name, NULL, 0);
    END(result);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// What a guess of a passcode costs

int crypto_pwhash(unsigned char *key, unsigned long long count, const char *passcode, unsigned long long passcode_count,
                  const unsigned char *salt, unsigned long long passes, size_t memory, int algorithm) {
    REAL(crypto_pwhash);
    if (is_quick) passes = 1, memory = 8192;
    return real(key, count, passcode, passcode_count, salt, passes, memory, algorithm);
}
