/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_LEFTOVER_H
#define WORKER_SHIP_LEFTOVER_H

/*
 * The last state in an apply's folder, whether the worker has been there all the time or finds it after a restart.
 * terraform writes WORKDIR_STATE, and puts it on the disk itself. If it can't, it writes errored.tfstate into the
 * working directory when it ends: that is then the newest. `top` is the job's folder (exec/workdir.h).
 */

#include "common/buf.h"
#include "common/crypto.h"

struct err;

/* The file that an engine writes into its working directory instead of the state, and the copy of it in `top`. */
#define LEFTOVER_ERRORED "errored.tfstate"
/* The copy until it is complete. */
#define LEFTOVER_PART "errored.part"

enum { LINEAGE_SIZE = 128 };

/* What tells one state from another. All zero: none. */
struct state_facts {
	char digest[SHA256_HEX_SIZE];
	long long serial;
	char lineage[LINEAGE_SIZE]; /* "": it has none, or one that is none of terraform's */
};

/* False if the bytes are not one whole JSON object with a serial, as a state is. */
bool state_facts_read(const char *bytes, size_t len, struct state_facts *ret_facts);

/* The last state: -1 if there is none, or none that is whole. ret_bytes may be NULL. */
int leftover_read(int top, struct buf *ret_bytes, struct state_facts *ret_facts);

/* The last state, compared with a state that is known. */
enum leftover {
	LEFTOVER_NONE,      /* there is no file; or the empty one that an engine makes before its first state */
	LEFTOVER_KNOWN,     /* its digest is that of the known one */
	LEFTOVER_CHANGED,   /* it is another state */
	LEFTOVER_UNREADABLE /* the file is no whole state, too large (MAX_STATE_BYTES), or can't be read */
};
/* ret_bytes may be NULL; so may the digest, or be empty: no state is known. *ret_facts is set if it is
 * LEFTOVER_CHANGED, and its digest whenever the file was read; *why says why it is LEFTOVER_UNREADABLE. A large state
 * that is known is not parsed. */
enum leftover leftover_compare(
	int top, const char *digest, struct buf *ret_bytes, struct state_facts *ret_facts, struct err *why);

/* Appends what is in the last state's file now, whole or not. -1 if it can't be read. */
int leftover_bytes(int top, struct buf *ret_bytes);
/* Makes errored.tfstate of the working directory (below the job's root) the last state, if it is there. A serial that
 * is not behind and the lineage come from the one before, since terraform may not have read that. If it can't be read,
 * the last state is unreadable. */
void leftover_errored(int top, const char *folder);
/* Moves the last state's file into another folder, durably: it is on the disk under its new name, or -1. An empty file
 * takes the place of what is no regular file, and of a file that is far too large to be a state. */
int leftover_move(int top, int folder, const char *name);

/* What the scheduler has: noted in the job's folder, for a worker that is started again. */
void delivered_write(int top, const struct state_facts *facts);
/* All zero if nothing is noted. */
void delivered_read(int top, struct state_facts *ret_facts);
/* Whether the scheduler lacks the last state. A state that can't be read counts as lacking. */
bool leftover_undelivered(int top);

#endif
