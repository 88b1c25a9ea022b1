#include "floor.h"

#include <stdio.h>
#include <stdlib.h>

// A daemon that encrypts nothing, records nothing and decides nothing: one row for each item, found by an index.
//
// `floor.commit` carries out so many commits of one INSERT each and says how long they took, without a socket between.

enum { metadata_bytes = 146, wrapped_key_bytes = 72, sealed_bytes = 104 };

static sqlite3_stmt *find, *insert, *update, *delete, *begin, *commit;

void bare_prepare(void) {
    floor_run("CREATE TABLE IF NOT EXISTS keychain_items (id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE,"
              " class_key INTEGER NOT NULL, primary_tag BLOB NOT NULL UNIQUE, metadata BLOB NOT NULL,"
              " wrapped_key BLOB NOT NULL, secret BLOB NOT NULL) STRICT");
    find = floor_prepare("SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items"
                         " WHERE primary_tag = ?1");
    insert = floor_prepare("INSERT INTO keychain_items (primary_tag, uuid, class_key, metadata, wrapped_key, secret)"
                           " VALUES (?1, ?2, 6, ?3, ?4, ?5)");
    update = floor_prepare("UPDATE keychain_items SET class_key = 6, metadata = ?3, wrapped_key = ?4, secret = ?5"
                           " WHERE primary_tag = ?1 AND ?2 IS NOT NULL");
    delete = floor_prepare("DELETE FROM keychain_items WHERE primary_tag = ?1");
    begin = floor_prepare("BEGIN IMMEDIATE");
    commit = floor_prepare("COMMIT");
}

/// The key of an item, as scattered as a keyed hash.
static void make_key(uint64_t item, uint64_t key[4]) {
    for (uint64_t part = 0; part < 4; part++) key[part] = scatter(4 * item + part);
}

static int write_row(sqlite3_stmt *statement, uint64_t item, const uint8_t *secret, uint32_t secret_bytes) {
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
    floor_bind(statement, 1, key, sizeof key);
    floor_bind(statement, 2, uuid, sizeof uuid);
    floor_bind(statement, 3, metadata, sizeof metadata);
    floor_bind(statement, 4, wrapped_key, sizeof wrapped_key);
    floor_bind(statement, 5, sealed, sizeof sealed);
    return floor_step(statement);
}

void bare_add(uint64_t item, const uint8_t *secret, uint32_t secret_bytes) {
    if (write_row(insert, item, secret, secret_bytes)) floor_fail("fill its table");
}

static int delete_row(uint64_t item) {
    uint64_t key[4];
    make_key(item, key);
    floor_bind(delete, 1, key, sizeof key);
    return floor_step(delete);
}

static int answer_find(connection *connection, uint64_t item) {
    uint64_t key[4];
    make_key(item, key);
    floor_bind(find, 1, key, sizeof key);
    const int is_found = sqlite3_step(find) == SQLITE_ROW;
    if (is_found) {
        const uint64_t *uuid = sqlite3_column_blob(find, 1);
        const uint8_t *sealed = sqlite3_column_blob(find, 6);
        char json[256];
        snprintf(
            json, sizeof json,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"items\":[{\"class\":\"genericPassword\",\"reference\":\"%016llx%016llx\","
            "\"bytes\":%u}],\"lockedCount\":0}}",
            (unsigned long long)uuid[0], (unsigned long long)uuid[1], load_big_endian(sealed)
        );
        floor_answer(connection, json, sealed + 4, load_big_endian(sealed));
    }
    sqlite3_reset(find);
    return is_found ? 0 : -1;
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
    for (uint64_t index = 0; code == 0 && index < count; index++) {
        const uint64_t start = now();
        code = floor_step(begin) || write_row(insert, first + index, secret, sizeof secret) || floor_step(commit);
        samples[index] = now() - start;
    }
    if (code == 0) code = floor_step(begin);
    for (uint64_t index = 0; code == 0 && index < count; index++) code = delete_row(first + index);
    if (code == 0) code = floor_step(commit);
    if (code == 0) {
        qsort(samples, count, sizeof *samples, compare);
        char json[128];
        const unsigned long long median = samples[count / 2];
        snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"median\":%llu}}", median);
        floor_answer(connection, json, NULL, 0);
    }
    free(samples);
    return code == 0 ? 0 : -1;
}

int bare_carry_out(connection *connection, const request *request) {
    if (is_method(request, "floor.commit"))
        return answer_commits(connection, floor_digits(request->json, request->json_bytes, "\"count\":"));
    if (is_method(request, "keychain.find")) return answer_find(connection, request->item);

    if (floor_begin()) return -1;
    if (is_method(request, "keychain.add")) {
        if (write_row(insert, request->item, request->payload, request->payload_bytes)) return -1;
        const char *json = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"reference\":\"0123456789abcdef0123456789abcdef\"}}";
        floor_answer(connection, json, NULL, 0);
        return 0;
    }
    if (is_method(request, "keychain.update")
            ? write_row(update, request->item, request->payload, request->payload_bytes)
            : delete_row(request->item))
        return -1;
    floor_answer(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"count\":1}}", NULL, 0);
    return 0;
}
