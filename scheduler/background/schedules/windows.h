/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_SCHEDULES_WINDOWS_H
#define SCHEDULER_BACKGROUND_SCHEDULES_WINDOWS_H

/* Lets confirmed runs go on when their maintenance window opens (store/schedules/windows.h). */

#include "scheduler/store/store.h"

/* Looks at the runs whose window was to open by now. Those whose window is closed, since windows were changed, wait for
 * the next one. */
int windows_sweep(struct store *store, struct err *err);

#endif
