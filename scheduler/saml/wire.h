/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_WIRE_H
#define SCHEDULER_SAML_WIRE_H

/*
 * The protocol between the scheduler and its helper process runyard-saml, over a socket pair that is the helper's
 * standard input. A message is its length as four bytes, big endian, and a JSON object. The scheduler sends one request
 * at a time; the helper sends one answer for each. There is no state between requests: a request has all that its
 * answer depends on.
 *
 * A request has `do`, the name of an operation of operations.def, and `now`, seconds since 1970. Further members:
 *
 *   own        this server: {entity_id, acs_url, slo_url, certificate, private_key, sign, method}. The certificate and
 * the key are PEM, or null. `sign`: requests are signed. `method`: "SHA1", "SHA256", "SHA384" or "SHA512". provider the
 * identity provider: {entity_id, sso_url, slo_url, certificates: [text...]}. entity_id null: not known.
 *   ...        what the operation names
 *
 * An answer is {"answer": object}, or {"refused": sentence} if the message from outside is not acceptable, or
 * {"failed": sentence} if the settings or the helper are the reason.
 */

#include <stddef.h>

enum {
	SAML_WIRE_HEAD = 4,
	SAML_DOCUMENT_MAX = 256 << 10, /* bytes of an XML document */
	SAML_WIRE_MAX = 1 << 20,       /* bytes of a message: a document in base64, keys and texts */
	SAML_SECONDS = 5,              /* for one request */
	SAML_SKEW = 60,                /* seconds by which the clocks of both sides may differ */
};

/* The length before a message. */
static inline void wire_head_write(char ret_head[SAML_WIRE_HEAD], size_t len)
{
	for (int i = 0; i < SAML_WIRE_HEAD; i++)
		ret_head[i] = (char)(len >> (8 * (SAML_WIRE_HEAD - 1 - i)));
}

static inline size_t wire_head_read(const char head[SAML_WIRE_HEAD])
{
	size_t len = 0;

	for (int i = 0; i < SAML_WIRE_HEAD; i++)
		len = len << 8 | (unsigned char)head[i];
	return len;
}

#endif
