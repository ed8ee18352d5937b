/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CONNECTIONS_H
#define SCHEDULER_STORE_VCS_CONNECTIONS_H

/*
 * Connections of organizations to VCS providers: the API's oauth-clients. A connection is available to the whole
 * organization, or to listed projects only.
 *
 * Rows are `vcs_connection`.
 */

#include "common/vcs/dialect.h"
#include "scheduler/store/store.h"

/* The contexts of the seals (store/content/seals.h): each is followed by the connection's or installation's id. */
#define VCS_SECRET_SEAL       "vcs-secret:"
#define VCS_PRIVATE_KEY_SEAL  "vcs-private-key:"
#define VCS_INSTALLATION_SEAL "vcs-installation:"

/* The agent pools of a connection, or of an installation of the GitHub App. */
struct vcs_pools {
	const char *pool_id;      /* NULL: git jobs run in the shared pool */
	const char *fork_pool_id; /* plans code of forks; NULL: such code is not planned */
};

/* The texts of a connection. For a change, NULL is unchanged. */
struct vcs_connection {
	const char *provider, *http_url, *api_url; /* of a new connection only */
	const char *name, *key, *rsa_public_key;
	const char *secret, *private_key; /* stored sealed */
	bool organization_scoped;
	struct vcs_pools pools;
	const json_t *projects; /* of a new connection: ids, or NULL */
};

/* Sorted by creation, with `total`; a row with a null id if the page is empty. */
int vcs_connections_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int vcs_connection_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int vcs_connections_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
int vcs_connection_create(struct store *store, const char *organization_id, const struct vcs_connection *connection,
	struct id *ret_id, struct err *err);
int vcs_connection_update(
	struct store *store, const char *id, const struct vcs_connection *connection, struct err *err);
/* Deletes its repositories, too, and disconnects their workspaces and policy sets. A notifier deletes the hooks at the
 * provider later (calls/removals.h). */
int vcs_connection_delete(struct store *store, const char *id, struct err *err);

/* ERR_INVALID at the pointer if one of the projects is not in the connection's organization. */
int vcs_connection_add_projects(
	struct store *store, const char *id, const json_t *projects, const char *pointer, struct err *err);
/* Projects that are not listed are ignored. Workspaces that use the connection keep their repositories. */
int vcs_connection_remove_projects(struct store *store, const char *id, const json_t *projects, struct err *err);

/* ERR_INVALID at the pointer unless the connection may be used in that project, or (NULL) in the whole organization.
 * Prevents its deletion until the transaction ends. */
int vcs_connection_use_check(
	struct store *store, const char *id, const char *project_id, const char *pointer, struct err *err);

/* The dialect of a connection, by its columns. */
enum vcs_dialect vcs_dialect_named(const char *provider, const char *api_url);

#endif
