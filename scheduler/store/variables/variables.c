/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/variables.h"

#include "scheduler/store/variables/varset_globals.h"
#include "scheduler/store/content/seals.h"

enum { MAX_VARIABLES = 1000, SEALED_LIMIT = 1 << 20 };

#define COLUMNS                                                                                                        \
	"v.id, v.workspace_id, v.varset_id, v.key, v.value_sealed, v.description, v.category, v.hcl, v.sensitive, "    \
	"v.version_id, v.created_at "

/* Ids of workspaces and of variable sets are never equal. */
#define OWNED "(v.workspace_id = $1 or v.varset_id = $1) "

static int key_taken(struct store *store, struct err *err)
{
	const char *broken = db_constraint(store->db);

	if (err->kind == ERR_CONFLICT &&
		(text_equal(broken, "variables_key") || text_equal(broken, "variables_varset_key")))
		return err_at(err, "/data/attributes/key", "Key has already been taken");
	return -1;
}

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "variable not found");
}

/* A random id, which reveals nothing about the value. */
static void version_id_make(char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char random[32];

	crypto_random(random, sizeof(random));
	crypto_sha256_hex(random, sizeof(random), ret_hex);
}

/* ---- reading ---- */

int variables_list(struct store *store, const struct variable_owner *owner, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS "from variables v where " OWNED "order by v.key, v.category", P_TEXT(owner->id));
}

int variables_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS "from variables v where v.id = any($1::text[]) order by v.key, v.category, v.id",
		P_ARRAY(ids));
}

int variable_read(
	struct store *store, const struct variable_owner *owner, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from variables v where " OWNED "and v.id = $2",
		    P_TEXT(owner->id), P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

/*
 * Precedence, from lowest to highest:
 *  - 0 to 2: sets of the organization that are global (0), for projects (1), for workspaces (2);
 *  - 3 and 4: a project's own sets, for the project (3), for workspaces (4);
 *  - 5: the workspace's own variables;
 *  - 6: variables of a run;
 *  - 7 to 11: priority sets, in the reverse order.
 *
 * Ties are resolved by the sets' names: A before B.
 */
#define STRENGTHS                                                                                                      \
	"with w as (select id, organization_id, project_id from workspaces where id = $1), "                           \
	"scoped as (select s.*, 0 as scope from w join varsets s on s.organization_id = w.organization_id "            \
	"where s.global "                                                                                              \
	"union all select s.*, case when s.project_id is null then 1 else 3 end from w "                               \
	"join varset_projects m on m.project_id = w.project_id join varsets s on s.id = m.varset_id "                  \
	"union all select s.*, case when s.project_id is null then 2 else 4 end from w "                               \
	"join varset_workspaces m on m.workspace_id = w.id join varsets s on s.id = m.varset_id "                      \
	"where s.project_id is null or s.project_id = w.project_id), "                                                 \
	"candidates as (select v.*, '' as name, 5 as strength from variables v where v.workspace_id = $1 "             \
	"union all select v.*, s.name, case when s.priority then 11 - s.scope else s.scope end "                       \
	"from scoped s join variables v on v.varset_id = s.id) "

#define EFFECTIVE                                                                                                      \
	"select distinct on (v.category, v.key) " COLUMNS ", v.strength > 6 as beats_run from candidates v "           \
	"order by v.category, v.key, v.strength desc, v.name collate \"C\", v.id"

int variables_effective(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, STRENGTHS EFFECTIVE, P_TEXT(workspace_id));
}

int variables_effective_within(
	struct store *store, const char *workspace_id, long long limit, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		STRENGTHS ", effective as (" EFFECTIVE "), "
			  "size as (select sum(octet_length(value_sealed)) as bytes from effective) "
			  "select e.id, e.key, e.category, e.hcl, e.sensitive, e.beats_run, s.bytes, "
			  "case when s.bytes <= $2 then e.value_sealed end as value_sealed "
			  "from effective e cross join size s order by e.category, e.key",
		P_TEXT(workspace_id), P_INT(limit));
}

