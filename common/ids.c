/* SPDX-License-Identifier: MPL-2.0 */
#include "common/ids.h"

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"

enum { ID_RANDOM = 16 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

struct id id_new(const char *prefix)
{
	struct id id;
	unsigned char bytes[ID_RANDOM * 2];
	char random[ID_RANDOM + 1] = "";

	/* Bytes past the last multiple of the alphabet's size are drawn again, so that all letters are equally
	 * likely. */
	for (size_t filled = 0; filled < ID_RANDOM;) {
		crypto_random(bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes) && filled < ID_RANDOM; i++)
			if (bytes[i] < 62 * 4)
				random[filled++] = alphabet[bytes[i] % 62];
	}
	snprintf(id.text, sizeof(id.text), "%s-%s", prefix, random);
	return id;
}

bool id_valid(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return text && text_starts(text, prefix) && text[len] == '-' && strlen(text + len + 1) == ID_RANDOM &&
		strspn(text + len + 1, alphabet) == ID_RANDOM;
}

struct id id_sibling(const char *id, const char *prefix)
{
	const char *hyphen = strchr(id, '-');
	struct id sibling;

	snprintf(sibling.text, sizeof(sibling.text), "%s%s", prefix, hyphen ? hyphen : "-");
	return sibling;
}
