/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_LEFTOVER_H
#define WORKER_UPLOAD_LEFTOVER_H

/*
 * Reads the last state in an apply's folder. It serves the worker that ran the apply, and one that recovers the folder
 * after a restart. terraform writes WORKDIR_STATE and syncs it to the disk itself. If it can't, it writes
 * errored.tfstate into the working directory when it ends; that is then the newest state. `top` is the job's folder
 * (exec/workdir.h).
 */

#include "common/buf.h"
#include "common/crypto.h"
#include "proto/limits.h"

struct err;

/* The file that an engine writes into its working directory instead of the state, and its copy in `top`. */
#define LEFTOVER_ERRORED "errored.tfstate"
/* The incomplete copy. */
#define LEFTOVER_PART "errored.part"

/* Limit for a state that can't be delivered, so that a job can't fill the worker's disk permanently. */
#define LEFTOVER_MAX ((off_t)4 * MAX_STATE_BYTES)

enum { LINEAGE_SIZE = 128 };

/* The identity of a state. All zero: no state. */
struct state_facts {
	char digest[SHA256_HEX_SIZE];
	long long serial;
	char lineage[LINEAGE_SIZE]; /* "": there is none, or it is no lineage of terraform's */
};

/* False if the bytes are not one complete JSON object with a serial, as a state is. */
bool state_facts_read(const char *bytes, size_t len, struct state_facts *ret_facts);

/* Reads the last state. -1 if there is none or it is incomplete. ret_bytes may be NULL. */
int leftover_read(int top, struct buf *ret_bytes, struct state_facts *ret_facts);

/* The last state compared with a known state. */
enum leftover {
	LEFTOVER_NONE,      /* there is no file, or it is the empty one that an engine makes before its first state */
	LEFTOVER_KNOWN,     /* its digest is that of the known state */
	LEFTOVER_CHANGED,   /* it is another state */
	LEFTOVER_UNREADABLE /* the file is no complete state, is too large (MAX_STATE_BYTES), or can't be read */
};
/* `ret_bytes` may be NULL. `digest` may be NULL or empty if no state is known. *ret_facts is set for
 * LEFTOVER_CHANGED; its digest is set whenever the file was read. *why is the reason for LEFTOVER_UNREADABLE. A
 * large known state is not parsed. */
enum leftover leftover_compare(
	int top, const char *digest, struct buf *ret_bytes, struct state_facts *ret_facts, struct err *why);

/* Appends the content of the last state's file, complete or not. -1 if it can't be read. */
int leftover_bytes(int top, struct buf *ret_bytes);
/* Makes errored.tfstate of the working directory (below the job's root) the last state, if the file exists. Takes
 * the lineage, and a serial that is not older, from the previous state, since terraform may not have read that. If
 * errored.tfstate can't be read, the last state is unreadable. */
void leftover_errored(int top, const char *folder);
/* Moves the last state's file into another folder, durably: the new name is on the disk when it returns 0; -1 on
 * failure. Anything but a regular file, and a file that is far too large for a state, is replaced by an empty file. */
int leftover_move(int top, int folder, const char *name);

/* Records in the job's folder which state the scheduler has, for a restarted worker. */
void delivered_write(int top, const struct state_facts *facts);
/* All zero if nothing is recorded. */
void delivered_read(int top, struct state_facts *ret_facts);
/* Whether the scheduler lacks the last state. A state that can't be read counts as lacking. */
bool leftover_undelivered(int top);

#endif
