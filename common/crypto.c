/* SPDX-License-Identifier: MPL-2.0 */
#include "common/crypto.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"

enum { KEY_SIZE = 32, NONCE_SIZE = 12, TAG_SIZE = 16, MAX_KEYS = 16 };

/* One list of keys, which never changes. */
struct keys {
	struct keys *before; /* the list that this one replaced: threads may still use it */
	size_t count;
	struct {
		uint32_t id;
		unsigned char bytes[KEY_SIZE];
	} keys[MAX_KEYS];
};

struct keyring {
	_Atomic(struct keys *) now;
};

/* libcrypto's calls fail here only when out of memory. Without this check an undefined digest would be compared or
 * stored. */
static void must(bool done)
{
	if (!done)
		mem_out();
}

static void *crypto_memory(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_resize(NULL, size, 1);
}

static void *crypto_resize(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_resize(old, size, 1);
}

static void crypto_free(void *memory, const char *file, int line)
{
	(void)file;
	(void)line;
	free(memory);
}

/* Ends the process when libcrypto can't allocate memory. libcrypto itself would use what it could not create, or
 * record permanently that an algorithm is missing. After that no TLS connection works any more, in libpq and in
 * libcurl. */
__attribute__((constructor)) static void crypto_memory_or_death(void)
{
	must(CRYPTO_set_mem_functions(crypto_memory, crypto_resize, crypto_free));
}

void crypto_hex(const void *data, size_t len, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++) {
		ret_hex[2 * i] = digits[bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_hex[2 * len] = '\0';
}

static void digest_hex(const EVP_MD *kind, const void *bytes, size_t len, char *ret_hex)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	must(EVP_Digest(bytes, len, digest, &size, kind, NULL));
	crypto_hex(digest, size, ret_hex);
}

static EVP_MD *sha256_method;

static void sha256_fetch(void)
{
	sha256_method = mem_check(EVP_MD_fetch(NULL, "SHA256", NULL));
}

/* Each request digests its token. EVP_sha256() would look up the implementation each time, so it is fetched once. */
void crypto_sha256_hex(const void *bytes, size_t len, char ret_hex[SHA256_HEX_SIZE])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, sha256_fetch);
	digest_hex(sha256_method, bytes, len, ret_hex);
}

struct sha256 {
	EVP_MD_CTX *context;
};

struct sha256 *crypto_sha256_begin(void)
{
	struct sha256 *digest = mem_new(1, sizeof(*digest));

	digest->context = mem_check(EVP_MD_CTX_new());
	must(EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL));
	return digest;
}

void crypto_sha256_add(struct sha256 *digest, const void *bytes, size_t len)
{
	if (digest)
		must(EVP_DigestUpdate(digest->context, bytes, len));
}

void crypto_sha256_end(struct sha256 *digest, char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	must(EVP_DigestFinal_ex(digest->context, bytes, &size));
	EVP_MD_CTX_free(digest->context);
	free(digest);
	crypto_hex(bytes, size, ret_hex);
}

