#include "CBenchmarks.h"
#include "common.h"

#include <dlfcn.h>
#include <stdio.h>

// A Secret Service by its client library, libsecret, which is loaded where it is installed and missed nowhere else. What
// is declared here of GLib and of libsecret is as their headers have it, and no more than is called.

enum { schema_flags_none = 0, schema_attribute_string = 0 };

typedef struct {
    const char *name;
    int flags;
    struct {
        const char *name;
        int type;
    } attributes[32];
    int reserved;
    void *more_reserved[7];
} secret_schema;

typedef struct {
    uint32_t domain;
    int code;
    char *message;
} glib_error;

static struct {
    void *(*new_table)(void *hash, void *is_equal, void *free_key, void *free_value);
    int (*insert)(void *table, void *key, void *value);
    void (*release_table)(void *table);
    void *hash_text;
    void *is_equal_text;
    int (*store)(
        const secret_schema *, void *attributes, const char *collection, const char *label, const char *secret,
        void *cancellable, glib_error **
    );
    char *(*look_up)(const secret_schema *, void *attributes, void *cancellable, glib_error **);
    int (*clear)(const secret_schema *, void *attributes, void *cancellable, glib_error **);
    void (*release_secret)(char *secret);
} library;

static const secret_schema schema = {
    .name = "org.example.Benchmark",
    .flags = schema_flags_none,
    .attributes = {{"service", schema_attribute_string}, {"account", schema_attribute_string}},
};

static char trouble[256];

int keyring_load(void) {
    void *glib = dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_GLOBAL);
    void *secret = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (glib == NULL || secret == NULL) return 0;
    library.new_table = (void *(*)(void *, void *, void *, void *))dlsym(glib, "g_hash_table_new_full");
    library.insert = (int (*)(void *, void *, void *))dlsym(glib, "g_hash_table_insert");
    library.release_table = (void (*)(void *))dlsym(glib, "g_hash_table_unref");
    library.hash_text = dlsym(glib, "g_str_hash");
    library.is_equal_text = dlsym(glib, "g_str_equal");
    *(void **)&library.store = dlsym(secret, "secret_password_storev_sync");
    *(void **)&library.look_up = dlsym(secret, "secret_password_lookupv_sync");
    *(void **)&library.clear = dlsym(secret, "secret_password_clearv_sync");
    *(void **)&library.release_secret = dlsym(secret, "secret_password_free");
    return library.new_table && library.insert && library.release_table && library.hash_text && library.is_equal_text
        && library.store && library.look_up && library.clear && library.release_secret;
}

enum operation { store, look_up, clear };

/// Does it once. Returns how long it took, or 0 where it failed.
static uint64_t carry_out(enum operation operation, uint64_t item) {
    static char service[64], account[64];
    snprintf(service, sizeof service, "site-%06llu.example.org", (unsigned long long)item / 10);
    snprintf(account, sizeof account, "user-%07llu@example.net", (unsigned long long)item);
    void *attributes = library.new_table(library.hash_text, library.is_equal_text, NULL, NULL);
    library.insert(attributes, "service", service);
    library.insert(attributes, "account", account);

    glib_error *error = NULL;
    char *secret = NULL;
    int is_done = 0;
    const uint64_t begun = now();
    switch (operation) {
    case store:
        is_done = library.store(
            &schema, attributes, "/org/freedesktop/secrets/collection/login", account,
            "a secret of a usual length, 0000", NULL, &error
        );
        break;
    case look_up:
        secret = library.look_up(&schema, attributes, NULL, &error);
        is_done = secret != NULL;
        break;
    case clear: is_done = library.clear(&schema, attributes, NULL, &error); break;
    }
    const uint64_t taken = now() - begun;
    if (secret != NULL) library.release_secret(secret);
    library.release_table(attributes);
    if (is_done) return taken;
    snprintf(
        trouble, sizeof trouble, "the Secret Service and '%s': %s", account,
        error != NULL ? error->message : "it does not have it"
    );
    return 0;
}

const char *keyring_store(uint64_t first, uint64_t count, uint64_t *nanoseconds) {
    for (uint64_t index = 0; index < count; index++)
        if ((nanoseconds[index] = carry_out(store, first + index)) == 0) return trouble;
    return NULL;
}

const char *keyring_look_up(uint64_t items, uint64_t count, uint64_t seed, uint64_t *nanoseconds) {
    for (uint64_t index = 0; index < count; index++)
        if ((nanoseconds[index] = carry_out(look_up, scatter(seed + index) % items)) == 0) return trouble;
    return NULL;
}

const char *keyring_clear(uint64_t first, uint64_t count, uint64_t *nanoseconds) {
    for (uint64_t index = 0; index < count; index++)
        if ((nanoseconds[index] = carry_out(clear, first + index)) == 0) return trouble;
    return NULL;
}
