/* SPDX-License-Identifier: MPL-2.0 */
/* libcrypto uses the program's allocator (common/crypto.c). */
#include <string.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "tests/alloc/alloc.h"

static const char keys[] = "1:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/* A wrong digest would be stored, or compared with. */
static void digests(void)
{
	char hex[SHA256_HEX_SIZE], long_hex[SHA512_HEX_SIZE], parts[SHA256_HEX_SIZE], md5[33];
	struct sha256 *digest = crypto_sha256_begin();

	crypto_sha256_add(digest, "a", 1);
	crypto_sha256_add(digest, "bc", 2);
	crypto_sha256_end(digest, parts);
	crypto_sha256_hex("abc", 3, hex);
	HOLDS(text_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	HOLDS(text_equal(hex, parts));
	crypto_md5_hex("abc", 3, md5);
	HOLDS(text_equal(md5, "900150983cd24fb0d6963f7d28e17f72"));
	crypto_hmac_hex("key", 3, "abc", hex);
	HOLDS(text_equal(hex, "9c196e32dc0175f86f4b1cb89289d6619de6bee699e4c378e68309ed97a1a6ab"));
	crypto_hmac_sha512_hex("key", 3, "abc", 3, long_hex);
	HOLDS(text_starts(long_hex, "3926a207c8c42b0c41792cbd3e1a1aaaf5f7a25704f62dfc939c4987dd7ce060"));
}

static void texts(void)
{
	_cleanup_(freep) char *challenge = crypto_challenge("abc");
	_cleanup_(freep) char *token = crypto_token("t.");
	_cleanup_(freep) char *other = crypto_token("t.");

	HOLDS(text_equal(challenge, "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"));
	HOLDS(strlen(token) == 2 + 43 && !text_equal(token, other));
}

/* A sealed value opens, and no unchanged value is reported as changed. */
static void sealing(void)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(1000);
	_cleanup_(buf_release) struct buf opened = BUF_INIT(1000);
	_cleanup_(keyring_freep) struct keyring *keyring = NULL;
	unsigned char derived[32] = {0}, again[32] = {1};
	struct err err = ERR_INIT;

	HOLDS(keyring_parse(keys, &keyring, &err) == 0);
	HOLDS(keyring_seal(keyring, "context", text_bytes("abc"), &sealed) == 0);
	HOLDS(keyring_open(keyring, "context", buf_bytes(&sealed), &opened, &err) == 0);
	HOLDS(opened.len == 3 && memcmp(opened.data, "abc", 3) == 0);
	keyring_derive(keyring, 0, "purpose", derived);
	alloc_faults_end();
	keyring_derive(keyring, 0, "purpose", again);
	HOLDS(memcmp(derived, again, sizeof(again)) == 0);
}

const struct alloc_case alloc_cases[] = {
	{.name = "digests", .libraries = "libcrypto", .run = digests, .none = true},
	{.name = "texts", .libraries = "libcrypto", .run = texts, .none = true},
	{.name = "sealing", .libraries = "libcrypto", .run = sealing, .none = true},
	{0},
};
