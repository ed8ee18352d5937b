/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JOSE_KEY_H
#define COMMON_JOSE_KEY_H

/* The keys and signatures of jose.h. */

#include "common/buf.h"
#include "common/jose/jose.h"

/* Decodes base64url without padding, as RFC 7515 has it. Returns -1 for any other text. */
int jose_decode(const char *text, size_t len, struct buf *ret_bytes);
bool jose_algorithm_known(const char *algorithm);
/* Whether the key (a JWK) has made the token's signature. False for a key of another kind than the algorithm needs. */
bool jose_signature_valid(const struct jwt *jwt, const json_t *key);

#endif
