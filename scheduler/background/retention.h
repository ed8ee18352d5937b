/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_RETENTION_H
#define SCHEDULER_BACKGROUND_RETENTION_H

/*
 * A thread for background work, also work that needs the object store. It looks for the unrecorded resources of lost
 * applies (store/runs/unrecorded.h), and for the rescue objects of held workspaces (rescues.h). It evaluates health
 * assessments that have ended (assessments.h). It deletes unreferenced content and content that is older than retention
 * allows, and moves large content to the object store. It works in small batches with a pause after each. Every replica
 * may run one.
 */

#include "scheduler/store/content/expiry.h"

struct retention_thread;

struct retention_thread_spec {
	struct store store;      /* the thread's own copy, except for the connection */
	struct objects *objects; /* the object store, or NULL */
	struct expiry_limits limits;
	const char *database_url;
};

int retention_thread_start(
	const struct retention_thread_spec *spec, struct retention_thread **ret_retention, struct err *err);
void retention_thread_stop(struct retention_thread *retention);

#endif
