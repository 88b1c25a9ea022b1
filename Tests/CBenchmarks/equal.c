#define _GNU_SOURCE
#include "floor.h"

#include <CLogWriter.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

// The daemon that does the work of Coffer's formats, and no more (proto-docs/FORMATS.md): the tables and indexes of the
// catalog; the seals, openings, keyed hashes and random bytes of a request, by libsodium and in the same sizes; for a change
// the same rows (item, tags, former value, audit) in the transaction of the turn, with one sync and the mark of the log; for
// reads their records of the audit, counted and written within 250 ms or when 1024 wait, as Coffer does.
//
//   get     1 hash, SELECT, opens metadata, 1 hash, opens the item's key and the secret
//   find    the same, with the tags of an attribute in place of the primary tag
//   put     the search of a get, and of the other store; seals a key, the secret, metadata and the former row; 2 hashes;
//           UPDATE, INSERT INTO past, DELETE of the eleventh former row
//   add     3 seals, 5 hashes, a row and two tags; delete removes them
//   turn    for a change or due records: seals the block, the head and the end of the audit; 1 hash
//
// Its keys are constants, and nothing is wiped.

enum { id_bytes = 16, tag_bytes = 32, key_bytes = crypto_aead_xchacha20poly1305_ietf_KEYBYTES };
enum { nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, overhead = nonce_bytes + 16 };
// Metadata of an item that was added, and of one that was put, which has the decision as well; the first byte of what is
// sealed under names is its form.
enum { added_bytes = 113, put_bytes = 135, most_metadata = 1 + overhead + put_bytes };
enum { padded_bytes = 64, wrapped_key_bytes = overhead + key_bytes, secret_bytes = overhead + padded_bytes };
enum { class_key = 6, name_bytes = service_bytes + 1 + account_bytes };
enum { block_records = 256, most_records = 4096, due_records = 1024, record_places = 8192, delay_milliseconds = 250 };
enum { block_bytes = 64 + 128 * block_records, log_frames = 1000, log_write_bytes = 64 << 10, mark_bytes = 40 };

static uint8_t keys[8][key_bytes];
static const uint8_t *const search_key = keys[0], *const names_key = keys[1], *const metadata_key = keys[2],
                            *const class_key_key = keys[3], *const past_key = keys[4], *const audit_names_key = keys[5],
                            *const audit_key = keys[6];
static const uint8_t vault_id[id_bytes];

static sqlite3_stmt *find_named, *find_tagged, *find_file, *insert, *insert_tag, *update, *delete, *delete_tag, *keep, *trim;
static sqlite3_stmt *insert_block, *write_head, *write_end;
/// The number of the next former row, which is never used again.
static int64_t next_former = 1;

// MARK: Bytes

typedef struct {
    uint8_t *bytes;
    size_t count;
} writer;

static void put(writer *writer, const void *bytes, size_t count) {
    memcpy(writer->bytes + writer->count, bytes, count);
    writer->count += count;
}

static void put_text(writer *writer, const char *text) { put(writer, text, strlen(text)); }

static void put_number(writer *writer, uint64_t number, int bytes) {
    while (bytes-- > 0) writer->bytes[writer->count++] = (uint8_t)(number >> 8 * bytes);
}

static void put_counted(writer *writer, const void *bytes, size_t count) {
    put_number(writer, count, 2);
    put(writer, bytes, count);
}

static void put_field(writer *writer, const void *bytes, size_t count) {
    put_number(writer, count, 4);
    put(writer, bytes, count);
}

/// Begins the message of a keyed hash, or the context of a seal.
#define BEGIN(name, size) \
    uint8_t name##_bytes[size]; \
    writer name = {name##_bytes, 0}

static void put_purpose(writer *message, const char *purpose) { put_counted(message, purpose, strlen(purpose) + 1); }

static void hash(uint8_t *tag, size_t size, const writer *message, const uint8_t *key) {
    crypto_generichash(tag, size, message->bytes, message->count, key, key_bytes);
}

static void seal(writer *sealed, const void *plaintext, size_t count, const writer *context, const uint8_t *key) {
    uint8_t *nonce = sealed->bytes + sealed->count;
    randombytes_buf(nonce, nonce_bytes);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        nonce + nonce_bytes, NULL, plaintext, count, context->bytes, context->count, NULL, nonce, key
    );
    sealed->count += overhead + count;
}

