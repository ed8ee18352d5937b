/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/connections.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/calls/removals.h"
#include "scheduler/store/vcs/connections.sql.h"

enum { SEALED_LIMIT = 1 << 20 };

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "OAuth client not found");
}

int vcs_connections_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_connections_list, .organization_id = organization_id,
		.limit = range.limit, .offset = range.offset, .user = response_scope_user(store->scope));
}

int vcs_connection_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_connection_read, .id = id,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int vcs_connections_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, vcs_connections_read_all, .ids = ids,
		.user = response_scope_user(store->scope));
}

/* ---- creating and changing ---- */

struct change {
	struct store *store;
	const char *organization_id; /* for creation; else NULL */
	const struct vcs_connection *connection;
	struct id id;
	struct buf secret, private_key; /* sealed */
};

static void change_release(struct change *c)
{
	buf_release(&c->secret);
	buf_release(&c->private_key);
}

static void change_init(struct change *c, struct store *store, const struct vcs_connection *connection)
{
	*c = (struct change){.store = store,
		.connection = connection,
		.secret = BUF_INIT(SEALED_LIMIT),
		.private_key = BUF_INIT(SEALED_LIMIT)};
}

static void change_seal(struct change *c)
{
	_cleanup_(freep) char *secret = mem_printf(VCS_SECRET_SEAL "%s", c->id.text);
	_cleanup_(freep) char *key = mem_printf(VCS_PRIVATE_KEY_SEAL "%s", c->id.text);

	if (c->connection->secret)
		seal_text(c->store, secret, c->connection->secret, &c->secret);
	if (c->connection->private_key)
		seal_text(c->store, key, c->connection->private_key, &c->private_key);
}

#define SEALED(buf) db_blob(buf_str(&(buf)), (buf).len)

static int insert(struct change *c, struct err *err)
{
	const struct vcs_connection *n = c->connection;

	return db_query(c->store->db, NULL, err, vcs_connection_insert, .id = c->id.text,
		.organization_id = c->organization_id, .provider = n->provider, .name = n->name,
		.http_url = n->http_url, .api_url = n->api_url, .key = n->key, .secret_sealed = SEALED(c->secret),
		.rsa_public_key = n->rsa_public_key, .private_key_sealed = SEALED(c->private_key),
		.organization_scoped = n->organization_scoped, .pool_id = n->pools.pool_id,
		.fork_pool_id = n->pools.fork_pool_id);
}

/* Of a connection: its id, the projects, and where a request names them. */
struct adding {
	struct store *store;
	const char *id;
	const json_t *projects;
	const char *pointer;
};

static int add_in(void *data, struct err *err)
{
	const struct adding *a = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, a->projects);
	if (db_query(a->store->db, &rows, err, vcs_connection_add_projects, .id = a->id, .ids = &ids) < 0)
		return -1;
	if (row_of(vcs_connection_add_projects, &rows, 0)->found == (long long)json_array_size(a->projects))
		return 0;
	return err_at(err, a->pointer, "Projects must exist in the OAuth client's organization");
}

static int create_in(void *data, struct err *err)
{
	struct change *c = data;
	struct adding adding = {c->store, c->id.text, c->connection->projects, "/data/relationships/projects"};

	if (insert(c, err) < 0)
		return -1;
	return c->connection->projects ? add_in(&adding, err) : 0;
}

int vcs_connection_create(struct store *store, const char *organization_id, const struct vcs_connection *connection,
	struct id *ret_id, struct err *err)
{
	_cleanup_(change_release) struct change c;

	change_init(&c, store, connection);
	c.organization_id = organization_id;
	c.id = id_new("oc");
	change_seal(&c);
	if (db_transaction(store->db, create_in, &c, err) < 0)
		return -1;
	*ret_id = c.id;
	return 0;
}

int vcs_connection_update(struct store *store, const char *id, const struct vcs_connection *connection, struct err *err)
{
	_cleanup_(change_release) struct change c;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	change_init(&c, store, connection);
	text_copy(c.id.text, sizeof(c.id.text), id);
	change_seal(&c);
	if (db_query(store->db, &rows, err, vcs_connection_update, .id = id, .name = connection->name,
		    .key = connection->key, .secret_sealed = SEALED(c.secret),
		    .rsa_public_key = connection->rsa_public_key, .private_key_sealed = SEALED(c.private_key),
		    .organization_scoped = connection->organization_scoped, .pool_id = connection->pools.pool_id,
		    .fork_pool_id = connection->pools.fork_pool_id) < 0)
		return -1;
	return db_affected(&rows) ? 0 : not_found(err);
}

static int delete_in(void *data, struct err *err)
{
	const struct change *c = data;

	if (vcs_removals_add(c->store, &(struct vcs_removals_of){.connection_id = c->id.text}, err) < 0)
		return -1;
	return db_query(c->store->db, NULL, err, vcs_connection_delete, .id = c->id.text);
}

int vcs_connection_delete(struct store *store, const char *id, struct err *err)
{
	struct change c = {.store = store};

	text_copy(c.id.text, sizeof(c.id.text), id);
	return db_transaction(store->db, delete_in, &c, err);
}

/* ---- its projects ---- */

int vcs_connection_add_projects(
	struct store *store, const char *id, const json_t *projects, const char *pointer, struct err *err)
{
	struct adding a = {store, id, projects, pointer};

	return db_transaction(store->db, add_in, &a, err);
}

int vcs_connection_remove_projects(struct store *store, const char *id, const json_t *projects, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	db_array_add_texts(&ids, projects);
	return db_query(store->db, NULL, err, vcs_connection_remove_projects, .id = id, .ids = &ids);
}

/* ---- use ---- */

int vcs_connection_use_check(
	struct store *store, const char *id, const char *project_id, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_connection_use_check, .id = id, .project_id = project_id) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer, "Oauth token must exist");
	return row_of(vcs_connection_use_check, &rows, 0)->may
		? 0
		: err_at(err, pointer, "The OAuth client is not available to the project");
}

enum vcs_dialect vcs_dialect_named(const char *provider, const char *api_url)
{
	return vcs_dialect_of(vcs_provider_of(provider), api_url);
}
