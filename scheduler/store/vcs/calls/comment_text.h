/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_COMMENT_TEXT_H
#define SCHEDULER_STORE_VCS_CALLS_COMMENT_TEXT_H

/* The text of a pull request's comment, in Markdown. Pure. It shows only the counts and the first error of a plan.
 * Texts from outside can't form links, mentions, HTML or additional rows. */

#include "common/base.h"

struct comment_line {
	const char *workspace, *run, *status; /* the run's id; run_status.def's name of its status */
	const char *error;                    /* or NULL */
	bool planned;                         /* there are counts */
	long long additions, changes, destructions;
};

struct comment_text {
	const char *public_url, *organization;
	const char *marker; /* the text in the hidden marker */
	const char *event;  /* the event to which the comment links, or NULL */
	const char *sha;    /* of the head, or NULL */
	bool closed;        /* the pull request is closed: the comment says that it is not updated any more */
	const struct comment_line *lines;
	size_t count;
	long long total; /* workspaces; more than `count` are not listed */
};

/* The caller frees both. */
char *comment_write(const struct comment_text *text);
/* The hidden line by which the comment of this marker is found. */
char *comment_marker(const char *marker);

#endif