static int open_sealed(uint8_t *plaintext, const uint8_t *sealed, size_t count, const writer *context, const uint8_t *key) {
    return crypto_aead_xchacha20poly1305_ietf_decrypt(
        plaintext, NULL, NULL, sealed + nonce_bytes, count - nonce_bytes, context->bytes, context->count, sealed, key
    );
}

// MARK: Items

typedef struct {
    int64_t row;
    uint8_t id[id_bytes], primary_tag[tag_bytes], wrapped_key[wrapped_key_bytes], secret[secret_bytes];
    uint8_t metadata[most_metadata];
    size_t metadata_bytes;
    /// The tag of the secret, its size, two dates, the service and the account.
    uint8_t opened[put_bytes];
} item;

enum { opened_size = 16, opened_service = opened_size + 4 + 8 + 8, opened_account = opened_service + service_bytes };

static const char group[] = "default";

static void hash_name(uint8_t tag[tag_bytes], const char *service, const char *account) {
    BEGIN(message, 128);
    put_purpose(&message, "coffer generic password tag v1");
    put_field(&message, group, sizeof group - 1);
    put_field(&message, service, service_bytes);
    put_field(&message, account, account_bytes);
    hash(tag, tag_bytes, &message, search_key);
}

static void hash_attribute(uint8_t tag[16], uint8_t code, const char *value, size_t count) {
    BEGIN(message, 128);
    put_purpose(&message, "coffer attribute tag v1");
    put_field(&message, group, sizeof group - 1);
    put_field(&message, &code, 1);
    put_field(&message, value, count);
    hash(tag, 16, &message, search_key);
}

static void hash_secret(uint8_t tag[16], const item *item) {
    BEGIN(message, 256);
    put_purpose(&message, "coffer secret tag v1");
    put_field(&message, item->wrapped_key, wrapped_key_bytes);
    put_field(&message, item->secret, secret_bytes);
    hash(tag, 16, &message, metadata_key);
}

#define BEGIN_METADATA_CONTEXT(item) \
    BEGIN(context, 128); \
    put_text(&context, "coffer keychain metadata v1"); \
    put(&context, (item)->id, id_bytes); \
    put_number(&context, class_key, 1); \
    put(&context, (item)->primary_tag, tag_bytes)

#define BEGIN_SECRET_CONTEXTS(item) \
    BEGIN(key_context, 64); \
    BEGIN(context, 64); \
    put_text(&key_context, "coffer item key v1"); \
    put_number(&key_context, class_key, 1); \
    put(&key_context, (item)->id, id_bytes); \
    put_text(&context, "coffer keychain secret v1"); \
    put(&context, (item)->id, id_bytes)

static int copy(void *place, sqlite3_stmt *statement, int column, int count) {
    if (sqlite3_column_bytes(statement, column) != count) return -1;
    memcpy(place, sqlite3_column_blob(statement, column), (size_t)count);
    return 0;
}

/// Reads the row of a statement, opens its metadata, and compares the tag of the secret.
static int load(item *item, sqlite3_stmt *statement) {
    int code = sqlite3_step(statement) == SQLITE_ROW ? 0 : -1;
    if (code == 0) {
        item->row = sqlite3_column_int64(statement, 0);
        item->metadata_bytes = (size_t)sqlite3_column_bytes(statement, 4);
        code = item->metadata_bytes > most_metadata || copy(item->id, statement, 1, id_bytes)
            || copy(item->primary_tag, statement, 3, tag_bytes)
            || copy(item->metadata, statement, 4, (int)item->metadata_bytes)
            || copy(item->wrapped_key, statement, 5, wrapped_key_bytes) || copy(item->secret, statement, 6, secret_bytes);
    }
    sqlite3_reset(statement);
    if (code) return -1;
    BEGIN_METADATA_CONTEXT(item);
    if (open_sealed(item->opened, item->metadata + 1, item->metadata_bytes - 1, &context, names_key)) return -1;
    uint8_t tag[16];
    hash_secret(tag, item);
    return sodium_memcmp(tag, item->opened, sizeof tag);
}

