/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_RERUNS_H
#define SCHEDULER_RUNS_VCS_RERUNS_H

/* Check runs that a user of the provider wants again. */

#include "scheduler/runs/vcs/outcomes.h"

/* Makes an event for each open pull request whose head is the commit, and ends this one. The new events plan the head
 * again by the usual rules. Only plans are repeated, because users of the provider need no permission to apply. */
int vcs_rerun_decide(struct vcs_decision *d, struct err *err);

#endif
