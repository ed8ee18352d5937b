/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_HOUSEKEEPER_H
#define SCHEDULER_DISPATCH_HOUSEKEEPER_H

/*
 * The thread that looks for the unrecorded resources of lost applies (store/unrecorded.h) and puts away what lies
 * around: content that nothing names is deleted, what is old goes as retention says, what is large is moved to the
 * object store. It works in small batches with a rest after each, takes its time with the network, and nobody waits for
 * it. Replicas may all have one.
 */

#include "scheduler/store/expiry.h"

struct housekeeper;

struct housekeeper_spec {
	struct store store; /* as the thread's own, but for the connection */
	struct expiry_limits limits;
	const char *database_url;
};

int housekeeper_start(const struct housekeeper_spec *spec, struct housekeeper **ret_housekeeper, struct err *err);
void housekeeper_stop(struct housekeeper *housekeeper);

#endif