static int load_named(item *item, const char *service, const char *account) {
    uint8_t tag[tag_bytes];
    hash_name(tag, service, account);
    floor_bind(find_named, 1, tag, sizeof tag);
    return load(item, find_named);
}

static int load_tagged(item *item, const char *service, const char *account) {
    uint8_t tag[16];
    hash_attribute(tag, 2, account, account_bytes);
    floor_bind(find_tagged, 1, tag, sizeof tag);
    return load(item, find_tagged) || memcmp(item->opened + opened_service, service, service_bytes)
        || memcmp(item->opened + opened_account, account, account_bytes);
}

/// Looks for a file at the first part of the name, below which a put would lie.
static int is_file(const char *service) {
    static const uint8_t root[8];
    uint8_t tag[tag_bytes];
    BEGIN(message, 128);
    put_purpose(&message, "coffer file name tag v1");
    put_field(&message, root, sizeof root);
    put_field(&message, group, sizeof group - 1);
    put_field(&message, service, service_bytes);
    hash(tag, tag_bytes, &message, search_key);
    floor_bind(find_file, 1, tag, sizeof tag);
    const int is_found = sqlite3_step(find_file) == SQLITE_ROW;
    sqlite3_reset(find_file);
    return is_found;
}

static int open_secret(uint8_t padded[padded_bytes], const item *item) {
    uint8_t key[key_bytes];
    BEGIN_SECRET_CONTEXTS(item);
    return open_sealed(key, item->wrapped_key, wrapped_key_bytes, &key_context, class_key_key)
        || open_sealed(padded, item->secret, secret_bytes, &context, key);
}

static void seal_secret(item *item, const uint8_t *secret, uint32_t count) {
    uint8_t key[key_bytes], padded[padded_bytes] = {0};
    BEGIN_SECRET_CONTEXTS(item);
    writer wrapped = {item->wrapped_key, 0}, sealed = {item->secret, 0};
    randombytes_buf(key, sizeof key);
    seal(&wrapped, key, sizeof key, &key_context, class_key_key);
    store_big_endian(padded, count);
    memcpy(padded + 4, secret, count);
    seal(&sealed, padded, sizeof padded, &context, key);
    hash_secret(item->opened, item);
    store_big_endian(item->opened + opened_size, count);
}

static void seal_metadata(item *item, size_t count) {
    BEGIN_METADATA_CONTEXT(item);
    writer sealed = {item->metadata, 0};
    put_number(&sealed, 1, 1);
    seal(&sealed, item->opened, count, &context, names_key);
    item->metadata_bytes = sealed.count;
}

static int write_tags(sqlite3_stmt *statement, int64_t row, const char *service, const char *account) {
    uint8_t tags[2][16];
    hash_attribute(tags[0], 2, account, account_bytes);
    hash_attribute(tags[1], 3, service, service_bytes);
    for (int index = 0; index < 2; index++) {
        floor_bind(statement, 1, tags[index], sizeof tags[index]);
        sqlite3_bind_int64(statement, 2, row);
        if (floor_step(statement)) return -1;
    }
    return 0;
}

