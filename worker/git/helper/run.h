/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_HELPER_RUN_H
#define WORKER_GIT_HELPER_RUN_H

/* Runs git in the sandbox, one command at a time. */

#include <stdarg.h>

#include "worker/git/records.h"
#include "worker/git/remote.h"

enum { GIT_ARGS = 48, GIT_ERRORS_MAX = 256 * 1024 };

/* What all commands of a job share. */
struct work {
	struct bytes order;
	const char *self;     /* this program */
	struct remote remote; /* of the repository */
	int proxy_port;
	int credential;    /* memory file, or -1 */
	char **env;        /* of git; ends with NULL */
	struct buf result; /* records for the worker */
	struct buf errors; /* what the last command wrote to standard error */
	size_t submodules; /* that were fetched */
	long long files;   /* of the commit and its submodules... */
	long long bytes;   /* ...so far */
};

/* Prepares the environment: configuration, credential, ssh. -1: the sandbox lacks something; a line is on stderr. */
int work_environment(struct work *work);
void work_release(struct work *work);

/* Runs git with these arguments, which end with NULL, in the folder. Appends its standard output; NULL drops it.
 * Returns its exit code; -1 if it did not start, was killed, or wrote more than fits. */
int git_run(struct work *work, const char *folder, struct buf *out, ...) __attribute__((sentinel));
int git_run_list(struct work *work, const char *folder, struct buf *out, const char *const *args);

/* ---- failure.c ---- */

/* Adds the outcome of a job that failed, with a sentence. */
void work_failed(struct work *work, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
/* The same from what git has written last. `what`: "reading the refs". */
void work_failed_by_git(struct work *work, const char *what);
/* Whether git's last error says that the server does not give the commit by its name. */
bool git_lacks_commit(const struct work *work);
/* Whether it says that the ref is gone. */
bool git_lacks_ref(const struct work *work);

/* ---- the kinds of jobs; each adds its result ---- */

void work_look(struct work *work);
void work_fetch(struct work *work);
void work_diff(struct work *work);

/* ---- tree.c ---- */

/* Message and author of a commit that is in the folder, as records. */
void commit_describe(struct work *work, const char *folder, const char *sha);
/* Makes the folder's repository, unless it is there, and gets the commit into it: by its name, or through the refs that
 * had it. -1: the failure is in the result. */
int commit_get(struct work *work, const char *folder, const char *url, const char *sha);

#endif
