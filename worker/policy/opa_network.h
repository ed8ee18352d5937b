/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_OPA_NETWORK_H
#define WORKER_POLICY_OPA_NETWORK_H

#include "common/base.h"

struct err;

/*
 * OPA's functions that need a network, for policies that have none. Such a function must not exist then: http.send
 * would fail, a failed call is undefined, and an undefined condition lets a policy pass. A policy that calls it does
 * not compile instead. Knowing what a function list says costs OPA several milliseconds a policy, so only sets whose
 * text could call one of them are given it.
 */

/* True if a .rego file below the folder may call one of them: a superset, by the words. */
bool opa_wants_network(int root, const char *folder);
/* The answer of `opa capabilities` without them: a new text. NULL with ERR_MALFORMED. */
char *opa_capabilities_offline(const char *said, struct err *err);

#endif
