/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

/* RFC 4648, section 4: with padding. Not terminated. */
static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes to four characters. */
static void encode_group(const unsigned char *bytes, size_t len, char *characters)
{
	uint32_t group = (uint32_t)bytes[0] << 16;

	if (len > 1)
		group |= (uint32_t)bytes[1] << 8;
	if (len > 2)
		group |= bytes[2];
	for (size_t i = 0; i < 4; i++)
		characters[i] = i <= len ? alphabet[group >> (18 - 6 * i) & 63] : '=';
}

static struct value call_encode(struct run *run, const struct value *args, size_t count, const void *data)
{
	const unsigned char *bytes;
	size_t len, encoded;
	char *characters;

	(void)data;
	arguments_check(run, "base64.encode", "s", args, count);
	bytes = (const unsigned char *)string_bytes(args[0]);
	len = string_len(args[0]);
	encoded = (len + 2) / 3 * 4;
	if (encoded > MAX_STRING)
		run_fail_limit(run, "a string's length, 256 MiB,", NULL);
	run_step_bytes(run, encoded);
	characters = run_alloc(run, encoded + 1, 1);
	for (size_t i = 0; i < len; i += 3)
		encode_group(bytes + i, len - i < 3 ? len - i : 3, characters + i / 3 * 4);
	return string_borrow(run, characters, encoded);
}

/* Four characters, or those before the padding, to bytes. False if one is not of the alphabet. */
static bool decode_group(const char *characters, size_t len, char *bytes)
{
	uint32_t group = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *found = i < len ? memchr(alphabet, characters[i], sizeof(alphabet)) : alphabet;

		if (!found)
			return false;
		group = group << 6 | (uint32_t)(found - alphabet);
	}
	for (size_t i = 0; i + 1 < len; i++)
		bytes[i] = (char)(group >> (16 - 8 * i));
	return true;
}

static _Noreturn void refuse(struct run *run)
{
	run_fail(run, "base64.decode: the argument is not base64");
}

static struct value call_decode(struct run *run, const struct value *args, size_t count, const void *data)
{
	const char *characters;
	size_t len, padding = 0;
	char *bytes;

	(void)data;
	arguments_check(run, "base64.decode", "s", args, count);
	characters = string_bytes(args[0]);
	len = string_len(args[0]);
	if (len % 4 != 0)
		refuse(run);
	while (padding < 2 && padding < len && characters[len - padding - 1] == '=')
		padding++;
	run_step_bytes(run, len);
	bytes = run_alloc(run, len / 4 * 3 + 1, 1);
	for (size_t i = 0; i < len; i += 4)
		if (!decode_group(characters + i, i + 4 < len ? 4 : 4 - padding, bytes + i / 4 * 3))
			refuse(run);
	return string_borrow(run, bytes, len / 4 * 3 - padding);
}

static const struct native functions[] = {
	{"decode", 1, 1, false, call_decode},
	{"encode", 1, 1, false, call_encode},
};

const struct import import_base64 = {
	.name = "base64",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
