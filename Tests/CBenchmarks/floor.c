#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// The daemons that everything is compared with: what a good C programmer would write to serve the same requests over the
// same kind of socket from the same kind of database, as fast as it can be done. They take the very frames that Coffer
// takes, look no further into one than for the method and the item, and answer with as many bytes as Coffer does. All
// changes of a turn share a commit and one sync. `equal.c` does the work of Coffer's formats, `bare.c` seals nothing.
//
// Both leave out: parsing and writing any JSON, who may do what, conditions and decisions, claims and their order, fairness
// between clients, the journal, watchers, timers, savepoints, locked memory and wiping it.

enum { buffer_bytes = 16 << 10 };

struct connection {
    int socket;
    size_t arrived;
    size_t answered;
    struct connection *next;
    uint8_t request[buffer_bytes];
    uint8_t answer[buffer_bytes];
};

sqlite3 *database;
static sqlite3_stmt *begin, *commit;
static int is_equal;
static int is_changing;
/// Those that wait for the commit of the turn.
static connection *waiting;

_Noreturn void floor_fail(const char *what) {
    fprintf(stderr, "error: the floor can't %s: %s\n", what, database ? sqlite3_errmsg(database) : strerror(errno));
    exit(1);
}

void floor_run(const char *script) {
    if (sqlite3_exec(database, script, NULL, NULL, NULL)) floor_fail(script);
}

sqlite3_stmt *floor_prepare(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)) floor_fail(text);
    return statement;
}

int floor_step(sqlite3_stmt *statement) {
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

static void open_database(const char *path, const char *schema) {
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        floor_fail("open its database");
    // As Coffer has it.
    floor_run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
              "PRAGMA cache_size = -2048; PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;");
    if (is_equal) floor_run("PRAGMA secure_delete = ON");
    if (schema != NULL) {
        floor_run(schema);
        floor_run("INSERT INTO keychain_count VALUES (0)");
    }
    begin = floor_prepare("BEGIN IMMEDIATE");
    commit = floor_prepare("COMMIT");
    if (is_equal)
        equal_prepare(path);
    else
        bare_prepare();
}

void floor_fill(const char *database_path, const char *schema, uint64_t items, uint32_t secret_bytes) {
    static const uint8_t secret[secret_most_bytes];
    is_equal = schema != NULL;
    open_database(database_path, schema);
    // Only here: each page is written once.
    floor_run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576;");
    if (secret_bytes > sizeof secret || floor_step(begin)) floor_fail("begin to fill");
    for (uint64_t item = 0; item < items; item++)
        is_equal ? equal_add(item, secret, secret_bytes) : bare_add(item, secret, secret_bytes);
    if (floor_step(commit)) floor_fail("fill its table");
    for (sqlite3_stmt *statement; (statement = sqlite3_next_stmt(database, NULL)) != NULL;) sqlite3_finalize(statement);
    sqlite3_close(database);
    database = NULL;
}

// MARK: Requests

int floor_begin(void) {
    if (!is_changing && floor_step(begin)) return -1;
    is_changing = 1;
    return 0;
}

void floor_answer(connection *connection, const char *json, const void *payload, size_t payload_bytes) {
    const size_t json_bytes = strlen(json);
    uint8_t *place = connection->answer + connection->answered;
    store_big_endian(place, (uint32_t)json_bytes);
    store_big_endian(place + 4, (uint32_t)payload_bytes);
    memcpy(place + header_bytes, json, json_bytes);
    if (payload_bytes > 0) memcpy(place + header_bytes + json_bytes, payload, payload_bytes);
    connection->answered += header_bytes + json_bytes + payload_bytes;
}

uint64_t floor_digits(const char *json, size_t json_bytes, const char *name) {
    const char *place = memmem(json, json_bytes, name, strlen(name));
    uint64_t number = 0;
    if (place == NULL) return 0;
    for (place += strlen(name); place < json + json_bytes && *place >= '0' && *place <= '9'; place++)
        number = 10 * number + (uint64_t)(*place - '0');
    return number;
}

static void carry_out(connection *connection, request *request) {
    static const char mark[] = "\"method\":\"";
    const char *method = memmem(request->json, request->json_bytes, mark, sizeof mark - 1);
    request->method = method ? method + sizeof mark - 1 : request->json;
    request->item = floor_digits(request->json, request->json_bytes, "user-");
    if (request->payload_bytes > secret_most_bytes
        || (is_equal ? equal_carry_out(connection, request) : bare_carry_out(connection, request)))
        floor_answer(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"it failed\"}}", NULL, 0);
}

// MARK: Connections

static void end(connection *connection) {
    close(connection->socket);
    free(connection);
}

static void send_answers(connection *connection) {
    for (size_t done = 0; done < connection->answered;) {
        const ssize_t count = send(connection->socket, connection->answer + done, connection->answered - done, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return end(connection);
        if (count > 0) done += (size_t)count;
    }
    connection->answered = 0;
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
        request request = {
            .json = (const char *)frame + header_bytes,
            .json_bytes = json_bytes,
            .payload = frame + header_bytes + json_bytes,
            .payload_bytes = (uint32_t)payload_bytes,
        };
        carry_out(connection, &request);
        done += all;
    }
    connection->arrived -= done;
    memmove(connection->request, connection->request + done, connection->arrived);
    if (!is_changing) return send_answers(connection);
    connection->next = waiting;
    waiting = connection;
}

/// Ends a turn: the answers wait until its changes are on the disk.
static void end_turn(void) {
    if (is_equal && equal_patience() == 0 && floor_begin()) floor_fail("begin to record");
    if (!is_changing) return;
    if (is_equal) equal_end_turn();
    is_changing = 0;
    if (floor_step(commit)) floor_fail("commit");
    if (is_equal) equal_committed();
    while (waiting != NULL) {
        connection *connection = waiting;
        waiting = connection->next;
        send_answers(connection);
    }
}

static void accept_client(int epoll, int listener) {
    const int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0) return;
    connection *new = calloc(1, sizeof(connection));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = new};
    if (new == NULL || epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) < 0) floor_fail("take another connection");
    new->socket = socket;
}

_Noreturn void floor_serve(const char *database_path, const char *socket_path, int equal) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    is_equal = equal;
    open_database(database_path, NULL);
    if (strlen(socket_path) >= sizeof address.sun_path) floor_fail("listen");
    strcpy(address.sun_path, socket_path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0
        || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        floor_fail("listen");
    while (1) {
        struct epoll_event events[256];
        const int count = epoll_wait(epoll, events, 256, is_equal ? equal_patience() : -1);
        for (int index = 0; index < count; index++) {
            if (events[index].data.ptr != NULL)
                serve(events[index].data.ptr);
            else
                accept_client(epoll, listener);
        }
        end_turn();
    }
}
