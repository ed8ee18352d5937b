/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_SERVE_H
#define SCHEDULER_SAML_SERVE_H

#include "scheduler/helper/serve.h"

/* Initializes Lasso and what it uses: libraries that open files do that here. Returns -1 if one fails. */
int serve_init(void);
/* operations.def */
extern const struct helper_operation saml_operations[];

#endif
