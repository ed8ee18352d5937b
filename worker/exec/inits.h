/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_INITS_H
#define WORKER_EXEC_INITS_H

/*
 * What init made, kept for the next plan to which the same would happen: <data-dir>/inits/<key>.tar.gz, as it also goes
 * to the scheduler for the apply. The key says all that init depends on (stage/reuse). The folder begins empty with
 * every worker, and is bounded; what was not used for longest goes first.
 */

#include "common/crypto.h"

struct err;
struct inits;

/* For how long the outcome of an init holds. */
enum init_life {
	INIT_MOVES, /* the next one may find something else at any moment: not kept */
	INIT_AGES,  /* it took the newest providers that there were */
	INIT_STAYS, /* everything is pinned */
};

struct init_made {
	const char *key;
	const char *digest; /* SHA-256 of the archive */
	long long size;
	enum init_life life;
};

/* Empties the folder. Those that age are kept for `ages_ms`. ERR_INTERNAL. */
int inits_open(const char *data_dir, int64_t ages_ms, struct inits **ret_inits, struct err *err);
void inits_free(struct inits *inits);
/* The archive, to be closed by the caller, and what its SHA-256 must be; -1: there is none that holds. */
int inits_find(struct inits *inits, const char *key, int64_t now_ms, char ret_digest[SHA256_HEX_SIZE]);
/* Keeps the file `name` of a folder under its key, if its life and size are worth it; the file stays where it is, too.
 */
void inits_keep(struct inits *inits, const struct init_made *made, int folder, const char *name, int64_t now_ms);
/* It turned out to be of no use. */
void inits_forget(struct inits *inits, const char *key);

#endif
