#define _GNU_SOURCE
#include "CBenchmarks.h"
#include "common.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// The daemon that everything is compared with: what a good C programmer would write to serve the same requests over the
// same kind of socket from the same kind of database, as fast as it can be done, with nothing encrypted, checked or
// decided. It takes the very frames that Coffer takes, and looks no further into one than for the digits of the account;
// it answers with as many bytes as Coffer does. All changes of a turn share a commit.
//
// `floor.commit` carries out so many commits of one INSERT each and says how long they took, without a socket between.

enum { metadata_bytes = 146, wrapped_key_bytes = 72, sealed_bytes = 104, buffer_bytes = 16 << 10 };

// The table of Coffer's keychain, without the tags, the history and the count that belong to its other verbs.
static const char schema[] =
    "CREATE TABLE keychain_items (id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, class_key INTEGER NOT NULL,"
    " primary_tag BLOB NOT NULL UNIQUE, metadata BLOB NOT NULL, wrapped_key BLOB NOT NULL, secret BLOB NOT NULL) STRICT;";

enum statement { find, insert, update, delete, begin, commit, statement_count };

static const char *const texts[statement_count] = {
    [find] = "SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items"
             " WHERE primary_tag = ?1",
    [insert] = "INSERT INTO keychain_items (primary_tag, uuid, class_key, metadata, wrapped_key, secret)"
               " VALUES (?1, ?2, 6, ?3, ?4, ?5)",
    [update] = "UPDATE keychain_items SET class_key = 6, metadata = ?3, wrapped_key = ?4, secret = ?5"
               " WHERE primary_tag = ?1 AND ?2 IS NOT NULL",
    [delete] = "DELETE FROM keychain_items WHERE primary_tag = ?1",
    [begin] = "BEGIN IMMEDIATE",
    [commit] = "COMMIT",
};

typedef struct connection {
    int socket;
    size_t arrived;
    size_t answered;
    struct connection *next;
    uint8_t request[buffer_bytes];
    uint8_t answer[buffer_bytes];
} connection;

static sqlite3 *database;
static sqlite3_stmt *statements[statement_count];
static int is_changing;
/// Those that wait for the commit of the turn.
static connection *waiting;

static int complain(const char *what) {
    fprintf(stderr, "error: the floor can't %s: %s\n", what, database ? sqlite3_errmsg(database) : strerror(errno));
    return 1;
}

static int open_database(const char *path) {
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        return complain("open its database");
    // As Coffer has it.
    const char *pragmas =
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -2048; PRAGMA journal_mode = WAL;"
        "PRAGMA synchronous = FULL;";
    if (sqlite3_exec(database, pragmas, NULL, NULL, NULL)) return complain("set its database up");
    return 0;
}

static int prepare(void) {
    for (int index = 0; index < statement_count; index++)
        if (sqlite3_prepare_v3(database, texts[index], -1, SQLITE_PREPARE_PERSISTENT, &statements[index], NULL))
            return complain("compile a statement");
    return 0;
}

static int step(enum statement which) {
    const int code = sqlite3_step(statements[which]);
    sqlite3_reset(statements[which]);
    return code == SQLITE_DONE ? 0 : -1;
}

/// The key of an item, as scattered as a keyed hash.
static void make_key(uint64_t item, uint64_t key[4]) {
    for (uint64_t part = 0; part < 4; part++) key[part] = scatter(4 * item + part);
}

/// Carries an INSERT or an UPDATE out.
static int write_row(enum statement which, uint64_t item, const uint8_t *secret, uint32_t secret_bytes) {
    uint64_t key[4];
    uint64_t uuid[2] = {scatter(~item), scatter(item ^ 0x5555555555555555)};
    static const uint8_t wrapped_key[wrapped_key_bytes];
    // Other bytes each time, as encryption makes them: SQLite writes no page whose bytes stay the same.
    static uint64_t serial;
    uint8_t metadata[metadata_bytes] = {0}, sealed[sealed_bytes] = {0};
    serial++;
    memcpy(metadata, &serial, sizeof serial);
    make_key(item, key);
    store_big_endian(sealed, secret_bytes);
    memcpy(sealed + 4, secret, secret_bytes);
    sqlite3_stmt *statement = statements[which];
    sqlite3_bind_blob(statement, 1, key, sizeof key, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 2, uuid, sizeof uuid, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 3, metadata, sizeof metadata, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 4, wrapped_key, sizeof wrapped_key, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 5, sealed, sizeof sealed, SQLITE_STATIC);
    return step(which);
}

