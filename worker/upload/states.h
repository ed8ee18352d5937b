/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_STATES_H
#define WORKER_UPLOAD_STATES_H

/*
 * Sends every state that terraform writes during an apply to the scheduler.
 *
 * terraform truncates its file and rewrites it, so a read may see an incomplete state. Only complete JSON objects are
 * sent. One request is under way at a time. States that are written meanwhile are read when the request has ended, so
 * the newest state never waits behind older ones.
 *
 * The first state of an apply and the last one are sent whole. Between them, large states are sent as differences to a
 * base if the scheduler accepts differences (state_base.h). The record of delivered states names the last state that
 * was sent whole. So another worker that recovers the folder sends the last state whole if it was sent as a
 * difference.
 */

#include "common/loop/loop.h"
#include "worker/exec/workdir.h"
#include "worker/upload/channel.h"
#include "worker/upload/leftover.h"
#include "worker/upload/state_base.h"

struct rescue;

struct states {
	struct loop *loop;
	struct channel *channel;
	const struct workdir *dir;
	struct rescue *rescue; /* or NULL; set by the owner after states_init */
	int inotify;           /* or -1 */
	bool busy;             /* a request is under way */
	bool dirty;            /* the file has changed since it was read */
	bool refused;
	bool given_up;                /* no more states are sent */
	bool seen;                    /* the apply has written a state */
	char detached_why[300];       /* why the scheduler stores the last state as detached; "": it is the workspace's
				       */
	char undelivered[300];        /* why the scheduler did not accept the last state; "": it did */
	struct state_facts delivered; /* the last state that was sent whole; its digest matches none if it was a base */
	struct state_facts flight;    /* the state being sent */
	bool flight_base;             /* it is sent as a base */
	struct buf bytes;             /* of the state that was last read */
	struct state_base base;       /* base of the differences */
	int differences;              /* how many more may be refused before all states are sent whole */
	loop_work_fn settled;         /* called when no state is being sent or unread; or NULL */
	void *settled_data;
};

/* Borrows everything. The state that is in the file now came from the scheduler. */
void states_init(struct states *states, struct loop *loop, struct channel *channel, const struct workdir *dir);
/* The scheduler accepts differences. */
void states_differ(struct states *states);
void states_release(struct states *states);
/* Starts to send every state. ERR_INTERNAL. */
int states_watch(struct states *states, struct err *err);
/* terraform has ended. If it could not save its last state, the file that it left in `folder` (below root) becomes
 * the last state. */
void states_ended(struct states *states, const char *folder);
/* Reads the file a last time, and calls fn when the scheduler has accepted or refused the state, possibly before
 * this function returns. */
void states_settle(struct states *states, loop_work_fn fn, void *data);
/* Sends no more states. The request under way is not affected. */
void states_give_up(struct states *states);
/* Whether the scheduler lacks terraform's last state. If the state can't be read, *ret_unreadable is the reason. */
bool states_behind(const struct states *states, struct err *ret_unreadable);

#endif
