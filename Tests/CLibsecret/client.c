// A program with libsecret, as an application has it: client WORD… does one thing, and prints what it finds.
#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SecretSchema schema = {
    "org.coffer.Test", SECRET_SCHEMA_NONE,
    {{"name", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"number", SECRET_SCHEMA_ATTRIBUTE_INTEGER},
     {"flag", SECRET_SCHEMA_ATTRIBUTE_BOOLEAN}, {NULL, 0}}};

static int fail(GError *error) {
    fprintf(stderr, "%s %d: %s\n", g_quark_to_string(error->domain), error->code, error->message);
    return 1;
}

// Prints each item that has a name: its label, whether it is locked, its attributes, and its secret if there is one.
static int search(const char *name) {
    GError *error = NULL;
    GHashTable *attributes = secret_attributes_build(&schema, "name", name, NULL);
    SecretSearchFlags flags = SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS;
    GList *items = secret_service_search_sync(NULL, &schema, attributes, flags, NULL, &error);
    if (error) return fail(error);
    for (GList *link = items; link; link = link->next) {
        SecretItem *item = link->data;
        SecretValue *value = secret_item_get_secret(item);
        GHashTable *found = secret_item_get_attributes(item);
        printf("%s|%s|%s|%s|%s\n", secret_item_get_label(item), secret_item_get_locked(item) ? "locked" : "open",
               (char *)g_hash_table_lookup(found, "number"), secret_item_get_schema_name(item),
               value ? secret_value_get_text(value) : "-");
    }
    return 0;
}

static int store(const char *name, const char *secret, int number, const char *collection) {
    GError *error = NULL;
    secret_password_store_sync(&schema, collection, "A label", secret, NULL, &error, "name", name, "number", number,
                               "flag", TRUE, NULL);
    return error ? fail(error) : 0;
}

static int lookup(const char *name) {
    GError *error = NULL;
    gchar *secret = secret_password_lookup_sync(&schema, NULL, &error, "name", name, NULL);
    if (error) return fail(error);
    printf("%s\n", secret ? secret : "none");
    if (secret) secret_password_free(secret);
    return 0;
}

static int clear(const char *name) {
    GError *error = NULL;
    gboolean cleared = secret_password_clear_sync(&schema, NULL, &error, "name", name, NULL);
    if (error) return fail(error);
    printf("%s\n", cleared ? "cleared" : "none");
    return 0;
}

// Makes a collection with an item of binary content in it, and reads both.
static int collection(const char *label, const char *alias) {
    GError *error = NULL;
    SecretService *service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
    if (!service) return fail(error);
    SecretCollection *made = secret_collection_create_sync(service, label, alias, 0, NULL, &error);
    if (!made) return fail(error);
    GHashTable *attributes = secret_attributes_build(&schema, "name", "binary", NULL);
    SecretValue *value = secret_value_new("a\0b", 3, "application/octet-stream");
    SecretItem *item = secret_item_create_sync(made, &schema, attributes, "Binary", value, 0, NULL, &error);
    if (!item) return fail(error);
    if (!secret_item_load_secret_sync(item, NULL, &error)) return fail(error);
    gsize count = 0;
    const gchar *bytes = secret_value_get(secret_item_get_secret(item), &count);
    printf("%s|%s|%zu|%s|%s\n", secret_collection_get_label(made), secret_item_get_label(item), count,
           memcmp(bytes, "a\0b", 3) == 0 ? "equal" : "different",
           secret_value_get_content_type(secret_item_get_secret(item)));
    SecretCollection *aliased =
        secret_collection_for_alias_sync(service, alias, SECRET_COLLECTION_LOAD_ITEMS, NULL, &error);
    if (!aliased) return fail(error);
    printf("%u\n", g_list_length(secret_collection_get_items(aliased)));
    if (!secret_item_delete_sync(item, NULL, &error)) return fail(error);
    return secret_collection_delete_sync(made, NULL, &error) ? 0 : fail(error);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "search") == 0) return search(words[2]);
    if (count == 3 && strcmp(words[1], "lookup") == 0) return lookup(words[2]);
    if (count == 3 && strcmp(words[1], "clear") == 0) return clear(words[2]);
    if (count == 6 && strcmp(words[1], "store") == 0) return store(words[2], words[3], atoi(words[4]), words[5]);
    if (count == 4 && strcmp(words[1], "collection") == 0) return collection(words[2], words[3]);
    return 64;
}
