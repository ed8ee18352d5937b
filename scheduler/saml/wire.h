/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_WIRE_H
#define SCHEDULER_SAML_WIRE_H

/*
 * The requests of the scheduler to its helper process runyard-saml (scheduler/helper/wire.h). `do` is the name of an
 * operation of operations.def. Further members:
 *
 *   now        seconds since 1970
 *   own        this server: {entity_id, acs_url, slo_url, certificate, private_key, sign, method}. The certificate and
 * the key are PEM, or null. `sign`: requests are signed. `method`: "SHA1", "SHA256", "SHA384" or "SHA512". provider the
 * identity provider: {entity_id, sso_url, slo_url, certificates: [text...]}. entity_id null: not known.
 *   ...        what the operation names
 */

#include "scheduler/helper/wire.h"

enum {
	SAML_DOCUMENT_MAX = 256 << 10, /* bytes of an XML document */
	SAML_SECONDS = 5,              /* for one request */
	SAML_SKEW = 60,                /* seconds by which the clocks of both sides may differ */
};

#endif
