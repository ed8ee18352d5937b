/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_PATH_PATH_OBJECT_H
#define SCHEDULER_HTTP_PATH_PATH_OBJECT_H

/*
 * The object that the path of a GET names. Its query is sent together with the one that reads the caller's rights. The
 * handler takes the rows in place of its own query, and checks the permission as usual.
 */

#include "scheduler/http/request.h"

enum path_object_kind {
	PATH_NOTHING,
	PATH_ORGANIZATION, /* rows of organization_lookup */
	PATH_WORKSPACE,    /* rows of workspace_read or workspace_read_named */
	PATH_RUN,          /* rows of run_view */
};

struct path_object {
	enum path_object_kind kind;
	struct rows rows;
};

/* Sends the query for the object with a guess of the caller's scope (auth/scope_guess.h). Does nothing for requests
 * without such an object. The rows are available later (db_ask). */
int path_object_ask(struct request *req, const struct response_scope *guess, struct err *err);
/* Takes the object's rows, which may be none. Returns false if they were not read. */
bool path_object_take(const struct request *req, enum path_object_kind kind, struct rows *ret_rows);
/* Discards the rows. NULL-safe. */
void path_object_release(struct path_object *object);

#endif
