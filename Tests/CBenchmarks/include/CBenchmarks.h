// What the benchmarks have of C: the load that clients make, the daemons that everything is compared with, and the
// client of a Secret Service.
#ifndef C_BENCHMARKS_H
#define C_BENCHMARKS_H

#include <stddef.h>
#include <stdint.h>

// MARK: The load

/// Where a frame has digits, zeros in front, that say which item a request is for.
typedef struct {
    size_t offset;
    int32_t width;
    /// What the number of the item is divided by.
    int32_t divisor;
} bench_place;

/// What a number of clients do, each of which waits for an answer before it asks again.
typedef struct {
    int32_t clients;
    /// The first item, and how many there are from there on.
    uint64_t first;
    uint64_t span;
    /// What the random order begins with; 0 for one after the other.
    uint64_t seed;
    /// When to stop asking, whatever comes first.
    uint64_t requests;
    uint64_t nanoseconds;
    /// The bytes that every answer has to have as payload.
    uint32_t payload_bytes;
} bench_load;

/// What came of it.
typedef struct {
    /// The answers.
    uint64_t answers;
    /// From the first request to the last answer.
    uint64_t nanoseconds;
    /// The half of the answers that took longest took so long, at least.
    uint64_t median;
    /// The slowest twentieth took so long, at least.
    uint64_t late;
    /// Empty if all went well.
    char trouble[256];
} bench_outcome;

/// Carries a load out, in one thread and without allocating on the way.
bench_outcome bench_run(
    const char *socket_path,
    const uint8_t *frame,
    size_t frame_bytes,
    const bench_place *places,
    size_t place_count,
    bench_load load
);

/// Keeps the first thread of a process, or this thread for 0, on one of two cores, 0 or 1; or lets it run anywhere again, by
/// -1. Does nothing where there is one core only.
void bench_keep_on_core(int process, int core);

// MARK: The floors

/// Makes a database with so many items, and so many bytes in each secret; with the schema of Coffer's catalog for the floor
/// that does equal work, or without one for the floor that seals nothing. Ends the process if it can't, and prints why.
void floor_fill(const char *database_path, const char *schema, uint64_t items, uint32_t secret_bytes);

/// Serves a database at a socket, with equal work or without, until the process ends.
_Noreturn void floor_serve(const char *database_path, const char *socket_path, int equal);

// MARK: libsecret

/// Loads libsecret. Returns whether it is installed.
int keyring_load(void);

/// Stores secrets, item after item, and measures each. Returns 0, or what went wrong as a text that stays.
const char *keyring_store(uint64_t first, uint64_t count, uint64_t *nanoseconds);

/// Looks secrets up, in random order, and measures each.
const char *keyring_look_up(uint64_t items, uint64_t count, uint64_t seed, uint64_t *nanoseconds);

/// Removes secrets, item after item, and measures each.
const char *keyring_clear(uint64_t first, uint64_t count, uint64_t *nanoseconds);

#endif
