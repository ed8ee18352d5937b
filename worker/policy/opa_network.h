/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_OPA_NETWORK_H
#define WORKER_POLICY_OPA_NETWORK_H

#include "common/base.h"

struct err;

/*
 * Removes OPA's network functions for policies that have no network.
 *
 * If the functions existed, http.send would fail. A failed call is undefined, and an undefined condition lets a policy
 * pass. Without the functions such a policy does not compile. Reading the list of functions costs OPA several
 * milliseconds for each policy. So only sets whose text may call one of them get the list.
 */

/* True if a .rego file below the folder may call one of them. Searches for the words, so it may return true for
 * other files. */
bool opa_wants_network(int root, const char *folder);
/* The output of `opa capabilities` without these functions: a new text. NULL with ERR_MALFORMED. */
char *opa_capabilities_offline(const char *said, struct err *err);

#endif
