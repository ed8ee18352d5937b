/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_OPENPGP_OPENPGP_H
#define SCHEDULER_AUTH_OPENPGP_OPENPGP_H

/* OpenPGP keys and signatures of tenants, which the helper process runyard-openpgp alone reads (scheduler/openpgp/). */

#include "common/buf.h"

struct err;
struct helper;
struct helper_spec;

extern const struct helper_spec openpgp_helper;

enum { OPENPGP_KEY_ID_SIZE = 17, OPENPGP_FINGERPRINT_SIZE = 65 };

struct openpgp_key {
	char id[OPENPGP_KEY_ID_SIZE];               /* 16 hexadecimal digits, of the primary key */
	char fingerprint[OPENPGP_FINGERPRINT_SIZE]; /* hexadecimal */
};

/* Reads one public key in ASCII armor. ERR_INVALID with the reason if it can't be used; ERR_UNAVAILABLE. */
int openpgp_key_read(struct helper *helper, const char *armor, struct openpgp_key *ret_key, struct err *err);

/* Borrowed. */
struct openpgp_signed {
	const char *armor; /* the key */
	struct bytes document, signature;
};
/* 0 if the detached signature of the document was made by the key. ERR_INVALID with the reason; ERR_UNAVAILABLE. */
int openpgp_verify(struct helper *helper, const struct openpgp_signed *what, struct err *err);

#endif