static int delete_row(uint64_t item) {
    uint64_t key[4];
    make_key(item, key);
    sqlite3_bind_blob(statements[delete], 1, key, sizeof key, SQLITE_STATIC);
    return step(delete);
}

int floor_fill(const char *database_path, uint64_t items, uint32_t secret_bytes) {
    uint8_t secret[sealed_bytes - 4] = {0};
    if (secret_bytes > sizeof secret) return complain("keep secrets as long as these");
    if (open_database(database_path)) return 1;
    if (sqlite3_exec(database, schema, NULL, NULL, NULL)) return complain("make its table");
    // Only here: each page is written once.
    const char *hurry = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576;";
    if (sqlite3_exec(database, hurry, NULL, NULL, NULL) || prepare() || step(begin)) return complain("begin to fill");
    for (uint64_t item = 0; item < items; item++)
        if (write_row(insert, item, secret, secret_bytes)) return complain("fill its table");
    if (step(commit)) return complain("fill its table");
    for (int index = 0; index < statement_count; index++) sqlite3_finalize(statements[index]);
    sqlite3_close(database);
    database = NULL;
    return 0;
}

// MARK: Requests

static void answer(connection *connection, const char *json, int json_bytes, const void *payload, int payload_bytes) {
    uint8_t *place = connection->answer + connection->answered;
    store_big_endian(place, (uint32_t)json_bytes);
    store_big_endian(place + 4, (uint32_t)payload_bytes);
    memcpy(place + header_bytes, json, (size_t)json_bytes);
    if (payload_bytes > 0) memcpy(place + header_bytes + json_bytes, payload, (size_t)payload_bytes);
    connection->answered += (size_t)(header_bytes + json_bytes + payload_bytes);
}

static int answer_text(connection *connection, const char *json) {
    answer(connection, json, (int)strlen(json), NULL, 0);
    return 0;
}

static int answer_error(connection *connection) {
    return answer_text(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"it failed\"}}");
}

static int answer_find(connection *connection, uint64_t item) {
    uint64_t key[4];
    make_key(item, key);
    sqlite3_stmt *statement = statements[find];
    sqlite3_bind_blob(statement, 1, key, sizeof key, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_reset(statement);
        return answer_error(connection);
    }
    const uint8_t *uuid = sqlite3_column_blob(statement, 1);
    const uint8_t *sealed = sqlite3_column_blob(statement, 6);
    const uint32_t secret_bytes = load_big_endian(sealed);
    char reference[33];
    for (int index = 0; index < 16; index++) {
        reference[2 * index] = "0123456789abcdef"[uuid[index] >> 4];
        reference[2 * index + 1] = "0123456789abcdef"[uuid[index] & 15];
    }
    reference[32] = 0;
    char json[256];
    const int json_bytes = snprintf(
        json, sizeof json,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"items\":[{\"class\":\"genericPassword\",\"reference\":\"%s\","
        "\"bytes\":%u}],\"lockedCount\":0}}",
        reference, secret_bytes
    );
    answer(connection, json, json_bytes, sealed + 4, (int)secret_bytes);
    sqlite3_reset(statement);
    return 0;
}

static int compare(const void *one, const void *other) {
    const uint64_t left = *(const uint64_t *)one, right = *(const uint64_t *)other;
    return (left > right) - (left < right);
}

/// Commits an INSERT so many times, and removes the rows again.
static int answer_commits(connection *connection, uint64_t count) {
    const uint64_t first = 8000000;
    const uint8_t secret[32] = {0};
    uint64_t *samples = malloc((count + 1) * sizeof *samples);
    int code = samples == NULL || count == 0;
    const uint64_t begun = now();
    for (uint64_t index = 0; code == 0 && index < count; index++) {
        const uint64_t start = now();
        code = step(begin) || write_row(insert, first + index, secret, sizeof secret) || step(commit);
        samples[index] = now() - start;
    }
    const uint64_t taken = now() - begun;
    if (code == 0) code = step(begin);
    for (uint64_t index = 0; code == 0 && index < count; index++) code = delete_row(first + index);
    if (code == 0) code = step(commit);
    if (code == 0) {
        qsort(samples, count, sizeof *samples, compare);
        char json[160];
        snprintf(
            json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"median\":%llu,\"nanoseconds\":%llu}}",
            (unsigned long long)samples[count / 2], (unsigned long long)taken
        );
        answer_text(connection, json);
    } else {
        answer_error(connection);
    }
    free(samples);
    return 0;
}

