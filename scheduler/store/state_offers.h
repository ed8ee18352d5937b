/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATE_OFFERS_H
#define SCHEDULER_STORE_STATE_OFFERS_H

/*
 * Writes of states (store/states.h). No state is lost, and none replaces a newer one: lifecycle/state_order.h decides
 * which states are accepted. An accepted state is the workspace's current one at once, in the caller's transaction. Any
 * other state that a worker sends is kept beside: its row has the status kept_beside and is never the current one.
 * Lists show it only on request. It can be downloaded and rolled back to.
 *
 * A job has one row, and perhaps one beside: each later state of the same attempt takes the place of the one before.
 */

#include "scheduler/store/store.h"

/* A state as its client describes it; the serial and lineage in the file may differ. */
struct state_label {
	long long serial;
	const char *lineage; /* NULL: the file's */
	const char *md5;     /* checked against the content */
};

/* A state as the difference to an earlier one of the same job (store/state_bases.h). */
struct state_difference {
	const char *base;       /* SHA-256 of the earlier state, in hex; NULL: the state is whole */
	long long serial, size; /* of the state */
};

struct state_offer {
	/* A worker's: whose workspace and run it is follows from them. The attempt may be over, if its last state is
	 * owed: what comes then is late, and the workspace may have gone on since. */
	const char *job_id; /* NULL: it came through the API */
	const char *token_hash;
	bool base;                          /* differences to this state will follow */
	struct state_difference difference; /* if it has a base, `bytes` is the frame */
	/* A client's. */
	const char *workspace_id;
	const char *run_id;     /* or NULL */
	const char *created_by; /* user id: the state is accepted only while that user has the workspace locked */
	bool force;             /* another lineage or a lower serial is let in */
	const struct state_label *label; /* NULL: as the file says */
	const char *rollback_id;         /* the state version that it was made from, or NULL */
	const char *pending_id;          /* the pending state version that this is the content of, or NULL */

	const void *bytes; /* the state file as terraform wrote it, or a difference; borrowed */
	size_t len;

	/* Filled in. ERR_NONE: it is kept. ERR_INVALID: no state of version 4, or not the one that was announced.
	 * ERR_CONFLICT: of clients' lineage or serial; the workspace is not locked by created_by; pending_id is not
	 * pending any more; of a difference: the whole state is needed. ERR_NOT_FOUND: the token is not that of the
	 * job's present attempt, nor of one that owes a state; or there is no such workspace. */
	struct err err;
	bool left;     /* somebody else holds its workspace locked, and nothing was done (states_accept_ready) */
	struct id id;  /* of the state version: the current one, or that beside it */
	struct id run; /* a worker's */
	long long serial;
	const char *beside; /* why it was kept beside, for people; NULL: it is the current one */
};

/* In one transaction. Several of one workspace come out as one after the other would. -1: nothing was saved, and it
 * lies in none of them that could be told from the others. */
int states_accept(struct store *store, struct state_offer *const *offers, size_t count, struct err *err);
/* The same, and waits for nobody's lock of a workspace. */
int states_accept_ready(struct store *store, struct state_offer *const *offers, size_t count, struct err *err);
/* One, with its error. */
int state_accept(struct store *store, struct state_offer *offer, struct err *err);

/* Announces a client's state whose content comes later. An older pending one is discarded. ERR_CONFLICT as
 * state_accept: whoever waits for a state that will not be taken would wait for ever. The content is checked again when
 * it comes, with the lock. */
int state_announce(struct store *store, struct state_offer *offer, struct id *ret_id, struct err *err);

#endif