static int add(item *item, const char *service, const char *account, const uint8_t *secret, uint32_t count, size_t size) {
    memset(item->opened, 0, sizeof item->opened);
    memcpy(item->opened + opened_service, service, service_bytes);
    memcpy(item->opened + opened_account, account, account_bytes);
    randombytes_buf(item->id, id_bytes);
    hash_name(item->primary_tag, service, account);
    seal_secret(item, secret, count);
    seal_metadata(item, size);
    floor_bind(insert, 1, item->id, id_bytes);
    floor_bind(insert, 2, item->primary_tag, tag_bytes);
    floor_bind(insert, 3, item->metadata, item->metadata_bytes);
    floor_bind(insert, 4, item->wrapped_key, wrapped_key_bytes);
    floor_bind(insert, 5, item->secret, secret_bytes);
    return floor_step(insert) || write_tags(insert_tag, sqlite3_last_insert_rowid(database), service, account);
}

/// Adds the row as it is to the past, and removes the oldest one beyond the limit.
static int keep_former(const item *item) {
    BEGIN(former, 1 + 8 + 1 + 64 + 16 + tag_bytes + most_metadata + wrapped_key_bytes + secret_bytes);
    put_number(&former, 1, 1);
    put_number(&former, now() / 1000000, 8);
    put_number(&former, 0, 1);
    put_number(&former, 1, 1);
    put(&former, item->id, id_bytes);
    put_number(&former, 0, 8);
    put_number(&former, 0, 8);
    put_number(&former, class_key, 1);
    put_field(&former, item->primary_tag, tag_bytes);
    put_field(&former, item->metadata, item->metadata_bytes);
    put_field(&former, item->wrapped_key, wrapped_key_bytes);
    put_field(&former, item->secret, secret_bytes);
    BEGIN(context, 128);
    put_text(&context, "coffer past v1");
    for (int index = 0; index < 5; index++)
        put_number(&context, (uint64_t[]){(uint64_t)next_former, 1, 0, 0, former.count}[index], 8);
    put(&context, item->id, id_bytes);
    BEGIN(sealed, sizeof former_bytes + overhead + 1);
    put_number(&sealed, 1, 1);
    seal(&sealed, former.bytes, former.count, &context, past_key);
    sqlite3_bind_int64(keep, 1, next_former++);
    floor_bind(keep, 2, item->id, id_bytes);
    sqlite3_bind_int64(keep, 3, (int64_t)former.count);
    floor_bind(keep, 4, sealed.bytes, sealed.count);
    floor_bind(trim, 1, item->id, id_bytes);
    return floor_step(keep) || floor_step(trim);
}

static int replace(item *item, const uint8_t *secret, uint32_t count, size_t size) {
    if (keep_former(item)) return -1;
    seal_secret(item, secret, count);
    seal_metadata(item, size);
    floor_bind(update, 1, item->metadata, item->metadata_bytes);
    floor_bind(update, 2, item->wrapped_key, wrapped_key_bytes);
    floor_bind(update, 3, item->secret, secret_bytes);
    sqlite3_bind_int64(update, 4, item->row);
    return floor_step(update);
}

// MARK: Audit

enum action { action_get, action_find, action_put, action_add, action_update, action_delete };
static const char *const actions[] = {
    "item.get", "keychain.find", "item.put", "keychain.add", "keychain.update", "keychain.delete",
};

typedef struct {
    uint64_t time;
    enum action action;
    uint32_t count;
    char name[name_bytes];
    /// Of a request that names the class and the attributes.
    int has_id;
    uint8_t id[id_bytes];
} record;

static record records[most_records];
static size_t record_count;
static uint16_t places[record_places];
static uint64_t deadline;
static struct {
    uint64_t next, bytes;
    uint8_t chain[tag_bytes], anchor[tag_bytes];
} head = {.next = 1};

