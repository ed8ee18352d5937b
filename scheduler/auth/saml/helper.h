/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_HELPER_H
#define SCHEDULER_AUTH_SAML_HELPER_H

/*
 * The helper process runyard-saml, which alone reads SAML's XML (scheduler/saml/wire.h). It answers one request at a
 * time. It is killed if it does not answer in time, and started again when it has ended. Thread-safe.
 */

#include "common/json/json.h"

struct err;
struct saml_helper;

/* Starts the process. A process that can't be started is tried again by each request. */
struct saml_helper *saml_helper_new(void);
/* Ends the process. No request may be under way. NULL-safe. */
void saml_helper_free(struct saml_helper *helper);

/* Sends the request, which it takes, and waits for the answer: at most one second until the helper is free, and
 * SAML_SECONDS for the answer. *ret_answer is a new reference. -1:
 *   ERR_INVALID      the message from outside is not acceptable
 *   ERR_CONFLICT     the settings do not allow it
 *   ERR_UNAVAILABLE  no answer; the message is one sentence for the page */
int saml_helper_ask(struct saml_helper *helper, json_t *request, json_t **ret_answer, struct err *err);

#endif
