#include "CLogWriter.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// By how much a log grows beyond what is written. SQLite writes less than 128 KiB at once.
enum { growth_bytes = 64 << 10, growth_steps = 4 };

// The methods of an open file in place of those that it had, and after them what they need: SQLite passes the file, which
// has their address.
struct log_writer {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *former;
    // Where the file ends, as far as it was written here.
    sqlite3_int64 end;
    // Where the gathered bytes belong.
    sqlite3_int64 start;
    int count;
    int capacity;
    // Whether what SQLite asks to be synced is only written.
    int defers;
    unsigned char bytes[];
};

static struct log_writer *writer_of(sqlite3_file *file) { return (struct log_writer *)file->pMethods; }

// Extends the file beyond what was just written, so that the syncs of the next commits need not sync its size as well.
static void grow(sqlite3_file *file) {
    static unsigned char zeros[growth_bytes];
    struct log_writer *writer = writer_of(file);
    // SQLite takes zeros for the end of the log. If there is no room for them, the frames are there all the same.
    for (int step = 0; step < growth_steps; step++) {
        if (writer->former->xWrite(file, zeros, growth_bytes, writer->end) != SQLITE_OK) return;
        writer->end += growth_bytes;
    }
}

static int put(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct log_writer *writer = writer_of(file);
    int code = writer->former->xWrite(file, bytes, count, offset);
    if (code != SQLITE_OK || offset + count <= writer->end) return code;
    writer->end = offset + count;
    grow(file);
    return SQLITE_OK;
}

static int flush(sqlite3_file *file) {
    struct log_writer *writer = writer_of(file);
    int count = writer->count;
    if (count == 0) return SQLITE_OK;
    // Also if it fails: SQLite writes the frames again, or gives them up.
    writer->count = 0;
    return put(file, writer->bytes, count, writer->start);
}

static int gather(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct log_writer *writer = writer_of(file);
    int adjoins = offset == writer->start + writer->count && count <= writer->capacity - writer->count;
    if (!adjoins) {
        int code = flush(file);
        if (code != SQLITE_OK) return code;
        if (count > writer->capacity) return put(file, bytes, count, offset);
        writer->start = offset;
    }
    memcpy(writer->bytes + writer->count, bytes, (size_t)count);
    writer->count += count;
    return SQLITE_OK;
}

static int sync_all(sqlite3_file *file, int flags) {
    int code = flush(file);
    if (code != SQLITE_OK || writer_of(file)->defers) return code;
    return writer_of(file)->former->xSync(file, flags);
}

static int read_written(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = flush(file);
    return code == SQLITE_OK ? writer_of(file)->former->xRead(file, bytes, count, offset) : code;
}

static int measure(sqlite3_file *file, sqlite3_int64 *size) {
    int code = flush(file);
    return code == SQLITE_OK ? writer_of(file)->former->xFileSize(file, size) : code;
}

static int cut(sqlite3_file *file, sqlite3_int64 size) {
    int code = flush(file);
    if (code == SQLITE_OK) code = writer_of(file)->former->xTruncate(file, size);
    if (code == SQLITE_OK) writer_of(file)->end = size;
    return code;
}

static int close_all(sqlite3_file *file) {
    struct log_writer *writer = writer_of(file);
    // What was not synced belongs to no transaction.
    (void)flush(file);
    int code = writer->former->xClose(file);
    free(writer);
    return code;
}

static int log_of(struct sqlite3 *database, sqlite3_file **file) {
    *file = NULL;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, file);
    if (code != SQLITE_OK) return code;
    return *file != NULL && (*file)->pMethods != NULL && (*file)->pMethods->xSync == sync_all ? SQLITE_OK : SQLITE_MISUSE;
}

int coffer_defer_log_syncs(struct sqlite3 *database, int defers) {
    sqlite3_file *file;
    int code = log_of(database, &file);
    if (code == SQLITE_OK) writer_of(file)->defers = defers;
    return code;
}

int coffer_sync_log(struct sqlite3 *database) {
    sqlite3_file *file;
    int code = log_of(database, &file);
    return code == SQLITE_OK ? sync_all(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) : code;
}

int coffer_gather_log_writes(struct sqlite3 *database, int capacity) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (file == NULL || file->pMethods == NULL) return SQLITE_MISUSE;
    struct log_writer *writer = calloc(1, sizeof *writer + (size_t)capacity);
    if (writer == NULL) return SQLITE_NOMEM;
    code = file->pMethods->xFileSize(file, &writer->end);
    if (code != SQLITE_OK) {
        free(writer);
        return code;
    }
    writer->methods = *file->pMethods;
    writer->former = file->pMethods;
    writer->capacity = capacity;
    writer->methods.xClose = close_all;
    writer->methods.xRead = read_written;
    writer->methods.xWrite = gather;
    writer->methods.xTruncate = cut;
    writer->methods.xSync = sync_all;
    writer->methods.xFileSize = measure;
    file->pMethods = &writer->methods;
    return SQLITE_OK;
}
