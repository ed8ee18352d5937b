/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_VCS_EVENTS_H
#define SCHEDULER_BACKGROUND_VCS_EVENTS_H

/*
 * The VCS thread makes runs from commits, and versions of modules from tags. It reads deliveries, decides events,
 * schedules looks at repositories, archives contents that no run needs, and deletes old events. Transactions notify it
 * with vcs_wake.
 */

#include "scheduler/background/vcs/listener.h"

extern const struct listener_work vcs_event_work;

#endif