int crypto_sha256_file(int fd, char ret_hex[SHA256_HEX_SIZE])
{
	struct sha256 *digest = crypto_sha256_begin();
	char chunk[65536];
	ssize_t got;
	off_t at = 0;

	while ((got = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		crypto_sha256_add(digest, chunk, (size_t)got);
		at += got;
	}
	crypto_sha256_end(digest, ret_hex);
	return got < 0 ? -1 : 0;
}

void crypto_md5_hex(const void *bytes, size_t len, char ret_hex[33])
{
	digest_hex(EVP_md5(), bytes, len, ret_hex);
}

void crypto_hmac_bytes(
	const void *key, size_t key_len, const void *bytes, size_t len, unsigned char ret_digest[SHA256_SIZE])
{
	unsigned int size = 0;

	must(HMAC(EVP_sha256(), key, (int)key_len, bytes, len, ret_digest, &size));
}

void crypto_hmac(const void *key, size_t key_len, const char *text, unsigned char ret_digest[SHA256_SIZE])
{
	crypto_hmac_bytes(key, key_len, text, strlen(text), ret_digest);
}

void crypto_hmac_hex(const void *key, size_t key_len, const char *text, char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char digest[SHA256_SIZE];

	crypto_hmac(key, key_len, text, digest);
	crypto_hex(digest, sizeof(digest), ret_hex);
}

void crypto_hmac_sha512_hex(
	const void *key, size_t key_len, const void *bytes, size_t len, char ret_hex[SHA512_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	must(HMAC(EVP_sha512(), key, (int)key_len, bytes, len, digest, &size));
	crypto_hex(digest, size, ret_hex);
}

bool crypto_equal(const char *a, const char *b)
{
	size_t len = strlen(a);

	return len == strlen(b) && CRYPTO_memcmp(a, b, len) == 0;
}

void crypto_secret_freep(char **secret)
{
	if (*secret)
		OPENSSL_cleanse(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}

void crypto_random(void *bytes, size_t len)
{
	/* Without randomness no token and no nonce is secure, so the process ends. */
	must(RAND_bytes(bytes, (int)len) == 1);
}

char *crypto_random_hex(size_t len)
{
	_cleanup_(freep) unsigned char *bytes = mem_new(len, 1);
	char *text = mem_new(2 * len + 1, 1);

	crypto_random(bytes, len);
	crypto_hex(bytes, len, text);
	return text;
}

char *crypto_base64url(const void *bytes, size_t len)
{
	char *text = crypto_base64(bytes, len);

	for (char *c = text; *c; c++) {
		if (*c == '+')
			*c = '-';
		else if (*c == '/')
			*c = '_';
		else if (*c == '=')
			*c = '\0';
	}
	return text;
}

char *crypto_challenge(const char *text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	must(EVP_Digest(text, strlen(text), digest, &size, EVP_sha256(), NULL));
	return crypto_base64url(digest, size);
}

char *crypto_token(const char *prefix)
{
	unsigned char bytes[32];

	crypto_random(bytes, sizeof(bytes));
	_cleanup_(freep) char *base64 = crypto_base64url(bytes, sizeof(bytes));
	return mem_printf("%s%s", prefix, base64);
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *crypto_base64(const void *bytes, size_t len)
{
	char *text = mem_new((len + 2) / 3 * 4 + 1, 1);

	EVP_EncodeBlock((unsigned char *)text, bytes, (int)len);
	return text;
}

int crypto_base64_decode(const char *text, struct buf *ret_bytes)
{
	size_t len = strlen(text), digits = strspn(text, base64_digits);
	int got;

	/* OpenSSL ignores blanks and accepts '=' anywhere as a digit. */
	if (len % 4 || len - digits > 2 || strspn(text + digits, "=") < len - digits)
		return -1;
	_cleanup_(freep) unsigned char *bytes = mem_new(len / 4 * 3 + 1, 1);
	got = EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)len);
	return got < 0 ? -1 : buf_append(ret_bytes, bytes, (size_t)got - (len - digits));
}

int crypto_base64url_decode(const char *text, size_t len, struct buf *ret_bytes)
{
	_cleanup_(buf_release) struct buf padded = BUF_INIT(len + 4);

	if (len % 4 == 1)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (strchr("+/=", text[i])) /* also finds a null byte */
			return -1;
		buf_append(&padded, text[i] == '-' ? "+" : text[i] == '_' ? "/" : &text[i], 1);
	}
	buf_append(&padded, "==", (4 - len % 4) % 4);
	return len ? crypto_base64_decode(buf_str(&padded), ret_bytes) : 0;
}

static int place_of(const struct keys *keys, uint32_t id)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->keys[i].id == id)
			return (int)i;
	return -1;
}

