/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACTOR_H
#define SCHEDULER_AUTH_ACTOR_H

/*
 * Who asks, and what they may do. A token without the right, and an object that is not there, look the same to the
 * client: 404 (API 1.4). Today every member of an organization is one of its owners; teams refine may() in one place.
 */

#include "scheduler/store/store.h"

struct actor {
	enum { ACTOR_NONE, ACTOR_USER, ACTOR_POOL, ACTOR_NOTIFIER, ACTOR_TASK } kind;
	struct id user; /* of an ACTOR_USER */
	char username[64];
	bool is_site_admin;
	struct id pool; /* of an ACTOR_POOL */
	struct id run;  /* of an ACTOR_TASK: a run task's request, while it is open */
};

enum permission {
	CAN_ANYTHING_SIGNED_IN, /* any valid user's token; the handler narrows it down */
	CAN_WITHOUT_TOKEN,      /* there is nothing to protect */
	CAN_WITH_SIGNATURE,     /* the path carries its own signature */
	CAN_WORK,               /* an agent token */
	CAN_WORK_ON_JOB,        /* a job's token, which the handler checks */
	CAN_NOTIFY,             /* a notifier's token */
	CAN_READ,               /* read what belongs to the organization */
	CAN_READ_FOR_TASK,      /* the same, or a run task's token for what its run is about */
	CAN_MANAGE_ORGANIZATION,
	CAN_MANAGE_WORKSPACE, /* create, change, delete */
	CAN_LOCK,
	CAN_MANAGE_VARIABLES,
	CAN_READ_STATE,
	CAN_WRITE_STATE,
	CAN_QUEUE_RUN,
	CAN_APPLY, /* confirm, discard, cancel */
	CAN_MANAGE_PROJECTS,
	CAN_MANAGE_TASKS,
	CAN_MANAGE_POLICIES,
	CAN_OVERRIDE, /* policy overrides */
};

/* Finds the token's owner and notes its use, at most once a minute. ERR_UNAUTHORIZED for an unknown or expired one. */
int actor_find(struct store *store, const char *token, struct actor *ret_actor, struct err *err);
/* 0 if the actor may do it in the organization (its internal id), else ERR_NOT_FOUND "<what> not found". */
int actor_may(struct store *store, const struct actor *actor, enum permission permission, const char *organization_id,
	const char *what, struct err *err);
/* The same for what a run task's token may read too: that of a run with this configuration version, or this run (the
 * other is NULL). */
int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err);

#endif
