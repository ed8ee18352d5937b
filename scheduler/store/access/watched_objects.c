/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/watched_objects.h"

/* Each join finds at most one row by a unique index. */
int watched_objects_find(
	struct store *store, struct db_array *kinds, struct db_array *names, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.n, coalesce(g.id, w.id, p.id, r.id) as object_id, "
		"coalesce(g.id, w.organization_id, r.organization_id) as organization_id, "
		"coalesce(w.id, r.workspace_id) as workspace_id "
		"from unnest($1::text[], $2::text[]) with ordinality as t(kind, name, n) "
		"left join organizations g on t.kind = 'org' and lower(g.name) = lower(t.name) "
		"left join workspaces w on t.kind = 'workspace' and w.id = t.name "
		"left join operations p on t.kind = 'log' and p.id = t.name "
		"left join runs r on r.id = case t.kind when 'run' then t.name when 'log' then p.run_id end "
		"where coalesce(g.id, w.id, p.id, r.id) is not null",
		P_ARRAY(kinds), P_ARRAY(names));
}
