/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/variables.h"

#include "scheduler/store/variables/variables.sql.h"
#include "scheduler/store/variables/varset_globals.h"
#include "scheduler/store/content/seals.h"

enum { MAX_VARIABLES = 1000, SEALED_LIMIT = 1 << 20 };

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
	return db_query(store->db, ret_rows, err, variables_list, .owner_id = owner->id);
}

int variables_page(struct store *store, const struct variable_owner *owner, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, variables_page, .owner_id = owner->id, .limit = range.limit,
		.offset = range.offset);
}

int variables_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, variables_read_all, .ids = ids);
}

int variable_read(
	struct store *store, const struct variable_owner *owner, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, variable_read, .owner_id = owner->id, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int variables_effective(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, variables_effective, .workspace_id = workspace_id);
}

int variables_effective_within(
	struct store *store, const char *workspace_id, long long limit, struct rows *ret_rows, struct err *err)
{
	return db_query(
		store->db, ret_rows, err, variables_effective_within, .workspace_id = workspace_id, .limit = limit);
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
	if (db_query(c->store->db, &rows, err, variable_insert, .owner_id = c->owner->id, .id = c->id.text,
		    .is_set = c->owner->is_set, .key = variable->key, .value_sealed = db_blob(sealed.data, sealed.len),
		    .description = variable->description, .category = variable->category, .hcl = variable->hcl,
		    .sensitive = variable->sensitive, .version = version, .max_variables = MAX_VARIABLES) < 0)
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
	if (db_query(c->store->db, NULL, err, variable_update, .id = c->id.text, .key = variable->key,
		    .has_value = variable->value != NULL, .value_sealed = db_blob(buf_str(&sealed), sealed.len),
		    .description = variable->description, .category = variable->category, .hcl = variable->hcl,
		    .sensitive = variable->sensitive, .version = version) < 0)
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

	if (db_query(store->db, &rows, err, variable_delete, .owner_id = owner->id, .id = id) < 0)
		return -1;
	return db_affected(&rows) ? 0 : not_found(err);
}
