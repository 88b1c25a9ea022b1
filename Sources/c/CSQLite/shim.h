#include <errno.h>
#include <sqlite3.h>
#include <sys/resource.h>

// The error of the system behind a failure of SQLite, on the thread that called it: forget it before the call, read it right
// after. sqlite3_system_errno() has that of an earlier failure when a COMMIT fails, and none where SQLite takes EIO for damage.
static inline void coffer_forget_errno(void) { errno = 0; }
static inline int coffer_errno(void) { return errno; }

// Has SQLite keep no statistics of its memory, for which it would lock a mutex at each allocation. Before its first use.
static inline void coffer_forgo_memory_statistics(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// Whether the process may not make a file of so many bytes: where SQLite reserves room, it does not say why that fails.
static inline int coffer_exceeds_file_size_limit(long long bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (rlim_t)bytes > limit.rlim_cur;
}

// The errors that make a difference, for a module that does not import the C library.
static const int coffer_input_output_error = EIO;
static const int coffer_no_such_device = ENXIO;
static const int coffer_result_out_of_range = ERANGE;
static const int coffer_no_room = ENOSPC;
static const int coffer_no_quota = EDQUOT;
static const int coffer_file_too_large = EFBIG;
static const int coffer_read_only = EROFS;
