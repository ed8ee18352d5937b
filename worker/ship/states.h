/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_STATES_H
#define WORKER_SHIP_STATES_H

/*
 * Every state that terraform writes during an apply, on its way to the scheduler as it is written.
 *
 * terraform truncates its file and writes it anew, so a read may find the half of it: only what is a whole JSON object
 * is sent. One request is under way at a time; what is written meanwhile is read when it has ended, so the newest state
 * is never behind a queue of older ones.
 *
 * The first state of an apply and the last one are sent whole. Between them large states are sent as differences to a
 * base where the scheduler takes them (state_base.h). The note of what was delivered names the last state that was sent
 * whole. So another worker that finds the folder sends a last state whole that went as a difference.
 */

#include "common/loop.h"
#include "worker/exec/workdir.h"
#include "worker/ship/channel.h"
#include "worker/ship/leftover.h"
#include "worker/ship/state_base.h"

struct states {
	struct loop *loop;
	struct channel *channel;
	const struct workdir *dir;
	int inotify; /* or -1 */
	bool busy;   /* a request is under way */
	bool dirty;  /* the file changed since it was read */
	bool refused;
	bool seen;                    /* the apply has written a state */
	char beside[300];             /* why the scheduler keeps the last one beside the workspace's; "": it is that */
	char undelivered[300];        /* why no answer to the last one came; "": one came */
	struct state_facts delivered; /* the last one that was sent whole; its digest is none if it was a base */
	struct state_facts flight;    /* the one under way */
	bool flight_base;             /* it is sent as a base */
	struct buf bytes;             /* of the state that was read last */
	struct state_base base;       /* to which differences are sent */
	int differences;              /* how many more may be refused before all states are sent whole */
	loop_work_fn settled;         /* to be called once nothing is under way or unread; or NULL */
	void *settled_data;
};

/* Borrows everything. The state that is there now is the scheduler's own. */
void states_init(struct states *states, struct loop *loop, struct channel *channel, const struct workdir *dir);
/* The scheduler takes differences. */
void states_differ(struct states *states);
void states_release(struct states *states);
/* Sends every state from now on. ERR_INTERNAL. */
int states_watch(struct states *states, struct err *err);
/* terraform has ended: if it could not save its last state, what it left in its folder (below root) is that. */
void states_ended(struct states *states, const char *folder);
/* Reads the file a last time, and calls fn once the scheduler has it or refused it; perhaps before this returns. */
void states_settle(struct states *states, loop_work_fn fn, void *data);
/* The scheduler has not got what terraform wrote last. If that can't be read, *ret_unreadable says why. */
bool states_behind(const struct states *states, struct err *ret_unreadable);

#endif
