/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_IDENTITY_VAULT_SESSION_H
#define WORKER_IDENTITY_VAULT_SESSION_H

/*
 * A running runyard-vault (vault_order.h). It belongs to one job, lives from the login to the revocation, and runs
 * below a keeper of its own, beside the job's engine.
 */

#include "common/json/json.h"
#include "worker/keeper/keeper.h"

struct child;
struct err;
struct loop;
struct sandbox_start;
struct vault_session;

struct vault_session_spec {
	struct loop *loop;
	const struct sandbox_start *start; /* of the program; borrowed during the call */
	const int *network;                /* as of struct child_spec */
	struct keeper_terms terms;
	const char *order;                              /* the program's standard input; borrowed during the call */
	void (*event)(void *data, const json_t *event); /* borrowed; the session must not be freed within the call */
	/* Called once, when all processes of the program are gone; the session is freed afterwards. `said` is what the
	 * program wrote beside events; it may be empty. */
	void (*ended)(void *data, enum keeper_why why, const char *said);
	void *data;
};

/* ERR_INTERNAL. */
int vault_session_open(const struct vault_session_spec *spec, struct vault_session **ret_session, struct err *err);
/* The program. Borrowed until its end. */
struct child *vault_session_child(const struct vault_session *session);
/* Asks the program to revoke its tokens and to end; it is killed after that time. Another call can only shorten it. */
enum { VAULT_FINISH_MS = 30 * 1000, VAULT_HURRY_MS = 3 * 1000 };
void vault_session_finish(struct vault_session *session, int64_t kill_ms);
void vault_session_renew(struct vault_session *session, const struct keeper_lease *lease);
/* From now on no lease limits the program; it still ends with this process. */
void vault_session_outlive(struct vault_session *session);
/* Kills the program and blocks until it has ended. No event follows. NULL is fine. */
void vault_session_free(struct vault_session *session);

#endif
