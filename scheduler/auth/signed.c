/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/signed.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"

enum { DAY = 86400, DAYS_VALID = 3, SIGNATURE_SIZE = 128 };

static long long now_seconds(void)
{
	return clock_wall_us() / 1000000;
}

struct signing {
	const struct keyring *keyring;
	size_t place; /* index of the key */
	long long expiry;
	const char *path;
};

static void signature_make(const struct signing *signing, char ret[SIGNATURE_SIZE])
{
	unsigned char key[32];
	char hmac[SHA256_HEX_SIZE];
	_cleanup_(freep) char *text = mem_printf("%lld\n%s", signing->expiry, signing->path);

	keyring_derive(signing->keyring, signing->place, "signed-path", key);
	crypto_hmac_hex(key, sizeof(key), text, hmac);
	snprintf(ret, SIGNATURE_SIZE, "%lld-%s", signing->expiry, hmac);
}

static char *url_make(const struct store *store, const char *path, long long expiry)
{
	const struct signing signing = {.keyring = store->keyring, .expiry = expiry, .path = path};
	char signature[SIGNATURE_SIZE];

	signature_make(&signing, signature);
	return mem_printf("%s" SIGNED_PREFIX "/%s%s", store->settings->public_url, signature, path);
}

char *signed_url(const struct store *store, const char *path)
{
	return url_make(store, path, (now_seconds() / DAY + DAYS_VALID) * DAY);
}

char *signed_url_for(const struct store *store, const char *path, int seconds)
{
	return url_make(store, path, now_seconds() + seconds);
}

static bool signed_by_any_key(const struct keyring *keyring, long long expiry, const char *path, const char *sent)
{
	struct signing signing = {.keyring = keyring, .expiry = expiry, .path = path};
	bool valid = false;

	for (; signing.place < keyring_count(keyring); signing.place++) {
		char right[SIGNATURE_SIZE];

		signature_make(&signing, right);
		valid |= crypto_equal(sent, right);
	}
	return valid;
}

bool signed_valid(const struct keyring *keyring, const char *path)
{
	char sent[SIGNATURE_SIZE];
	const char *signature = path + strlen(SIGNED_PREFIX "/");
	const char *rest;
	long long expiry;
	size_t digits;

	if (!text_starts(path, SIGNED_PREFIX "/"))
		return false;
	rest = strchr(signature, '/');
	if (!rest || (size_t)(rest - signature) >= sizeof(sent))
		return false;
	text_copy(sent, (size_t)(rest - signature) + 1, signature);
	digits = strspn(sent, "0123456789");
	if (sent[digits] != '-')
		return false;
	sent[digits] = '\0';
	if (text_number(sent, 0, INT64_MAX, &expiry) < 0 || expiry < now_seconds())
		return false;
	sent[digits] = '-';
	return signed_by_any_key(keyring, expiry, rest, sent);
}