/// Notes what was done; what was done to the same item again is counted.
static void note(const request *request, enum action action, const char *service, const char *account, const item *item) {
    char name[name_bytes];
    memcpy(name, service, service_bytes);
    name[service_bytes] = '/';
    memcpy(name + service_bytes + 1, account, account_bytes);
    uint16_t *place = &places[scatter(request->item * 8 + action) % record_places];
    record *like = &records[*place];
    if (*place < record_count && like->action == action && memcmp(like->name, name, name_bytes) == 0) {
        like->count++;
        return;
    }
    if (record_count == most_records) return;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (record_count == 0) deadline = now() + delay_milliseconds * 1000000ull;
    *place = (uint16_t)record_count;
    record *new = &records[record_count++];
    *new = (record){(uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000, action, 1};
    memcpy(new->name, name, name_bytes);
    new->has_id = action != action_get && action != action_put;
    memcpy(new->id, item->id, id_bytes);
}

static void put_record(writer *block, const record *record) {
    put_number(block, 0, 2);
    put_number(block, record->time, 8);
    put_counted(block, actions[record->action], strlen(actions[record->action]));
    // The state, and neither a refusal nor a reason.
    put_number(block, 3 << 16, 3);
    put_number(block, record->count, 4);
    put_number(block, 1, 4);
    put_number(block, 1, 1);
    put_number(block, 1, 1);
    put_counted(block, group, sizeof group - 1);
    put_number(block, 1, 1);
    put_counted(block, record->name, name_bytes);
    put_counted(block, record->id, record->has_id ? id_bytes : 0);
}

static void write_block(const record *first, size_t count) {
    static uint8_t block_storage[block_bytes], sealed_storage[block_bytes + overhead + 1], link_storage[block_bytes + 128];
    writer block = {block_storage, 0}, sealed = {sealed_storage, 0}, link = {link_storage, 0};
    static const char program[43] = "/usr/bin/benchmarks";
    put_number(&block, 1, 1);
    put_number(&block, 1, 2);
    // The client: uid, gid, no units, the program, in no container.
    put_number(&block, 0, 8);
    put_number(&block, 1, 3);
    put_counted(&block, program, sizeof program);
    put_number(&block, 0, 2);
    put_number(&block, count, 2);
    for (size_t index = 0; index < count; index++) put_record(&block, &first[index]);
    BEGIN(context, 64);
    put_text(&context, "coffer audit block v1");
    put(&context, vault_id, id_bytes);
    put_number(&context, head.next, 8);
    put_number(&sealed, 1, 1);
    seal(&sealed, block.bytes, block.count, &context, audit_names_key);
    uint8_t number_bytes[8];
    writer number = {number_bytes, 0};
    put_number(&number, head.next, 8);
    put_purpose(&link, "coffer audit link v1");
    put_field(&link, head.chain, tag_bytes);
    put_field(&link, number_bytes, sizeof number_bytes);
    put_field(&link, sealed.bytes, sealed.count);
    hash(head.chain, tag_bytes, &link, audit_key);
    sqlite3_bind_int64(insert_block, 1, (int64_t)head.next);
    floor_bind(insert_block, 2, sealed.bytes, sealed.count);
    floor_bind(insert_block, 3, head.chain, tag_bytes);
    if (floor_step(insert_block)) floor_fail("record what was done");
    head.next += count;
    head.bytes += sealed.count;
}

static void write_sealed(sqlite3_stmt *statement, const writer *plaintext, const char *purpose) {
    BEGIN(context, 64);
    BEGIN(sealed, 256);
    put_text(&context, purpose);
    put(&context, vault_id, id_bytes);
    seal(&sealed, plaintext->bytes, plaintext->count, &context, audit_key);
    floor_bind(statement, 1, sealed.bytes, sealed.count);
    if (floor_step(statement)) floor_fail("record what was done");
}

void equal_end_turn(void) {
    for (size_t done = 0; done < record_count; done += block_records)
        write_block(&records[done], record_count - done < block_records ? record_count - done : block_records);
    record_count = 0;
    BEGIN(plaintext, 128);
    put_number(&plaintext, 1, 1);
    put_number(&plaintext, head.next, 8);
    put_number(&plaintext, head.bytes, 8);
    put_number(&plaintext, 0, 8);
    put(&plaintext, head.chain, tag_bytes);
    put(&plaintext, head.anchor, tag_bytes);
    // Nothing was dropped.
    for (int index = 0; index < 4; index++) put_number(&plaintext, 0, 8);
    put_number(&plaintext, 0, 2);
    write_sealed(write_head, &plaintext, "coffer audit head v1");
    plaintext.count = 0;
    put_number(&plaintext, 1, 1);
    put_number(&plaintext, head.next, 8);
    put(&plaintext, head.chain, tag_bytes);
    put_number(&plaintext, 0, 8);
    put_number(&plaintext, 0, 1);
    write_sealed(write_end, &plaintext, "coffer audit end v1");
}

int equal_patience(void) {
    if (record_count == 0) return -1;
    const uint64_t time = now();
    return record_count >= due_records || time >= deadline ? 0 : (int)((deadline - time) / 1000000) + 1;
}

// MARK: The log

static int mark = -1;
static uint32_t frame_count;

static int logged(void *context, sqlite3 *handle, const char *name, int count) {
    static int gathers;
    (void)context;
    frame_count = (uint32_t)count;
    if (!gathers) gathers = coffer_gather_log_writes(handle, log_write_bytes) == SQLITE_OK;
    if (count >= log_frames) sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

void equal_committed(void) {
    BEGIN(bytes, mark_bytes);
    put_text(&bytes, "COFFERLM");
    put_number(&bytes, 1 << 16, 4);
    // The salts and the checksum would take a few nanoseconds.
    put_number(&bytes, 0, 8);
    put_number(&bytes, frame_count, 4);
    put_number(&bytes, head.next, 8);
    put_number(&bytes, 0, 8);
    if (pwrite(mark, bytes.bytes, bytes.count, 0) != mark_bytes) floor_fail("mark the end of its log");
}

// MARK: Requests

int equal_carry_out(connection *connection, const request *request) {
    const char *service = memmem(request->json, request->json_bytes, "site-", 5);
    const char *account = memmem(request->json, request->json_bytes, "user-", 5);
    uint8_t padded[padded_bytes];
    item item;
    if (service == NULL || account == NULL) return -1;
    if (is_method(request, "item.get")) {
        if (load_named(&item, service, account) || open_secret(padded, &item)) return -1;
        note(request, action_get, service, account, &item);
        char json[128];
        snprintf(
            json, sizeof json,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"store\":\"keychain\",\"size\":%u,\"delivery\":\"payload\"}}",
            load_big_endian(padded)
        );
        floor_answer(connection, json, padded + 4, load_big_endian(padded));
        return 0;
    }
    if (is_method(request, "keychain.find")) {
        if (load_tagged(&item, service, account) || open_secret(padded, &item)) return -1;
        note(request, action_find, service, account, &item);
        char reference[2 * id_bytes + 1], json[256];
        sodium_bin2hex(reference, sizeof reference, item.id, id_bytes);
        snprintf(
            json, sizeof json,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"items\":[{\"class\":\"genericPassword\",\"reference\":\"%s\","
            "\"bytes\":%u}],\"lockedCount\":0,\"unauthenticatedCount\":0,\"damagedCount\":0}}",
            reference, load_big_endian(padded)
        );
        floor_answer(connection, json, padded + 4, load_big_endian(padded));
        return 0;
    }

    if (floor_begin()) return -1;
    if (is_method(request, "item.put")) {
        if (is_file(service)) return -1;
        if (load_named(&item, service, account)
                ? add(&item, service, account, request->payload, request->payload_bytes, put_bytes)
                : replace(&item, request->payload, request->payload_bytes, put_bytes))
            return -1;
        note(request, action_put, service, account, &item);
        const char *json =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"store\":\"keychain\",\"accessible\":\"WhenUnlocked\",\"rule\":\"R6\","
            "\"reason\":\"what has no stated kind and at most 1024 bytes belongs in the keychain\","
            "\"protectionSource\":\"existingItem\",\"warnings\":[]}}";
        floor_answer(connection, json, NULL, 0);
        return 0;
    }
    if (is_method(request, "keychain.add")) {
        if (is_file(service) || add(&item, service, account, request->payload, request->payload_bytes, added_bytes)) return -1;
        note(request, action_add, service, account, &item);
        char reference[2 * id_bytes + 1], json[128];
        sodium_bin2hex(reference, sizeof reference, item.id, id_bytes);
        snprintf(
            json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"reference\":\"%s\",\"warnings\":[]}}", reference
        );
        floor_answer(connection, json, NULL, 0);
        return 0;
    }
    if (load_tagged(&item, service, account)) return -1;
    if (is_method(request, "keychain.update")) {
        if (replace(&item, request->payload, request->payload_bytes, item.metadata_bytes - 1 - overhead)) return -1;
        note(request, action_update, service, account, &item);
        floor_answer(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"count\":1,\"warnings\":[]}}", NULL, 0);
        return 0;
    }
    if (!is_method(request, "keychain.delete")) return -1;
    sqlite3_bind_int64(delete, 1, item.row);
    if (write_tags(delete_tag, item.row, service, account) || floor_step(delete)) return -1;
    note(request, action_delete, service, account, &item);
    floor_answer(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"count\":1}}", NULL, 0);
    return 0;
}

// MARK: Preparing

#define COLUMNS "SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM "

void equal_prepare(const char *database_path) {
    char path[4096];
    if (sodium_init() < 0) floor_fail("use libsodium");
    for (size_t index = 0; index < sizeof keys / sizeof keys[0]; index++) memset(keys[index], (int)index + 1, key_bytes);
    find_named = floor_prepare(COLUMNS "keychain_items WHERE primary_tag = ?");
    find_tagged = floor_prepare(COLUMNS "keychain_tags JOIN keychain_items ON id = item WHERE tag = ? ORDER BY item");
    find_file = floor_prepare("SELECT id FROM file_nodes WHERE parent = 0 AND name_tag = ?");
    insert = floor_prepare("INSERT INTO keychain_items (uuid, class_key, primary_tag, metadata, wrapped_key, secret)"
                           " VALUES (?, 6, ?, ?, ?, ?)");
    insert_tag = floor_prepare("INSERT OR IGNORE INTO keychain_tags (tag, item) VALUES (?, ?)");
    update = floor_prepare("UPDATE keychain_items SET metadata = ?, wrapped_key = ?, secret = ? WHERE id = ?");
    delete = floor_prepare("DELETE FROM keychain_items WHERE id = ?");
    delete_tag = floor_prepare("DELETE FROM keychain_tags WHERE tag = ? AND item = ?");
    keep = floor_prepare("INSERT INTO past (number, reason, owner, time, bytes, wants_passcode, label, sealed)"
                         " VALUES (?, 1, ?, 0, ?, 0, x'', ?)");
    trim = floor_prepare("DELETE FROM past WHERE owner = ?1 AND reason = 1 AND entry IS NULL AND number <= (SELECT number"
                         " FROM past WHERE owner = ?1 AND reason = 1 AND entry IS NULL ORDER BY number DESC LIMIT 1 OFFSET 10)");
    insert_block = floor_prepare("INSERT INTO audit_blocks (first, sealed, chain) VALUES (?, ?, ?)");
    write_head = floor_prepare("INSERT OR REPLACE INTO audit_head (only, sealed) VALUES (1, ?)");
    write_end = floor_prepare("INSERT OR REPLACE INTO catalog_settings (name, value) VALUES ('auditEnd', ?)");
    snprintf(path, sizeof path, "%s-mark", database_path);
    mark = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (mark < 0) floor_fail("open its mark");
    sqlite3_wal_hook(database, logged, NULL);
}

void equal_add(uint64_t number, const uint8_t *secret, uint32_t count) {
    char service[service_bytes + 1], account[account_bytes + 1];
    item item;
    snprintf(service, sizeof service, "site-%06u.example.org", (unsigned)(number / 10) % 1000000);
    snprintf(account, sizeof account, "user-%07u@example.net", (unsigned)number % 10000000);
    if (add(&item, service, account, secret, count, added_bytes)) floor_fail("fill its table");
}
