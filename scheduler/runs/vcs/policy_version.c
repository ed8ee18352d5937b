/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/policy_version.h"

#include "common/vcs/dialect.h"
#include "scheduler/runs/vcs/outcomes.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/events/commits.sql.h"

int vcs_policy_version_begin(
	struct store *store, const char *event_id, const char *policy_set_id, const char *sha, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *detail = NULL, *versions = NULL;
	struct vcs_ingress ingress = {.event_id = event_id, .sha = sha};
	struct vcs_commit commit = {.sha = sha, .directory = ""};
	const struct vcs_policy_repository_read_row *row;
	struct id content;
	bool stored;

	if (vcs_policy_repository_read(store, policy_set_id, &rows, err) < 0)
		return -1;
	row = row_of(vcs_policy_repository_read, &rows, 0);
	commit.repository_id = row->repository_id;
	commit.submodules = row->ingress_submodules;
	if (vcs_content_of(store, &commit, &content, &stored, err) < 0)
		return -1;
	ingress.detail = detail = json_pack("{ss}", "identifier", row->identifier);
	ingress.source = vcs_provider_source(vcs_provider_of(row->provider));
	vcs_ingress_complete(
		detail, (struct vcs_place_columns){row->identifier, row->provider, row->http_url, row->api_url}, sha);
	versions = json_pack("[{ss ss ss sb}]", "id", id_new("polsetver").text, "policy_set_id", policy_set_id,
		"content_id", content.text, "stored", stored);
	if (vcs_policy_versions_create(store, &ingress, versions, err) < 0)
		return -1;
	return stored ? vcs_policy_versions_end(store, content.text, NULL, err) : 0;
}
