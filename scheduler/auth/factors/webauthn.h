/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_FACTORS_WEBAUTHN_H
#define SCHEDULER_AUTH_FACTORS_WEBAUTHN_H

/*
 * Verification of what a browser answers for a passkey (WebAuthn level 2). Pure: the caller keeps challenges, keys and
 * counters. libfido2 verifies signatures (ES256, EdDSA, RS256) and reads keys. An attestation is not asked for, and one
 * that is sent is not verified.
 *
 * The texts of an answer are in base64url without padding. Each failure is ERR_INVALID and says what does not fit.
 */

#include "common/buf.h"

struct err;

/* The request that an answer must fit. */
struct webauthn_request {
	const char *origin;      /* "https://runyard.example.com"; its host is the relying party's id */
	const char *challenge;   /* in base64url */
	bool needs_verification; /* of the user, by a PIN or a fingerprint */
};

struct passkey {
	struct buf id;
	int algorithm;         /* COSE's number */
	struct buf public_key; /* in the form of libfido2 */
	long long sign_count;
};
#define PASSKEY_INIT                                                                                                   \
	{                                                                                                              \
		.id = BUF_INIT(1024), .public_key = BUF_INIT(1024)                                                     \
	}
void passkey_release(struct passkey *passkey);

/* The answer of navigator.credentials.create. */
struct webauthn_creation {
	const char *client_data, *attestation;
};
int webauthn_creation_read(const struct webauthn_request *request, const struct webauthn_creation *creation,
	struct passkey *ret_passkey, struct err *err);

/* The answer of navigator.credentials.get. */
struct webauthn_assertion {
	const char *client_data, *authenticator_data, *signature;
};
/* Verifies it with the passkey's key. The caller compares the new counter with the stored one. */
int webauthn_assertion_verify(const struct webauthn_request *request, const struct webauthn_assertion *assertion,
	const struct passkey *passkey, long long *ret_sign_count, struct err *err);

/* The id of the relying party: the host of the origin. The caller frees it. */
char *webauthn_relying_party(const char *origin);

#endif
