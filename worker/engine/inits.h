/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_INITS_H
#define WORKER_ENGINE_INITS_H

/*
 * Cache of init results for later plans whose init would give the same result: <data-dir>/inits/<key>.tar.gz, in the
 * form that is also sent to the scheduler for the apply. The key covers all inputs of init (stage/reuse). The worker
 * empties the folder at start. Its size is limited; the least recently used result is removed first.
 */

#include "common/crypto.h"

struct err;
struct inits;

/* The validity of an init's result. */
enum init_life {
	INIT_MOVES, /* the next init may find something else at any moment: not kept */
	INIT_AGES,  /* it took the newest available providers */
	INIT_STAYS, /* everything is pinned */
};

struct init_made {
	const char *key;
	const char *digest; /* SHA-256 of the archive */
	long long size;
	enum init_life life;
};

/* Empties the folder. Results with INIT_AGES are kept for `ages_ms`. ERR_INTERNAL. */
int inits_open(const char *data_dir, int64_t ages_ms, struct inits **ret_inits, struct err *err);
void inits_free(struct inits *inits);
/* Returns the archive, which the caller closes, and its expected SHA-256. -1: there is no valid one. */
int inits_find(struct inits *inits, const char *key, int64_t now_ms, char ret_digest[SHA256_HEX_SIZE]);
/* Keeps the file `name` of a folder under its key, if its life and size allow it. The original file stays. */
void inits_keep(struct inits *inits, const struct init_made *made, int folder, const char *name, int64_t now_ms);
/* Removes a result that turned out to be unusable. */
void inits_forget(struct inits *inits, const char *key);

#endif
