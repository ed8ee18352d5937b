/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SENTINEL_IMPORTS_HTTP_ANSWER_H
#define WORKER_POLICY_SENTINEL_IMPORTS_HTTP_ANSWER_H

#include "worker/policy/sentinel/imports/http/transport.h"
#include "worker/policy/sentinel/values/value.h"

/* {status_code, headers, body}: a copy of the answer. Names of headers are in the form Content-Type. Values of one name
 * are joined by ", ". */
struct value answer_value(struct run *run, const struct http_answer *answer);

#endif
