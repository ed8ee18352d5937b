/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/internal/run_tokens.h"

/* The routes that terraform_remote_state, tfe_outputs and the installation of modules and providers
 * need, and those of the run
 * itself. */
static const handler_fn readable[] = {
	organizations_entitlements,
	workspaces_read,
	runs_read,
	plans_read,
	applies_read,
	states_index,
	states_read,
	states_download,
	states_json_download,
	states_outputs,
	state_outputs_read,
	states_current,
	states_current_outputs,
	registry_versions,
	registry_download,
	registry_download_latest,
	registry_module_latest,
	registry_version_show,
	registry_provider_versions,
	registry_provider_download,
};

static bool is_readable(const struct request *req)
{
	for (size_t i = 0; i < ARRAY_LEN(readable); i++)
		if (req->route->handler == readable[i])
			return text_equal(req->route->method, "GET");
	return false;
}

/* True if a run, plan or apply in the path belongs to the token's run. */
static bool is_own(const struct request *req)
{
	static const char *const names[] = {"run", "plan", "apply"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (*param(req, names[i]) &&
			!text_equal(param(req, names[i]), id_sibling(req->actor.run.text, names[i]).text))
			return false;
	return true;
}

int run_token_check(const struct request *req, struct err *err)
{
	const char *include = query(req, "include");

	if (!is_readable(req) || !is_own(req))
		return err_set(err, ERR_NOT_FOUND, "not found");
	/* Other resources that a workspace or state refers to are not shared with the run. */
	if (include && !text_equal(include, "outputs"))
		return err_set(err, ERR_NOT_FOUND, "not found: a run's token reads nothing but outputs along");
	return 0;
}
