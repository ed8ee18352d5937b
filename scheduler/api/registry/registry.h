/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_REGISTRY_H
#define SCHEDULER_API_REGISTRY_REGISTRY_H

/* Functions that several handlers of the registry call: the module that a path names, and who may see what of it. */

#include "scheduler/http/request.h"
#include "scheduler/store/workspaces/tags.h"

struct registry_module_row;

/*
 * The module of the path: `:module_id`, or `:registry/:namespace/:module/:module_provider` in the organization. The
 * older paths have neither registry nor namespace: the module is a private one of the organization. Checks the
 * permission of the row. A route that changes something finds only the organization's own modules. ERR_NOT_FOUND.
 */
int registry_module_in_path(struct request *req, struct rows *ret_rows, struct err *err);
/* The id of the private module of the path that the organization of the path may test: its own. ERR_NOT_FOUND. */
int registry_tested_module(struct request *req, struct id *ret_module, struct err *err);
/* Lets the module follow what the body's vcs-repo says: the tags or a branch. ERR_INVALID. */
int registry_repository_take(const struct request *req, const struct registry_module_row *module, struct err *err);
/* Replaces the tags of a module or provider by those of the body's relation tag-bindings, if it is there. ERR_INVALID.
 */
int registry_tags_take(
	const struct request *req, enum tagged kind, const char *id, const char *organization_id, struct err *err);
/* Adds the relation to the tags of a module or provider. */
void registry_tags_link(json_t *resource);
/* Sets what the body's test-config says. In the transaction that creates or changes the module. ERR_INVALID. */
int registry_test_config_take(const struct request *req, const char *module_id, struct err *err);
/* The attribute test-config. A new reference. */
json_t *registry_test_config_shown(const struct registry_module_row *module);
/* One of the requester's organizations with which the organization shares its modules. ERR_NOT_FOUND. */
int registry_consumer_find(
	const struct request *req, const char *organization_id, struct id *ret_consumer, struct err *err);
/* The usable versions, the newest first: [{"version", "deprecation"}]. A new reference. */
json_t *module_versions_usable(const struct registry_module_row *module);
/* The newest of these that is no prerelease, or else the newest one. NULL if there is none. Borrowed. */
const char *module_version_latest(const json_t *usable);
/* Answers with the module of the first row. */
int registry_module_show(
	struct request *req, struct response *res, int status, const struct rows *rows, struct err *err);
/* Makes that resource the subject of the request's audit event. */
void registry_audit(const struct request *req, const char *type, const char *id);
/* Whether the requester is of the organization. Answers to others, with whom it shares modules, have neither the
 * repositories of these modules nor the reason of a failed version. */
bool registry_is_member(const struct store *store, const char *organization_id);
/* Whether the requester may manage the organization's modules. */
bool registry_may_manage(const struct store *store, const char *organization_id);

#endif
