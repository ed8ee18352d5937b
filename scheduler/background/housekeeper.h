/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_HOUSEKEEPER_H
#define SCHEDULER_BACKGROUND_HOUSEKEEPER_H

/*
 * A thread for background work. It looks for the unrecorded resources of lost applies (store/runs/unrecorded.h). It
 * deletes unreferenced content and content that is older than retention allows, and moves large content to the object
 * store. It works in small batches with a pause after each. Every replica may run one.
 */

#include "scheduler/store/content/expiry.h"

struct housekeeper;

struct housekeeper_spec {
	struct store store; /* the thread's own copy, except for the connection */
	struct expiry_limits limits;
	const char *database_url;
};

int housekeeper_start(const struct housekeeper_spec *spec, struct housekeeper **ret_housekeeper, struct err *err);
void housekeeper_stop(struct housekeeper *housekeeper);

#endif
