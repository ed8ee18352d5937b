/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JOSE_JOSE_H
#define COMMON_JOSE_JOSE_H

/*
 * JSON Web Tokens that others have signed (RFC 7515, 7517, 7519), verified with OpenSSL.
 *
 * The key decides which algorithms may verify with it: RS256 and PS256 with an RSA key of 2048 bits or more, ES256 with
 * a key on P-256, EdDSA with Ed25519. "none", HMAC and every other algorithm are refused before a key is looked at, and
 * a key of another kind than the header's algorithm is refused. A header with `crit` is refused.
 */

#include "common/jose/key.h"

struct err;

/* A token whose signature is not verified yet. */
struct jwt {
	json_t *header, *claims; /* objects */
	char *signed_part;       /* the header and the claims as they were signed */
	unsigned char *signature;
	size_t signature_len;
	const char *algorithm, *key_id; /* of the header; key_id may be NULL. Borrowed from it */
};
#define JWT_INIT                                                                                                       \
	{                                                                                                              \
		.header = NULL                                                                                         \
	}
void jwt_release(struct jwt *jwt);

/* ERR_FORBIDDEN for what is no token in compact form, is longer than JWT_LIMIT, or names an algorithm that is not
 * accepted. */
int jwt_read(const char *text, struct jwt *ret_jwt, struct err *err);

/* Verifies the token with a key of the set ({"keys": [...]}, RFC 7517). ERR_NOT_FOUND if the set has no key with the
 * token's key id: it may have been published since. A token without a key id is verified with each key that fits.
 * ERR_FORBIDDEN if the signature is wrong. */
int jwt_verify(const struct jwt *jwt, const json_t *keys, struct err *err);

/* What a token's claims must be. */
struct jwt_expected {
	const char *issuer, *audience;
	long long now; /* seconds since 1970 */
};
/* Checks `iss` and `aud` (a text, or a list with the audience), `exp`, `nbf` and `iat` with 60 seconds of tolerance.
 * `exp` and `iat` must be there. ERR_FORBIDDEN. */
int jwt_check(const struct jwt *jwt, const struct jwt_expected *expected, struct err *err);

#endif
