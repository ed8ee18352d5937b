/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_CRYPTO_H
#define COMMON_CRYPTO_H

/*
 * Digests, random tokens and the encryption of secrets in the database, with OpenSSL.
 *
 * A keyring holds AES-256 keys by number. The first key seals and signs; every key opens and verifies. Sealed bytes
 * are: key number (4 bytes, big endian), nonce (12), ciphertext, tag (16). The context text given at sealing is
 * authenticated, so a sealed value that is moved to another row can't be opened.
 */

#include "common/buf.h"

struct err;

#define SHA256_HEX_SIZE 65

/* Writes 2 * len lowercase digits and a NUL. */
void crypto_hex(const void *bytes, size_t len, char *ret_hex);
void crypto_sha256_hex(const void *bytes, size_t len, char ret_hex[SHA256_HEX_SIZE]);
/* The same for data that arrives in pieces. `add` does nothing for NULL; `end` frees the digest. */
struct sha256;
struct sha256 *crypto_sha256_begin(void);
void crypto_sha256_add(struct sha256 *digest, const void *bytes, size_t len);
void crypto_sha256_end(struct sha256 *digest, char ret_hex[SHA256_HEX_SIZE]);
/* The same for a whole file, whatever its offset is. -1 with errno. */
int crypto_sha256_file(int fd, char ret_hex[SHA256_HEX_SIZE]);
/* Lowercase hexadecimal MD5, as state versions carry it. */
void crypto_md5_hex(const void *bytes, size_t len, char ret_hex[33]);
/* HMAC-SHA256, as bytes and in lowercase hexadecimal. */
enum { SHA256_SIZE = 32 };
void crypto_hmac(const void *key, size_t key_len, const char *text, unsigned char ret_digest[SHA256_SIZE]);
void crypto_hmac_hex(const void *key, size_t key_len, const char *text, char ret_hex[SHA256_HEX_SIZE]);
/* The same for any bytes, as senders of webhooks sign them. */
void crypto_hmac_bytes(
	const void *key, size_t key_len, const void *bytes, size_t len, unsigned char ret_digest[SHA256_SIZE]);
/* Lowercase hexadecimal HMAC-SHA512 of the exact bytes, which signs a run task's request. */
#define SHA512_HEX_SIZE 129
void crypto_hmac_sha512_hex(
	const void *key, size_t key_len, const void *bytes, size_t len, char ret_hex[SHA512_HEX_SIZE]);
/* Compares in constant time. */
bool crypto_equal(const char *a, const char *b);
/* Base64url without padding of the text's SHA-256, as PKCE (RFC 7636) has it: 43 characters. The caller frees it. */
char *crypto_challenge(const char *text);
/* A token of `prefix` and 43 URL-safe characters (256 random bits). The caller frees it. */
char *crypto_token(const char *prefix);
/* Overwrites and frees a secret text, and sets it to NULL; for _cleanup_. */
void crypto_secret_freep(char **secret);
void crypto_random(void *bytes, size_t len);
/* Random bytes as lowercase hexadecimal. The caller frees it. */
char *crypto_random_hex(size_t len);

/* Base64 (standard alphabet, padded). The caller frees the result; decoding returns -1 for anything else. */
char *crypto_base64(const void *bytes, size_t len);
/* Base64url without padding. */
char *crypto_base64url(const void *bytes, size_t len);
int crypto_base64_decode(const char *text, struct buf *ret_bytes);
/* -1 for a text that is not base64url without padding. */
int crypto_base64url_decode(const char *text, size_t len, struct buf *ret_bytes);

struct keyring;

/* Reads "id:64 hexadecimal digits" separated by commas or line ends. -1 with the reason in *err. */
int keyring_parse(const char *text, struct keyring **ret_keyring, struct err *err);
/* Replaces the keys by those of `newer`, which it frees. Other threads may use the keyring meanwhile. The replaced keys
 * stay in memory until keyring_free. */
void keyring_take(struct keyring *keyring, struct keyring *newer);
void keyring_free(struct keyring *keyring);
void keyring_freep(struct keyring **keyring);
size_t keyring_count(const struct keyring *keyring);
/* The number of the key at a place of the keyring; `place` is below keyring_count, and 0 is the first key. */
uint32_t keyring_number(const struct keyring *keyring, size_t place);
bool keyring_has(const struct keyring *keyring, uint32_t number);
/* Derives 32 bytes from the key at that place, for one purpose ("signed-path"). Signers use place 0;
 * verifiers try each place. */
void keyring_derive(const struct keyring *keyring, size_t place, const char *purpose, unsigned char ret_key[32]);

/* The size of the key number at the start of sealed bytes, big endian. */
enum { KEY_NUMBER_SIZE = 4 };
/* The size of the key number and the nonce. The nonce is new for each sealing. */
enum { SEALED_HEAD_SIZE = KEY_NUMBER_SIZE + 12 };
/* The number of bytes that sealing adds. */
enum { SEALED_MORE = SEALED_HEAD_SIZE + 16 };
/* The number of the key that sealed the bytes, which are at least KEY_NUMBER_SIZE. */
uint32_t sealed_number(const void *sealed);

/* Appends the sealed bytes. -1 if the buffer's limit would be exceeded. */
int keyring_seal(const struct keyring *keyring, const char *context, struct bytes plain, struct buf *out);
/* Appends the opened bytes. -1 with ERR_UNAVAILABLE if the keyring lacks the key: another scheduler may have it. -1
 * with ERR_INTERNAL if authentication fails. */
int keyring_open(
	const struct keyring *keyring, const char *context, struct bytes sealed, struct buf *out, struct err *err);

#endif