static int key_parse(const char *line, size_t len, struct keys *keys, struct err *err)
{
	char *end = NULL;
	unsigned long id = strtoul(line, &end, 10);
	size_t digits = len - (size_t)(end - line) - 1;
	unsigned char *bytes = keys->keys[keys->count].bytes;

	if (end == line || *end != ':' || id == 0 || id > UINT32_MAX || digits != (size_t)KEY_SIZE * 2)
		return err_set(err, ERR_INVALID, "keys: each has the form <number>:<64 hexadecimal digits>");
	if (keys->count == MAX_KEYS)
		return err_set(err, ERR_INVALID, "keys: at most %d keys", MAX_KEYS);
	if (place_of(keys, (uint32_t)id) >= 0)
		return err_set(err, ERR_INVALID, "keys: two keys have the number %lu", id);
	for (size_t i = 0; i < KEY_SIZE; i++) {
		char pair[3] = {end[1 + 2 * i], end[2 + 2 * i], '\0'};

		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
			return err_set(err, ERR_INVALID, "keys: key %lu is not hexadecimal", id);
		bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	keys->keys[keys->count++].id = (uint32_t)id;
	return 0;
}

static void keys_free(struct keys *keys)
{
	while (keys) {
		struct keys *before = keys->before;

		OPENSSL_cleanse(keys, sizeof(*keys));
		free(keys);
		keys = before;
	}
}

static void keys_freep(struct keys **keys)
{
	keys_free(*keys);
}

static int keys_parse(const char *text, struct keys **ret_keys, struct err *err)
{
	_cleanup_(keys_freep) struct keys *keys = mem_new(1, sizeof(*keys));

	while (*text) {
		size_t len = strcspn(text, ", \t\r\n");

		if (len && key_parse(text, len, keys, err) < 0)
			return -1;
		text += len + (text[len] != '\0');
	}
	if (!keys->count)
		return err_set(err, ERR_INVALID, "keys: at least one key is needed");
	*ret_keys = keys;
	keys = NULL;
	return 0;
}

int keyring_parse(const char *text, struct keyring **ret_keyring, struct err *err)
{
	struct keys *keys;
	struct keyring *keyring;

	if (keys_parse(text, &keys, err) < 0)
		return -1;
	keyring = mem_new(1, sizeof(*keyring));
	atomic_init(&keyring->now, keys);
	*ret_keyring = keyring;
	return 0;
}

void keyring_take(struct keyring *keyring, struct keyring *newer)
{
	struct keys *keys = atomic_load(&newer->now);

	keys->before = atomic_load(&keyring->now);
	atomic_store(&keyring->now, keys);
	free(newer);
}

void keyring_free(struct keyring *keyring)
{
	if (keyring)
		keys_free(atomic_load(&keyring->now));
	free(keyring);
}

void keyring_freep(struct keyring **keyring)
{
	keyring_free(*keyring);
}

size_t keyring_count(const struct keyring *keyring)
{
	return atomic_load(&keyring->now)->count;
}

/* A list that replaced a longer one since the caller counted has no such place: its first key stands in. */
static size_t place_in(const struct keys *keys, size_t place)
{
	return place < keys->count ? place : 0;
}

uint32_t keyring_number(const struct keyring *keyring, size_t place)
{
	const struct keys *keys = atomic_load(&keyring->now);

	return keys->keys[place_in(keys, place)].id;
}

bool keyring_has(const struct keyring *keyring, uint32_t number)
{
	return place_of(atomic_load(&keyring->now), number) >= 0;
}

void keyring_derive(const struct keyring *keyring, size_t place, const char *purpose, unsigned char ret_key[32])
{
	const struct keys *keys = atomic_load(&keyring->now);

	must(HMAC(EVP_sha256(), keys->keys[place_in(keys, place)].bytes, KEY_SIZE, (const unsigned char *)purpose,
		strlen(purpose), ret_key, NULL));
}

static void cipher_freep(EVP_CIPHER_CTX **cipher)
{
	EVP_CIPHER_CTX_free(*cipher);
}

int keyring_seal(const struct keyring *keyring, const char *context, struct bytes plain, struct buf *out)
{
	_cleanup_(cipher_freep) EVP_CIPHER_CTX *cipher = mem_check(EVP_CIPHER_CTX_new());
	size_t sealed_len = KEY_NUMBER_SIZE + NONCE_SIZE + plain.len + TAG_SIZE;
	_cleanup_(freep) unsigned char *sealed = mem_new(sealed_len, 1);
	unsigned char *nonce = sealed + KEY_NUMBER_SIZE;
	unsigned char *text = nonce + NONCE_SIZE;
	const struct keys *keys = atomic_load(&keyring->now);
	uint32_t id = keys->keys[0].id;
	int n = 0;

	for (int i = 0; i < KEY_NUMBER_SIZE; i++)
		sealed[i] = (unsigned char)(id >> (24 - 8 * i));
	crypto_random(nonce, NONCE_SIZE);
	must(EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, keys->keys[0].bytes, nonce) == 1);
	if (EVP_EncryptUpdate(cipher, NULL, &n, (const unsigned char *)context, (int)strlen(context)) != 1 ||
		EVP_EncryptUpdate(cipher, text, &n, plain.data, (int)plain.len) != 1 ||
		EVP_EncryptFinal_ex(cipher, text + plain.len, &n) != 1 ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_SIZE, text + plain.len) != 1)
		abort(); /* the library is broken, and the secret must not be stored unsealed */
	return buf_append(out, sealed, sealed_len);
}

