/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_PULLS_H
#define SCHEDULER_STORE_VCS_CALLS_PULLS_H

/*
 * Reads the pull requests of repositories (vcs_pull_reads). Refs do not show a changed destination, a draft, or a
 * closed pull request. A read gets the list of open pull requests in pages. Then it gets those one by one that the
 * database has as open and that are not in the list. runs/vcs/pulls.c compares the answers with the database.
 */

#include "scheduler/store/vcs/calls/call.h"

/* A request for a read, after a look. */
struct vcs_pulls_wish {
	const char *repository_id;
	/* The largest number in the refs that were known until now; -1: refs do not show pull requests. The
	 * repository's first wish stores it. Pull requests up to that number are older than the connection. */
	long long known_to;
	bool now; /* false: only if the last read is old */
};
/* Schedules a read if workspaces use the repository and its provider has pull requests. A read is old after four
 * minutes. This time grows with the number of the connection's repositories, since they share its rate limit. Does not
 * wait for the database. */
int vcs_pulls_want(struct store *store, const struct vcs_pulls_wish *wish, struct err *err);
/* Creates the calls of reads that are due. */
int vcs_pulls_enqueue(struct store *store, struct err *err);

/*
 * Prepares a claimed call: the next page, or the first pull request of `ask`. The call keeps these arguments from step
 * to step:
 *
 *  - began: the time of the first step. Pull requests that changed later are not compared.
 *  - seen: the numbers in the list so far.
 *  - ask: the numbers to read one by one. It is absent until the list has ended.
 */
int vcs_pulls_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);

/* known_to of the repository; -1: it is not known. */
int vcs_pulls_known_to(struct store *store, const char *repository_id, long long *ret_number, struct err *err);
/* Reads pull requests from the database: a row `vcs_pulls_known` for each of `numbers`, in their order. */
int vcs_pulls_known(struct store *store, const char *repository_id, const json_t *numbers, const char *began,
	struct rows *ret_rows, struct err *err);
/* The numbers of pull requests that are open in the database, have not changed since `began`, and are not in `seen`. A
 * bounded array; a new reference. */
int vcs_pulls_unlisted(struct store *store, const char *repository_id, const json_t *seen, const char *began,
	json_t **ret_numbers, struct err *err);
/* Records that the list was read to its end. `top` is its largest number, and becomes known_to if that is not known. */
int vcs_pulls_read_end(struct store *store, const char *repository_id, long long top, struct err *err);

#endif
