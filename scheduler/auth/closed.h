/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_CLOSED_H
#define SCHEDULER_AUTH_CLOSED_H

/* Organizations that refuse a credential of one of their members. The statements that find the owner of a credential
 * list them as a text (the fragment `closed` of credentials.sql). */

#include "common/err.h"

/* The page where people set up second factors. */
#define FACTORS_PATH "/app/settings/two-factor"

/* Returns 0, or -1 with the error that says why the organization refuses the credential and what to do. `closed` may be
 * NULL: none refuses. */
int closed_check(const char *closed, const char *organization_id, struct err *err);

#endif
