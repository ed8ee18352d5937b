/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_VCS_RENEWALS_H
#define SCHEDULER_BACKGROUND_VCS_RENEWALS_H

/*
 * Renews the tokens of VCS providers before they expire (auth/vcs/renewals.h). It has a separate thread because it
 * waits for the providers. When the thread is stopped, it first ends its request, within 10 s.
 */

#include "scheduler/background/vcs/listener.h"

extern const struct listener_work vcs_renewal_work;

#endif
