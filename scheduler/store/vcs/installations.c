/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/installations.h"

#include <stdio.h>

#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events.h"

enum { TOKEN_LIMIT = 64 << 10 };

#define COLUMNS                                                                                                        \
	"i.id, i.installation_id, i.organization_id, i.name, i.kind, i.icon_url, i.web_url, i.error, i.created_at, "   \
	"i.pool_id, "                                                                                                  \
	"i.fork_pool_id, o.name as organization_name, l.error as call_error, case when l.blocked_until > now() then "  \
	"l.blocked_until "                                                                                             \
	"end as blocked_until "
#define TABLES                                                                                                         \
	"from vcs_installations i join organizations o on o.id = i.organization_id "                                   \
	"left join vcs_limits l on l.owner_id = i.id "

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "GitHub App installation not found");
}

int installations_list(
	struct store *store, const struct installation_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select i.id, lower(i.name) as name from vcs_installations i where i.removed_at is null "
		"and i.organization_id is not null and ($2::text is null or lower(i.name) = lower($2)) and "
		"($3::bigint = 0 or i.installation_id = $3) and ($1::text[] is null or i.organization_id = any($1))) "
		"select n.total, f.* from (select count(*) as total from found) n "
		"left join (select " COLUMNS TABLES "where i.id in (select id from found order "
		"by name, id limit $4 offset $5)) f "
		"on true order by lower(f.name), f.id",
		P_TEXT(list->organizations ? db_array_text(list->organizations) : NULL), P_TEXT(list->name),
		P_INT(list->number), P_INT(list->range.limit), P_INT(list->range.offset));
}

int installation_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where i.id = $1 and i.removed_at is null",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

/* GitHub never uses a number again, so a removed one that comes back was removed by mistake. */
int installation_connect(struct store *store, const char *organization_id, const struct installation *installation,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "insert into vcs_installations as i (id, installation_id, organization_id, name, kind, icon_url, "
		    "web_url) values ($1, $2, $3, $4, $5, $6, $7) on conflict (installation_id) do update set "
		    "organization_id = excluded.organization_id, name = excluded.name, kind = excluded.kind, "
		    "icon_url = excluded.icon_url, web_url = excluded.web_url, removed_at = null "
		    "where i.organization_id is null or i.organization_id = excluded.organization_id returning i.id",
		    P_TEXT(id_new("ghain").text), P_INT(installation->number), P_TEXT(organization_id),
		    P_TEXT(installation->account), P_TEXT(installation->kind), P_TEXT(installation->icon_url),
		    P_TEXT(installation->web_url)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "This installation is connected to another organization.");
	text_copy(ret_id->text, ID_SIZE, row_text(&rows, 0, "id"));
	return 0;
}

int installation_pools_set(struct store *store, const char *id, const struct vcs_pools *pools, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_installations set pool_id = $2, fork_pool_id = $3 where id = $1", P_TEXT(id),
		P_TEXT(pools->pool_id), P_TEXT(pools->fork_pool_id));
}

/* ---- its state ---- */

struct change {
	struct store *store;
	const char *id;
	const struct installation_token *token;
	const char *why; /* of a failure */
	bool removed;
};

/* Looks that failed without a token are repeated. `was` takes no lock, because PostgreSQL may read it after the update
 * below, and would not lock the row then. */
static const char token_sql[] =
	"with was as (select id, error, token_sealed is null as is_first from vcs_installations where id = $1), "
	"again as (update vcs_repositories r set state = 'unverified', error = null, look_failures = 0, "
	"look_due = now() from was where r.installation_id = was.id and "
	"(r.state = 'errored' and r.error = was.error or was.is_first and r.look_failures > 0)) "
	"update vcs_installations set token_sealed = $2, token_expires_at = now() + make_interval(secs => $3::bigint), "
	"error = null, generation = nextval('token_generations') where id = $1";

static int token_in(void *data, struct err *err)
{
	const struct change *c = data;
	_cleanup_(freep) char *context = mem_printf(VCS_INSTALLATION_SEAL "%s", c->id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(TOKEN_LIMIT);

	seal_text(c->store, context, c->token->token, &sealed);
	if (db_query(c->store->db, NULL, err, token_sql, P_TEXT(c->id), P_BYTES(sealed.data, sealed.len),
		    P_INT(c->token->expires_in)) < 0)
		return -1;
	return vcs_wake(c->store, err);
}

int installation_token_put(struct store *store, const char *id, const struct installation_token *token, struct err *err)
{
	struct change change = {.store = store, .id = id, .token = token};

	return db_transaction(store->db, token_in, &change, err);
}

/* An installation that fails again for the same reason makes no further event. */
static const char fail_sql[] =
	"with was as (select id, organization_id, error from vcs_installations where id = $1), "
	"gone as (update vcs_installations set token_sealed = null, token_expires_at = null, error = $2, "
	"removed_at = case when $3 then coalesce(removed_at, now()) end where id = $1), "
	"repositories as (update vcs_repositories set state = 'errored', error = $2 where installation_id = $1 and "
	"state <> 'errored') "
	"insert into vcs_events (id, organization_id, found_by, kind, state, level, message, done_at) "
	"select $4, organization_id, 'request', 'install', 'done', 'error', $2, now() from was "
	"where organization_id is not null and error is distinct from $2";

int installation_fail(struct store *store, const char *id, const char *why, bool removed, struct err *err)
{
	return db_query(
		store->db, NULL, err, fail_sql, P_TEXT(id), P_TEXT(why), P_BOOL(removed), P_TEXT(id_new("ve").text));
}

/* ---- webhooks ---- */

int installation_find(struct store *store, long long number, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id from vcs_installations where installation_id = $1 and organization_id is not null and "
		"removed_at is null",
		P_INT(number));
}

/* clang-format off */
static const char repositories_sql[] =
	"select u.n - 1 as n, r.id from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality "
	"u(installation, external_id, identifier, n), lateral (select v.id from vcs_installations i "
	"join vcs_repositories v on v.installation_id = i.id and v.organization_id = i.organization_id "
	"where i.installation_id = u.installation and i.removed_at is null "
	"and (v.external_id = u.external_id or lower(v.identifier) = lower(u.identifier)) limit 10) r";
/* clang-format on */

int app_deliveries_find(struct store *store, const struct app_delivery *deliveries, size_t count, struct rows *ret_rows,
	struct err *err)
{
	_cleanup_(db_array_release) struct db_array installations = DB_ARRAY_INIT, numbers = DB_ARRAY_INIT,
						    identifiers = DB_ARRAY_INIT;

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *number = mem_printf("%lld", deliveries[i].repository);

		db_array_add_int(&installations, deliveries[i].installation);
		db_array_add(&numbers, number);
		db_array_add(&identifiers, deliveries[i].identifier);
	}
	return db_query(store->db, ret_rows, err, repositories_sql, P_ARRAY(&installations), P_ARRAY(&numbers),
		P_ARRAY(&identifiers));
}
