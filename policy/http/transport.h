/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_HTTP_TRANSPORT_H
#define POLICY_HTTP_TRANSPORT_H

/*
 * Sends the requests of policies with libcurl, to the hosts of an allow-list.
 *
 *  1. The host of each URL must be on the list. Names that are not on it are not even resolved.
 *  2. Each address is checked before connecting to it. One that is not public must be in a range of the list.
 *  3. Each redirect is checked like a new request. It never leads from https to http. To another origin (scheme, host
 *     and port), the policy's headers are not sent.
 *  4. No connection is used twice. Proxies of the environment are ignored.
 *  5. Certificates are verified with the CAs of SSL_CERT_FILE, or else the system's.
 */

#include "policy/imports/http/transport.h"

struct err;

/* Takes the list in the form of guard_parse. ERR_INVALID. Freed with http_transport_free. */
int http_transport_new(const char *hosts, struct http_transport **ret_transport, struct err *err);
/* NULL-safe. */
void http_transport_free(struct http_transport *transport);

#endif
