/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_WRITES_H
#define SCHEDULER_STORE_STATES_STATE_WRITES_H

/*
 * Writes of states (store/states/states.h). No state is lost, and none replaces a newer one: lifecycle/state_order.h
 * decides which states are accepted. An accepted state becomes the workspace's current one at once, in the caller's
 * transaction. Any other state from a worker is stored with the status detached and is never the current one. Lists
 * show it only on request. It can be downloaded and rolled back to.
 *
 * A job has at most one row of each kind: each later state of the same attempt replaces the previous one.
 */

#include "scheduler/store/store.h"

/* A state as its client describes it; the serial and lineage in the file may differ. */
struct state_label {
	long long serial;
	const char *lineage; /* NULL: the file's */
	const char *md5;     /* checked against the content */
};

/* A state as the difference to an earlier one of the same job (store/states/state_bases.h). */
struct state_difference {
	const char *base;       /* SHA-256 of the earlier state, in hex; NULL: the state is whole */
	long long serial, size; /* of the state */
};

struct state_write {
	/* Of a worker's state: the workspace and the run follow from these. A state of an ended attempt is late. It is
	 * accepted if the attempt owes its last state; the workspace may have changed since. */
	const char *job_id; /* NULL: the state came through the API */
	const char *token_hash;
	bool base;                          /* differences to this state will follow */
	struct state_difference difference; /* if it has a base, `bytes` is the difference */
	/* Of a client's state. */
	const char *workspace_id;
	const char *run_id;     /* or NULL */
	const char *created_by; /* user id: the state is accepted only while that user holds the workspace's lock */
	bool force;             /* accept another lineage or a lower serial */
	const struct state_label *label; /* NULL: use the file's values */
	const char *rollback_id;         /* the state version that it was made from, or NULL */
	const char *pending_id;          /* the pending state version whose content this is, or NULL */

	const void *bytes; /* the state file as terraform wrote it, or a difference; borrowed */
	size_t len;

	/*
	 * Filled in. The error is one of:
	 *  - ERR_NONE: the state is stored.
	 *  - ERR_INVALID: no state of version 4, or not the one that was announced.
	 *  - ERR_CONFLICT: a client's lineage or serial does not follow; the workspace is not locked by created_by; or
	 *    pending_id is not pending any more. For a difference: the whole state is needed.
	 *  - ERR_NOT_FOUND: the token does not belong to the job's current attempt, nor to one that owes a state; or
	 *    there is no such workspace.
	 */
	struct err err;
	bool left; /* another transaction has locked the workspace's row, so nothing was done (states_accept_ready) */
	struct id id;  /* of the state version, current or detached */
	struct id run; /* the run of a worker's state */
	long long serial;
	const char *detached_why; /* why it is detached, for users; NULL: it is the current one */
};

/* Accepts states in one transaction. Several states of one workspace are accepted in order, as if one after the other.
 * -1: nothing was saved, and no single write is known to be the cause. */
int states_accept(struct store *store, struct state_write *const *offers, size_t count, struct err *err);
/* The same without waiting for locks: sets `left` if another transaction has locked the workspace's row. */
int states_accept_ready(struct store *store, struct state_write *const *offers, size_t count, struct err *err);
/* Accepts one state, and returns its error. */
int state_accept(struct store *store, struct state_write *write, struct err *err);

/* Announces a client's state whose content is uploaded later. Discards an older pending one. ERR_CONFLICT as
 * state_accept, so that no client waits for a state that would be rejected. The upload checks the state and the lock
 * again. */
int state_announce(struct store *store, struct state_write *write, struct id *ret_id, struct err *err);

#endif
