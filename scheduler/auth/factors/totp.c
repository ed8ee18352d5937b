/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/factors/totp.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "common/crypto.h"

enum { SHA1_SIZE = 20, CODE_MODULUS = 1000000, SECRET_LIMIT = 64, URI_LIMIT = 1024 };

static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

char *base32_encode(const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;
	struct buf text = BUF_INIT(len * 2 + 8);
	unsigned int bits = 0, held = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | byte[i];
		for (held += 8; held >= 5; held -= 5)
			buf_append(&text, &base32[bits >> (held - 5) & 31], 1);
	}
	if (held)
		buf_append(&text, &base32[bits << (5 - held) & 31], 1);
	return buf_take(&text);
}

int base32_decode(const char *text, struct buf *ret_bytes)
{
	unsigned int bits = 0, held = 0;

	for (; *text; text++) {
		const char *place = strchr(base32, toupper((unsigned char)*text));
		unsigned char byte;

		if (!place)
			return -1;
		bits = bits << 5 | (unsigned int)(place - base32);
		held += 5;
		if (held < 8)
			continue;
		held -= 8;
		byte = (unsigned char)(bits >> held);
		buf_append(ret_bytes, &byte, 1);
	}
	return 0;
}

char *totp_secret_new(void)
{
	unsigned char bytes[TOTP_SECRET_BYTES];

	crypto_random(bytes, sizeof(bytes));
	return base32_encode(bytes, sizeof(bytes));
}

unsigned int totp_code(const void *secret, size_t len, long long step)
{
	unsigned char message[8], digest[SHA1_SIZE];
	unsigned int at, number;

	for (int i = 0; i < 8; i++)
		message[i] = (unsigned char)((unsigned long long)step >> (56 - 8 * i));
	HMAC(EVP_sha1(), secret, (int)len, message, sizeof(message), digest, NULL);
	at = digest[SHA1_SIZE - 1] & 15;
	number = (digest[at] & 127U) << 24 | (unsigned int)digest[at + 1] << 16 | (unsigned int)digest[at + 2] << 8 |
		digest[at + 3];
	return number % CODE_MODULUS;
}

/* Copies the digits without blanks. False if there is anything else, or another number of digits. */
static bool digits_read(const char *text, char ret_digits[TOTP_DIGITS + 1])
{
	size_t len = 0;

	for (; *text; text++) {
		if (*text == ' ')
			continue;
		if (*text < '0' || *text > '9' || len == TOTP_DIGITS)
			return false;
		ret_digits[len++] = *text;
	}
	ret_digits[len] = '\0';
	return len == TOTP_DIGITS;
}

bool totp_accepts(const char *secret, const char *text, long long seconds, long long last_step, long long *ret_step)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(SECRET_LIMIT);
	long long present = seconds / TOTP_STEP_SECONDS;
	char sent[TOTP_DIGITS + 1], right[16];
	bool accepted = false;

	if (!digits_read(text, sent) || base32_decode(secret, &key) < 0)
		return false;
	for (long long step = present - 1; step <= present + 1; step++) {
		snprintf(right, sizeof(right), "%06u", totp_code(key.data, key.len, step));
		if (!crypto_equal(sent, right) || step <= last_step || accepted)
			continue;
		accepted = true;
		*ret_step = step;
	}
	return accepted;
}

char *totp_uri(const char *secret, const char *issuer, const char *username)
{
	struct buf uri = BUF_INIT(URI_LIMIT);

	buf_text(&uri, "otpauth://totp/");
	buf_url(&uri, issuer);
	buf_text(&uri, ":");
	buf_url(&uri, username);
	buf_printf(&uri, "?secret=%s&issuer=", secret);
	buf_url(&uri, issuer);
	buf_text(&uri, "&algorithm=SHA1&digits=6&period=30");
	return buf_take(&uri);
}
