/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OPENPGP_OPERATIONS_H
#define SCHEDULER_OPENPGP_OPERATIONS_H

#include "scheduler/helper/serve.h"

/* Initializes librnp and what it uses: libraries that open files do that here. Returns -1 if it fails. */
int openpgp_init(void);
/* operations.def */
extern const struct helper_operation openpgp_operations[];

#endif
