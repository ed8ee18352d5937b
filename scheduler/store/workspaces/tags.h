/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_TAGS_H
#define SCHEDULER_STORE_WORKSPACES_TAGS_H

/*
 * Tags of an organization, and their bindings to workspaces, projects and modules. A binding has a key (the tag's name)
 * and a value. Older clients see a binding with an empty value as a tag of the workspace.
 */

#include "scheduler/store/store.h"

/* The kinds of resources that tags are bound to. */
enum tagged { TAGGED_WORKSPACE, TAGGED_PROJECT, TAGGED_MODULE, TAGGED_PROVIDER };

struct binding_list {
	enum tagged kind;
	struct db_array *owners; /* their ids */
	bool effective;          /* includes the bindings that a workspace inherits */
};
/* The shape `binding`, in the order of creation. inherited_from is a project's id, or null. */
int bindings_read(struct store *store, const struct binding_list *list, struct rows *ret_rows, struct err *err);

/* An array of {"key", "value"}. A key that is bound already gets the new value. ERR_INVALID at the pointer for too many
 * bindings. */
struct binding_order {
	enum tagged kind;
	const char *owner;
	const char *organization_id;
	const json_t *bindings;
	bool replace; /* delete all other bindings */
	const char *pointer;
};
int bindings_write(struct store *store, const struct binding_order *order, struct err *err);

/* ---- tags ---- */

/* A workspace's tags, sorted by name: the shape `tag`; a row with a null id if the page is empty. */
int tags_of_workspace(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);

struct tag_list {
	const char *organization_id;
	const char *search;  /* part of the name, or NULL */
	const char *exclude; /* ids, separated by commas: tags, and workspaces whose tags are excluded; or NULL */
	long long limit, offset;
};
int tags_list(struct store *store, const struct tag_list *list, struct rows *ret_rows, struct err *err);

/* Binds or unbinds tags that are identified by id or by name: arrays of strings. ERR_INVALID for an id of another
 * organization. tags_add creates a tag for an unknown name. */
struct tag_choice {
	const char *organization_id, *workspace_id;
	const json_t *ids, *names;
};
int tags_add(struct store *store, const struct tag_choice *choice, struct err *err);
int tags_remove(struct store *store, const struct tag_choice *choice, struct err *err);

/* Deletes tags and their bindings. ERR_NOT_FOUND if one is not in the organization. */
int tags_delete(struct store *store, const char *organization_id, const json_t *ids, struct err *err);

/* ERR_NOT_FOUND. */
int tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Binds the tag to workspaces. ERR_INVALID if one is not in the tag's organization. */
int tag_bind(struct store *store, const char *id, const json_t *workspace_ids, struct err *err);

#endif
