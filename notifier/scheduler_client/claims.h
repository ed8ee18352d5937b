/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_CLAIMS_H
#define NOTIFIER_SCHEDULER_CLIENT_CLAIMS_H

/* Asks the scheduler for what is to be sent: those that tickets name, and every two seconds or so the oldest that wait.
 */

#include "common/base.h"

struct claims;
struct notifier;

struct claims *claims_new(struct notifier *notifier);
void claims_free(struct claims *claims);
/* Claims if there is a ticket and room. */
void claims_wake(struct claims *claims);
/* True while an answer is awaited. */
bool claims_busy(const struct claims *claims);

#endif
