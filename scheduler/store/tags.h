/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TAGS_H
#define SCHEDULER_STORE_TAGS_H

/*
 * Tags of an organization, and what binds them to its workspaces and projects. A binding has a key (the tag's name) and
 * a value; one with an empty value is what older clients know as a tag of the workspace.
 */

#include "scheduler/store/store.h"

/* What tags are bound to. */
enum tagged { TAGGED_WORKSPACE, TAGGED_PROJECT };

/* Columns id, key, value, inherited_from (a project's id, or null) and owner (the id of the workspace or project), in
 * the order in which they were made. `effective`: with what a workspace inherits. */
int bindings_read(struct store *store, enum tagged kind, struct db_array *owners, bool effective, struct rows *ret_rows,
	struct err *err);

/* An array of {"key", "value"}; a key that is bound already gets the value. ERR_INVALID for too many, with the pointer.
 */
struct binding_order {
	enum tagged kind;
	const char *owner;
	const char *organization_id;
	const json_t *bindings;
	bool replace; /* all others go */
	const char *pointer;
};
int bindings_write(struct store *store, const struct binding_order *order, struct err *err);

/* ---- tags ---- */

/* Those of a workspace, by name: columns id, name, instance_count, organization_name and `total`; a row with a null id
 * if the page is empty. */
int tags_of_workspace(struct store *store, const char *workspace_id, long long limit, long long offset,
	struct rows *ret_rows, struct err *err);

struct tag_list {
	const char *organization_id;
	const char *search;  /* part of the name, or NULL */
	const char *exclude; /* ids of tags, and of workspaces whose tags are left out, separated by commas; or NULL */
	long long limit, offset;
};
int tags_list(struct store *store, const struct tag_list *list, struct rows *ret_rows, struct err *err);

/* Binds or unbinds tags that are named by id or by name: arrays of texts. ERR_INVALID for an id that is none of the
 * organization's; a name that is not there yet is made by adding it. */
struct tag_choice {
	const char *organization_id, *workspace_id;
	const json_t *ids, *names;
};
int tags_add(struct store *store, const struct tag_choice *choice, struct err *err);
int tags_remove(struct store *store, const struct tag_choice *choice, struct err *err);

/* Deletes them and what they were bound with. ERR_NOT_FOUND if one is none of the organization's. */
int tags_delete(struct store *store, const char *organization_id, const json_t *ids, struct err *err);

/* Columns id, name, organization_id. ERR_NOT_FOUND. */
int tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Binds the tag to workspaces. ERR_INVALID if one is none of its organization's. */
int tag_bind(struct store *store, const char *id, const json_t *workspace_ids, struct err *err);

#endif
