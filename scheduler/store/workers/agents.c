/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/agents.h"

#include "scheduler/store/workers/draining.h"

#define STATUS                                                                                                         \
	"case when k.failed or k.left_at is null and k.seen_at < now() - interval '2 hours' then 'errored' "           \
	"when k.left_at is not null then 'exited' when k.seen_at < now() - interval '1 minute' then 'unknown' "        \
	"when exists (select 1 from jobs j where j.pool_id = k.pool_id and j.worker_id = k.id "                        \
	"and j.state like 'claimed') then 'busy' else 'idle' end"

#define JOBS "from jobs j where j.pool_id = k.pool_id and j.worker_id = k.id and j.state like 'claimed'"

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */
#define COLUMNS                                                                                                        \
	"k.id, k.name, k.address, " STATUS " as status, k.seen_at, k.created_at, k.token_id, "                         \
	"k.token_description, k.pool_id, p.organization_id, k.capabilities, " WORKER_ORDER("k", "p") "as ordered, "    \
	"k.draining or " WORKER_ORDER("k", "p") "<> 'none' as draining, k.version, k.slots, k.free, "                  \
	"(select coalesce(jsonb_agg(j.run_id order by j.run_id), '[]') " JOBS ") as runs, "                            \
	"coalesce((select o.name || '/' from organizations o where o.id = p.organization_id), '') || p.name as pool "
/* clang-format on */

#define TABLES "from workers k join agent_pools p on p.id = k.pool_id "

int agents_list(struct store *store, const struct agent_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select k.id, row_number() over (order by "
		"case when $3::text = 'name' then k.name end, case when $3 = '-name' then k.name end desc, "
		"case when $3 = 'last-ping-at' then k.seen_at end, "
		"case when $3 = '-last-ping-at' then k.seen_at end desc, "
		"case when $3 = 'created-at' then k.created_at end, k.created_at desc, k.id) as place "
		"from workers k where ($1::text is null or k.pool_id = $1) "
		"and ($6::text is null or k.pool_id in (select id from agent_pools where organization_id = $6)) and "
		"($2::timestamptz is null or k.seen_at "
		">= $2)) "
		"select c.total, a.* from (select count(*) as total from found) c left join (select f.place, " COLUMNS
			TABLES
		"join found f on f.id = k.id order by f.place limit $4 offset $5) a on true order by a.place",
		P_TEXT(list->pool_id), P_TEXT(list->seen_since), P_TEXT(list->sort), P_INT(list->limit),
		P_INT(list->offset), P_TEXT(list->organization_id));
}

int agent_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where k.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "agent not found");
}

int agent_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "delete from workers k where k.id = $1 and " STATUS " not in ('idle', 'busy')", P_TEXT(id)) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_set(err, ERR_PRECONDITION, "an agent can be deleted when it is unknown, errored or exited");
}
