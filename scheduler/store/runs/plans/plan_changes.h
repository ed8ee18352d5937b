/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_PLANS_PLAN_CHANGES_H
#define SCHEDULER_STORE_RUNS_PLANS_PLAN_CHANGES_H

/*
 * The changes of a plan as pages show them: a summary and the redacted changes, in one blob beside the plan's JSON. A
 * change is read without the others. The blob is made from the JSON at the first request, and is deleted with it.
 */

#include "scheduler/store/store.h"

struct plan_changes_lookup_row;

/* The content before it is stored. Released with plan_changes_draft_release. */
struct plan_changes_draft {
	struct buf summary; /* a JSON object */
	struct buf changes; /* one JSON object after the other */
	struct buf ends;    /* the end of each change in `changes`: 8 bytes, little-endian */
};
enum { MAX_CHANGES_SUMMARY = 32 << 20, MAX_CHANGES_BYTES = 256 << 20, MAX_CHANGES_COUNT = 50000 };
#define PLAN_CHANGES_DRAFT_INIT                                                                                        \
	{                                                                                                              \
		.summary = BUF_INIT(MAX_CHANGES_SUMMARY), .changes = BUF_INIT(MAX_CHANGES_BYTES),                      \
		.ends = BUF_INIT(8 * MAX_CHANGES_COUNT)                                                                \
	}
void plan_changes_draft_release(struct plan_changes_draft *draft);
/* Appends a change. -1: it does not fit. */
int plan_changes_draft_add(struct plan_changes_draft *draft, const char *json, size_t len);

/* The stored changes of a plan. */
struct plan_changes {
	struct id blob;
	long long count, summary_bytes;
};

/* One plan_changes_lookup_row. ERR_NOT_FOUND. */
int plan_changes_lookup(struct store *store, const char *plan_id, struct rows *ret_rows, struct err *err);
/* Opens the stored changes that the row names. *ret_there is false if they are not stored, or were made from another
 * JSON or by a program of another format. */
int plan_changes_open(struct store *store, const struct plan_changes_lookup_row *plan, struct plan_changes *ret_changes,
	bool *ret_there, struct err *err);
/* Appends the summary. */
int plan_changes_summary(struct store *store, const struct plan_changes *changes, struct buf *out, struct err *err);
/* Appends one change. ERR_NOT_FOUND. */
int plan_changes_one(
	struct store *store, const struct plan_changes *changes, long long index, struct buf *out, struct err *err);
/* Appends the ends and all changes. */
int plan_changes_all(
	struct store *store, const struct plan_changes *changes, struct plan_changes_draft *ret_draft, struct err *err);
/* The end of a change, from `ends`; 0 for the index -1. */
long long plan_changes_end(const struct buf *ends, long long index);

/* Stores the changes that were made from that JSON, unless the plan has another one by now. */
int plan_changes_keep(struct store *store, const char *plan_id, const char *json_blob,
	const struct plan_changes_draft *draft, struct err *err);

#endif