/* ---- creating and changing ---- */

struct change {
	struct store *store;
	const struct variable_owner *owner;
	const struct variable *variable;
	struct id id;
};

/* Changes of a set's variables need a transaction: the check against other global sets may fail after the change. */
static int change_make(struct change *change, int (*make)(void *data, struct err *err), struct err *err)
{
	if (change->owner->is_set)
		return db_transaction(change->store->db, make, change, err);
	return make(change, err);
}

static int change_check(const struct change *change, struct err *err)
{
	return change->owner->is_set ? varset_touch(change->store, change->owner->id, err) : 0;
}

static int create_in(void *data, struct err *err)
{
	struct change *c = data;
	const struct variable *variable = c->variable;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	char version[SHA256_HEX_SIZE];

	version_id_make(version);
	seal_text(c->store, c->id.text, variable->value, &sealed);
	if (db_query(c->store->db, &rows, err,
		    "insert into variables (id, workspace_id, varset_id, key, value_sealed, description, category, "
		    "hcl, sensitive, version_id) select $2, case when not $3 then $1 end, case when $3 then $1 end, "
		    "$4, $5, $6, $7, $8, $9, $10 "
		    "where (select count(*) from variables v where " OWNED ") < $11::bigint",
		    P_TEXT(c->owner->id), P_TEXT(c->id.text), P_BOOL(c->owner->is_set), P_TEXT(variable->key),
		    P_BYTES(sealed.data, sealed.len), P_TEXT(variable->description), P_TEXT(variable->category),
		    P_BOOL(variable->hcl), P_BOOL(variable->sensitive), P_TEXT(version), P_INT(MAX_VARIABLES)) < 0)
		return key_taken(c->store, err);
	if (!db_affected(&rows))
		return err_at(err, "/data", "There are %d variables already, and can't be more", MAX_VARIABLES);
	return change_check(c, err);
}

int variable_create(struct store *store, const struct variable_owner *owner, const struct variable *variable,
	struct id *ret_id, struct err *err)
{
	struct change change = {store, owner, variable, id_new("var")};

	if (change_make(&change, create_in, err) < 0)
		return -1;
	*ret_id = change.id;
	return 0;
}

static int update_in(void *data, struct err *err)
{
	struct change *c = data;
	const struct variable *variable = c->variable;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	char version[SHA256_HEX_SIZE];

	version_id_make(version);
	if (variable->value)
		seal_text(c->store, c->id.text, variable->value, &sealed);
	/* A sensitive variable stays sensitive, even if it became so after the caller's read. */
	if (db_query(c->store->db, NULL, err,
		    "update variables set key = $2, value_sealed = case when $3 then $4::bytea else value_sealed end, "
		    "description = $5, category = $6, hcl = $7, sensitive = sensitive or $8, version_id = $9 where id "
		    "= $1",
		    P_TEXT(c->id.text), P_TEXT(variable->key), P_BOOL(variable->value != NULL),
		    P_BYTES(buf_str(&sealed), sealed.len), P_TEXT(variable->description), P_TEXT(variable->category),
		    P_BOOL(variable->hcl), P_BOOL(variable->sensitive), P_TEXT(version)) < 0)
		return key_taken(c->store, err);
	return change_check(c, err);
}

int variable_update(struct store *store, const struct variable_owner *owner, const char *id,
	const struct variable *variable, struct err *err)
{
	struct change change = {.store = store, .owner = owner, .variable = variable};

	text_copy(change.id.text, sizeof(change.id.text), id);
	return change_make(&change, update_in, err);
}

int variable_delete(struct store *store, const struct variable_owner *owner, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "delete from variables v where " OWNED "and v.id = $2", P_TEXT(owner->id),
		    P_TEXT(id)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : not_found(err);
}
