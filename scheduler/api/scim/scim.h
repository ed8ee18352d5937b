/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SCIM_SCIM_H
#define SCHEDULER_API_SCIM_SCIM_H

/* The parts that the handlers below /scim/v2 share. Documents have the media type application/scim+json. */

#include "scheduler/api/api.h"
#include "scheduler/scim/document.h"
#include "scheduler/store/access/scim/scim_users.h"

/* The error document of SCIM. The title of an error with status 400 or 409 is its `scimType`. */
void scim_respond_error(struct response *res, const struct err *err);
/* Takes the value. */
int scim_respond(struct response *res, int status, json_t *value);
/* ERR_FORBIDDEN while SCIM is disabled or paused. */
int scim_open(const struct request *req, struct err *err);
/* The address of a resource: "Users" or "Groups" or another collection. The caller frees it. */
char *scim_address(const struct request *req, const char *collection, const char *id);
/* The `meta` of a resource. A new reference. */
json_t *scim_meta(
	const struct request *req, const char *type, const char *id, const char *created, const char *changed);
/* The query's `attributes` and `excludedAttributes`. */
struct scim_selection scim_selection_of(const struct request *req);
/* The resource of the request's audit event: "scim_user" or "scim_group". */
void scim_note(struct request *req, const char *type, const char *id);
/* The text at the name in the body. ERR_MALFORMED "invalidValue" for another type, or for more than 255 bytes. NULL if
 * it is missing or empty. */
int scim_text(const json_t *body, const char *name, const char **ret_text, struct err *err);

/* ---- lists ---- */

/* A page of a list: `count` resources from `start`, which begins at 1. */
struct scim_page {
	long long start, count;
};
/* One request for a list. */
struct scim_query {
	struct scim_page page;
	struct scim_list list;
	struct scim_filter filter;
	struct scim_alternatives alternatives;
};
/* Reads `filter`, `startIndex` and `count`. `name` is the attribute whose equality SCIM_BY_NAME means. Returns NULL
 * with *err filled. Free it with scim_query_free. */
struct scim_query *scim_query_read(const struct request *req, const char *name, struct err *err);
void scim_query_free(struct scim_query *query);
/* The document of a list. Takes the resources. */
int scim_respond_list(struct response *res, const struct scim_page *page, long long total, json_t *resources);

/* ---- effects of changes ---- */

/* Makes teams and site admins follow the groups, arrays of ids, and writes an audit event for each change. `users`: the
 * SCIM users that changed; NULL: anybody. */
int scim_follow(struct request *req, struct db_array *groups, struct db_array *users, struct err *err);
/* The same for one group of which anybody may have changed. */
int scim_follow_group(struct request *req, const char *group_id, struct err *err);
/* The same for the group that is about to be deleted. */
int scim_release(struct request *req, const char *group_id, struct err *err);
/* Site admins by the site-admin group only are none any more. */
int scim_admins_end(struct request *req, struct err *err);

#endif
