/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JOSE_SIGN_H
#define COMMON_JOSE_SIGN_H

/* Keys that sign JSON Web Tokens with RS256, and their public halves as JWKs (RFC 7515, 7517, 7638). */

#include "common/buf.h"
#include "common/json/json.h"

struct err;
struct jose_signer;

enum { SIGNER_BITS = 2048 };

/* Makes a key of SIGNER_BITS. *ret_private is its PEM, which the caller cleanses and frees (crypto_secret_freep). */
int jose_key_make(char **ret_private, struct err *err);
/* Reads the PEM of a key. */
int jose_signer_new(const char *private_key, struct jose_signer **ret_signer, struct err *err);
void jose_signer_free(struct jose_signer *signer);
/* The thumbprint of the public key: its key id. Borrowed. */
const char *jose_signer_id(const struct jose_signer *signer);
/* {"kty", "n", "e", "kid", "use", "alg"}. A new reference. */
json_t *jose_signer_public(const struct jose_signer *signer);
/* The compact form of a signed token. Threads may share a signer. The caller frees it, as a secret. NULL with *err. */
char *jose_sign(const struct jose_signer *signer, const json_t *claims, struct err *err);

#endif
