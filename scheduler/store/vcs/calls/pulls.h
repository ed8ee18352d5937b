/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_PULLS_H
#define SCHEDULER_STORE_VCS_CALLS_PULLS_H

/*
 * Reads of a repository's open pull requests (vcs_pull_reads): refs don't tell of a changed destination, of drafts, or
 * that one was closed. The list is read in pages, then those that are known as open and are not in the list, one by
 * one. runs/vcs/pulls.c compares what is read.
 */

#include "scheduler/store/vcs/calls/call.h"

/* After a look. */
struct vcs_pulls_wish {
	const char *repository_id;
	long long known_to; /* the largest number in the refs of the first look; -1: refs don't tell */
	bool now;           /* the refs of pull requests differ, or a user asked. Else only if the last read is old */
};
/* Has the pull requests read if workspaces use the repository and the provider has any. A read is old after four
 * minutes, or later with many repositories of one connection, which share its rate limit. Does not wait. */
int vcs_pulls_want(struct store *store, const struct vcs_pulls_wish *wish, struct err *err);
/* Creates the calls of reads that are due. */
int vcs_pulls_enqueue(struct store *store, struct err *err);

/*
 * For a claimed call: the next page, or the next of the pull requests `ask`. The arguments that it keeps from step to
 * step:
 *
 *   began  when the list was asked for: what has changed since is not judged
 *   seen   the numbers in the list so far
 *   ask    the numbers to read one by one; there after the last page
 */
int vcs_pulls_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);

/* known_to of the repository; -1: it is not known. */
int vcs_pulls_known_to(struct store *store, const char *repository_id, long long *ret_number, struct err *err);
/* What is known of pull requests: a row for each of `numbers`, in their order: number, head_sha (null: nothing), state,
 * detail, and settled: it has not changed since `began`, and no event of it waits. */
int vcs_pulls_known(struct store *store, const char *repository_id, const json_t *numbers, const char *began,
	struct rows *ret_rows, struct err *err);
/* The numbers that are known as open, have not changed since, and are not in `seen`. A new reference. */
int vcs_pulls_unlisted(struct store *store, const char *repository_id, const json_t *seen, const char *began,
	json_t **ret_numbers, struct err *err);
/* The list is complete; `top` is its largest number. */
int vcs_pulls_read_end(struct store *store, const char *repository_id, long long top, struct err *err);

#endif
