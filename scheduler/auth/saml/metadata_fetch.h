/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_METADATA_FETCH_H
#define SCHEDULER_AUTH_SAML_METADATA_FETCH_H

#include "common/buf.h"

struct err;
struct guard;

/* Reads a provider's metadata document, of at most SAML_DOCUMENT_MAX bytes, in at most ten seconds. It follows no
 * redirect, and connects only to addresses that the guard permits (--identity-allow). The caller waits; never within a
 * transaction. ERR_INVALID with a sentence. */
int metadata_fetch(const struct guard *guard, const char *url, struct buf *ret_document, struct err *err);

#endif
