/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_SERVE_H
#define SCHEDULER_SAML_SERVE_H

#include "common/json/json.h"

/* Initializes Lasso and what it uses: libraries that open files do that here. Returns -1 if one fails. */
int serve_init(void);
/* The answer to a request (wire.h). Never NULL; a new reference. */
json_t *serve_answer(const json_t *request);
/* Answers requests until the other end is closed. Returns 0 then, and -1 if a message has not the form of wire.h. */
int serve_run(int fd);

#endif