static uint64_t digits(const char *json, size_t json_bytes, const char *name) {
    const char *place = memmem(json, json_bytes, name, strlen(name));
    uint64_t number = 0;
    if (place == NULL) return 0;
    for (place += strlen(name); place < json + json_bytes && *place >= '0' && *place <= '9'; place++)
        number = 10 * number + (uint64_t)(*place - '0');
    return number;
}

static int carry_out(connection *connection, const char *json, size_t json_bytes, const uint8_t *payload, uint32_t size) {
    static const char mark[] = "\"method\":\"";
    const char *method = memmem(json, json_bytes, mark, sizeof mark - 1);
    if (method == NULL || size > sealed_bytes - 4) return answer_error(connection);
    method += sizeof mark - 1;
    if (memcmp(method, "floor.commit\"", 13) == 0) return answer_commits(connection, digits(json, json_bytes, "\"count\":"));
    const uint64_t item = digits(json, json_bytes, "user-");
    if (memcmp(method, "keychain.find\"", 14) == 0) return answer_find(connection, item);

    if (!is_changing && step(begin)) return answer_error(connection);
    is_changing = 1;
    if (memcmp(method, "keychain.add\"", 13) == 0) {
        if (write_row(insert, item, payload, size)) return answer_error(connection);
        return answer_text(
            connection,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"reference\":\"0123456789abcdef0123456789abcdef\"}}"
        );
    }
    const int is_update = memcmp(method, "keychain.update\"", 16) == 0;
    if (is_update ? write_row(update, item, payload, size) : delete_row(item)) return answer_error(connection);
    return answer_text(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"count\":1}}");
}

// MARK: Connections

static void end(connection *connection) {
    close(connection->socket);
    free(connection);
}

static int send_answers(connection *connection) {
    for (size_t done = 0; done < connection->answered;) {
        const ssize_t count = send(connection->socket, connection->answer + done, connection->answered - done, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return -1;
        if (count > 0) done += (size_t)count;
    }
    connection->answered = 0;
    return 0;
}

/// Takes what has come, and carries out what is whole.
static void serve(connection *connection) {
    const ssize_t count =
        recv(connection->socket, connection->request + connection->arrived, buffer_bytes - connection->arrived, 0);
    if (count <= 0) return end(connection);
    connection->arrived += (size_t)count;
    size_t done = 0;
    while (connection->arrived - done >= header_bytes) {
        const uint8_t *frame = connection->request + done;
        const size_t json_bytes = load_big_endian(frame);
        const size_t payload_bytes = load_big_endian(frame + 4);
        const size_t all = header_bytes + json_bytes + payload_bytes;
        if (all > buffer_bytes) return end(connection);
        if (connection->arrived - done < all) break;
        const char *json = (const char *)frame + header_bytes;
        carry_out(connection, json, json_bytes, frame + header_bytes + json_bytes, (uint32_t)payload_bytes);
        done += all;
    }
    connection->arrived -= done;
    memmove(connection->request, connection->request + done, connection->arrived);
    if (!is_changing) {
        if (send_answers(connection)) end(connection);
        return;
    }
    connection->next = waiting;
    waiting = connection;
}

/// Ends a turn: the answers wait until its changes are on the disk.
static int end_turn(void) {
    if (!is_changing) return 0;
    is_changing = 0;
    if (step(commit)) return complain("commit");
    while (waiting != NULL) {
        connection *connection = waiting;
        waiting = connection->next;
        if (send_answers(connection)) end(connection);
    }
    return 0;
}

static int accept_client(int epoll, int listener) {
    const int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0) return 0;
    connection *new = calloc(1, sizeof(connection));
    if (new == NULL) return complain("take another connection");
    new->socket = socket;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = new};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) < 0) return complain("take another connection");
    return 0;
}

int floor_serve(const char *database_path, const char *socket_path) {
    if (open_database(database_path) || prepare()) return 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (strlen(socket_path) >= sizeof address.sun_path) return complain("listen");
    strcpy(address.sun_path, socket_path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0
        || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        return complain("listen");
    while (1) {
        struct epoll_event events[256];
        const int count = epoll_wait(epoll, events, 256, -1);
        for (int index = 0; index < count; index++) {
            if (events[index].data.ptr != NULL)
                serve(events[index].data.ptr);
            else if (accept_client(epoll, listener))
                return 1;
        }
        if (end_turn()) return 1;
    }
}
