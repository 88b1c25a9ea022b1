// What the two floors share: connections, frames, and the transaction of a turn.
#ifndef C_BENCHMARKS_FLOOR_H
#define C_BENCHMARKS_FLOOR_H

#include "CBenchmarks.h"
#include "common.h"

#include <sqlite3.h>
#include <string.h>

enum { service_bytes = 23, account_bytes = 24, secret_most_bytes = 60 };

typedef struct connection connection;

/// A request: its method and the digits, service and account of its item are all that is parsed.
typedef struct {
    const char *json;
    size_t json_bytes;
    const char *method;
    uint64_t item;
    const uint8_t *payload;
    uint32_t payload_bytes;
} request;

extern sqlite3 *database;

/// Ends the process, with SQLite's message.
_Noreturn void floor_fail(const char *what);
void floor_run(const char *script);
sqlite3_stmt *floor_prepare(const char *text);
/// Runs a statement without rows. Returns 0, or -1 if it failed.
int floor_step(sqlite3_stmt *statement);
/// Binds a blob that stays where it is until the statement has run.
static inline void floor_bind(sqlite3_stmt *statement, int place, const void *bytes, size_t count) {
    sqlite3_bind_blob(statement, place, bytes, (int)count, SQLITE_STATIC);
}

/// Begins the transaction of the turn, unless it has begun. Returns 0, or -1.
int floor_begin(void);
void floor_answer(connection *connection, const char *json, const void *payload, size_t payload_bytes);
/// The digits behind a name; 0 if there are none.
uint64_t floor_digits(const char *json, size_t json_bytes, const char *name);
static inline int is_method(const request *request, const char *name) {
    const size_t count = strlen(name);
    return memcmp(request->method, name, count) == 0 && request->method[count] == '"';
}

// The floor that seals nothing, and the one that does equal work. `carry_out` answers, or returns -1.

void bare_prepare(void);
void bare_add(uint64_t item, const uint8_t *secret, uint32_t secret_bytes);
int bare_carry_out(connection *connection, const request *request);

void equal_prepare(const char *database_path);
void equal_add(uint64_t item, const uint8_t *secret, uint32_t secret_bytes);
int equal_carry_out(connection *connection, const request *request);
/// The milliseconds until records of reads have to be written, or -1.
int equal_patience(void);
/// Writes the records of the turn within its transaction.
void equal_end_turn(void);
/// Marks the end of the log after a commit.
void equal_committed(void);

#endif