uint32_t sealed_number(const void *sealed)
{
	const unsigned char *bytes = sealed;
	uint32_t number = 0;

	for (int i = 0; i < KEY_NUMBER_SIZE; i++)
		number = number << 8 | bytes[i];
	return number;
}

int keyring_open(
	const struct keyring *keyring, const char *context, struct bytes sealed, struct buf *out, struct err *err)
{
	_cleanup_(cipher_freep) EVP_CIPHER_CTX *cipher = mem_check(EVP_CIPHER_CTX_new());
	const struct keys *keys = atomic_load(&keyring->now);
	const unsigned char *nonce = (const unsigned char *)sealed.data + KEY_NUMBER_SIZE;
	const unsigned char *text = nonce + NONCE_SIZE;
	int place;
	size_t text_len;
	unsigned char tag[TAG_SIZE];
	int n = 0;

	if (sealed.len < KEY_NUMBER_SIZE + NONCE_SIZE + TAG_SIZE)
		return err_set(err, ERR_INTERNAL, "sealed bytes are too short");
	place = place_of(keys, sealed_number(sealed.data));
	if (place < 0)
		return err_set(err, ERR_UNAVAILABLE,
			"it is sealed with key %u, which this scheduler does not have: add the key to --keys",
			sealed_number(sealed.data));
	text_len = sealed.len - KEY_NUMBER_SIZE - NONCE_SIZE - TAG_SIZE;
	_cleanup_(freep) unsigned char *opened = mem_new(text_len, 1);
	memcpy(tag, text + text_len, TAG_SIZE);
	must(EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, keys->keys[place].bytes, nonce) == 1);
	if (EVP_DecryptUpdate(cipher, NULL, &n, (const unsigned char *)context, (int)strlen(context)) != 1 ||
		EVP_DecryptUpdate(cipher, opened, &n, text, (int)text_len) != 1 ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_SIZE, tag) != 1 ||
		EVP_DecryptFinal_ex(cipher, opened + n, &n) != 1)
		return err_set(err, ERR_INTERNAL, "sealed bytes were changed, or belong elsewhere");
	if (buf_append(out, opened, text_len) < 0)
		return err_set(err, ERR_TOO_LARGE, "more than %zu bytes", out->limit);
	return 0;
}
