/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_UPLOADS_H
#define SCHEDULER_STORE_UPLOADS_H

/*
 * What workers hand in while a job runs, with the job's own token: pieces of its log, what a plan leaves for the apply
 * and for its readers (each a sealed blob named by the plan's row), that an apply is about to start, and states
 * (store/state_offers.h). Many of them are kept in one transaction: one statement finds and locks the rows of all, in
 * their ids' order, and one for each table writes them; the workspaces of states first. Each has an outcome of its own,
 * and is kept only if its attempt still is the job's.
 */

#include "scheduler/store/state_offers.h"

enum upload_kind {
	UPLOAD_LOG,     /* bytes that begin at `offset` of the attempt's log; those that are there already are fine */
	UPLOAD_STARTED, /* from now on the attempt may not be made again */
	UPLOAD_PLAN,    /* these four: the plan's; the same again is harmless */
	UPLOAD_PLAN_JSON,
	UPLOAD_PLAN_JSON_ASKED, /* whether it is here */
	UPLOAD_INIT,
	UPLOAD_SCHEMAS,
	UPLOAD_SCHEMAS_NAMED, /* schemas that are here already, by the SHA-256 of their content */
	UPLOAD_STATE,         /* these two: what came of it is in `state` */
	UPLOAD_STATE_DIFFERENCE,
};

struct upload {
	enum upload_kind kind;
	const char *job;
	const char *plan; /* of its JSON and schemas, which may also come once, after the plan's result; or NULL */
	char token_hash[SHA256_HEX_SIZE];
	const void *bytes; /* borrowed */
	size_t len;
	long long offset;
	const char *digest; /* in hex */
	bool generated;     /* the plan's JSON holds configuration that the engine wrote */
	bool base;          /* differences to the state will follow */
	struct state_difference difference;

	/* Filled in. ERR_NONE: it has committed. ERR_NOT_FOUND: the token is not that of the job's present attempt, or
	 * there are no such schemas, or no JSON. ERR_CONFLICT: there is a gap in the log, which is `length` bytes long;
	 * or the attempt is to stop, and must not start. */
	struct err err;
	long long length;
	struct state_offer state;
};

/* What several requests hand in. */
struct upload_list {
	struct upload *items; /* owned */
	size_t count, room;
};

/* A new one at the end, all zero; those before it move. */
struct upload *upload_add(struct upload_list *list);
void upload_list_release(struct upload_list *list);

/* Those of one job are kept in their order. If all together fail for a reason that lies in one of them, each is tried
 * by itself. It waits for nobody's lock of a workspace: a state that has to is left (upload_left). */
void uploads_keep(struct store *store, struct upload *uploads, size_t count);
/* The same, and it waits. */
void uploads_keep_all(struct store *store, struct upload *uploads, size_t count);
/* Whether it is to be kept by those who wait, and nothing was done. */
bool upload_left(const struct upload *upload);

#endif
