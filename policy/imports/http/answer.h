/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_HTTP_ANSWER_H
#define POLICY_IMPORTS_HTTP_ANSWER_H

#include "policy/imports/http/transport.h"
#include "policy/values/value.h"

/* {status_code, headers, body}: a copy of the answer. Names of headers are in the form Content-Type. Values of one name
 * are joined by ", ". */
struct value answer_value(struct run *run, const struct http_answer *answer);

#endif
