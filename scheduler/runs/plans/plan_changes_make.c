/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/plans/plan_changes_make.h"

#include "scheduler/runs/plans/plan_summary.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/plans/plan_changes.sql.h"
#include "scheduler/store/runs/run_views.h"

int plan_changes_make(struct store *store, const char *plan_id, const struct plan_changes_lookup_row *plan,
	struct plan_changes_draft *ret_draft, struct err *err)
{
	_cleanup_(buf_release) struct buf content = BUF_INIT(MAX_PLAN_JSON);
	json_auto_t *secrets = NULL;

	if (plan->json_size > MAX_PLAN_JSON)
		return err_set(
			err, ERR_TOO_LARGE, "the plan's JSON is larger than %d bytes: read json-output", MAX_PLAN_JSON);
	if (blob_get(store, plan->json_blob, &content, err) < 0 || run_secrets(store, plan->run_id, &secrets, err) < 0)
		return -1;
	if (plan_summarize((struct json_span){buf_str(&content), content.len}, secrets, ret_draft, err) < 0)
		return -1;
	return plan_changes_keep(store, plan_id, plan->json_blob, ret_draft, err);
}
