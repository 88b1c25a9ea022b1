#include "CBenchmarks.h"
#include "common.h"

#include <sodium.h>
#include <string.h>

// What a get has to do with the key, and nothing else: the tag by which the item is found, its metadata, the tag that binds
// the secret to them, the item's key and the secret, by the same functions of libsodium and in the same sizes.

enum { tag_bytes = 32, name_bytes = 64, metadata_bytes = 146, wrapped_key_bytes = 72, sealed_bytes = 104, context_bytes = 64 };
enum { overhead = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES + crypto_aead_xchacha20poly1305_ietf_ABYTES };

static uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
static const uint8_t context[context_bytes];

static void seal(uint8_t *sealed, size_t sealed_bytes) {
    static const uint8_t plaintext[metadata_bytes];
    randombytes_buf(sealed, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        sealed + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, NULL, plaintext, sealed_bytes - overhead, context,
        context_bytes, NULL, sealed, key
    );
}

static int open_sealed(const uint8_t *sealed, size_t sealed_bytes) {
    uint8_t plaintext[metadata_bytes];
    return crypto_aead_xchacha20poly1305_ietf_decrypt(
        plaintext, NULL, NULL, sealed + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
        sealed_bytes - crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, context, context_bytes, sealed, key
    );
}

uint64_t ciphers_of_get(uint64_t count) {
    uint8_t metadata[metadata_bytes], wrapped_key[wrapped_key_bytes], secret[sealed_bytes];
    uint8_t name[name_bytes] = {0}, bound[wrapped_key_bytes + sealed_bytes], tag[tag_bytes];
    if (sodium_init() < 0 || count == 0) return 0;
    crypto_aead_xchacha20poly1305_ietf_keygen(key);
    seal(metadata, sizeof metadata);
    seal(wrapped_key, sizeof wrapped_key);
    seal(secret, sizeof secret);
    memcpy(bound, wrapped_key, sizeof wrapped_key);
    memcpy(bound + sizeof wrapped_key, secret, sizeof secret);
    int code = 0;
    const uint64_t begun = now();
    for (uint64_t index = 0; index < count; index++) {
        memcpy(name, &index, sizeof index);
        code |= crypto_generichash(tag, sizeof tag, name, sizeof name, key, sizeof key);
        code |= open_sealed(metadata, sizeof metadata);
        code |= crypto_generichash(tag, sizeof tag, bound, sizeof bound, key, sizeof key);
        code |= open_sealed(wrapped_key, sizeof wrapped_key);
        code |= open_sealed(secret, sizeof secret);
    }
    return code == 0 ? (now() - begun) / count : 0;
}
