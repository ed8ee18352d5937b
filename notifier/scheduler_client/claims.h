/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_CLAIMS_H
#define NOTIFIER_SCHEDULER_CLIENT_CLAIMS_H

/* Claims requests from the scheduler: those that messages name, and about every two seconds the oldest unclaimed
 * ones. */

#include "common/base.h"

struct claims;
struct notifier;

struct claims *claims_new(struct notifier *notifier);
void claims_free(struct claims *claims);
/* Sends a claim if there is a message and room. */
void claims_wake(struct claims *claims);
/* True while a claim is under way. */
bool claims_busy(const struct claims *claims);

#endif
