/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JOSE_KEY_H
#define COMMON_JOSE_KEY_H

/* The keys and signatures of jose.h. */

#include "common/buf.h"
#include "common/json/json.h"

enum { JWT_LIMIT = 64 << 10 };

bool jose_algorithm_known(const char *algorithm);
/* A text that was signed. Borrowed. */
struct jose_signed {
	const char *algorithm, *text;
	const unsigned char *signature;
	size_t signature_len;
};
/* Whether the key (a JWK) has made the signature. False for a key of another kind than the algorithm needs. */
bool jose_signature_valid(const struct jose_signed *document, const json_t *key);

#endif
