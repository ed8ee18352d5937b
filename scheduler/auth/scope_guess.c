/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/scope_guess.h"

#include <string.h>

enum { MAX_REMEMBERED = 256 };

struct remembered {
	char digest[SHA256_HEX_SIZE]; /* of the credential; "": unused */
	struct id user;               /* response_scope_user; "": NULL */
};

/* The entry for the digest, which another credential may use. */
static struct remembered *remembered_at(const char *digest)
{
	static _Thread_local struct remembered all[MAX_REMEMBERED];

	return &all[text_hash(TEXT_HASH, digest) % MAX_REMEMBERED];
}

bool scope_guess(const char *credential, struct response_scope *ret_guess)
{
	char digest[SHA256_HEX_SIZE];
	const struct remembered *found;

	crypto_sha256_hex(credential, strlen(credential), digest);
	found = remembered_at(digest);
	if (!text_equal(found->digest, digest))
		return false;
	*ret_guess = (struct response_scope){.all = !found->user.text[0], .user = found->user};
	return true;
}

bool scope_guess_right(const struct response_scope *guess, const struct response_scope *scope)
{
	return text_equal(text_or_empty(response_scope_user(guess)), text_or_empty(response_scope_user(scope)));
}

void scope_remember(const char *credential, const struct response_scope *scope)
{
	struct remembered entry;

	crypto_sha256_hex(credential, strlen(credential), entry.digest);
	text_copy(entry.user.text, ID_SIZE, text_or_empty(response_scope_user(scope)));
	*remembered_at(entry.digest) = entry;
}
