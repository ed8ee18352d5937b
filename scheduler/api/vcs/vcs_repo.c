/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/vcs/vcs_repo.h"

#include <stdio.h>

#include "common/vcs/address.h"
#include "scheduler/runs/vcs/policy_version.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/vcs/tags_regex.h"

#define REPO "/data/attributes/vcs-repo"

/* ---- showing ---- */

json_t *vcs_webhook_url(const struct store *store, enum vcs_provider provider, const char *hook)
{
	_cleanup_(freep) char *url = mem_printf("%s/webhooks/vcs/%s", store->settings->public_url, hook);

	/* Plain git has no hooks, and the App has one for all its repositories. */
	return json_string_or_null(provider == VCS_PROVIDER_GIT || provider == VCS_PROVIDER_GITHUB_APP ? NULL : url);
}

static json_t *page_url(const struct store *store, const json_t *used, enum vcs_provider provider)
{
	const char *http_url = json_string_at(used, "http-url"), *known = json_string_at(used, "web-url");
	const struct vcs_place place = {.dialect = vcs_dialect_of(provider, json_string_at(used, "api-url")),
		.http_url = http_url ? http_url : github_app_url(store->settings->github_app),
		.identifier = json_string_at(used, "identifier")};
	_cleanup_(freep) char *url = known ? mem_text(known) : vcs_repository_url(&place);

	return json_string_or_null(url);
}

json_t *vcs_repo_shown(const struct store *store, const char *repository)
{
	json_auto_t *used = json_shown(repository);
	const char *identifier = json_string_at(used, "identifier");
	enum vcs_provider provider;

	if (!identifier)
		return json_null();
	provider = vcs_provider_of(json_string_at(used, "provider"));
	return json_pack("{ss ss ss sb so so so so so so so}", "identifier", identifier, "display-identifier",
		identifier, "branch", text_or_empty(json_string_at(used, "branch")), "ingress-submodules",
		json_bool_at(used, "ingress-submodules", false), "oauth-token-id",
		json_string_or_null(json_string_at(used, "token")), "github-app-installation-id",
		json_string_or_null(json_string_at(used, "installation")), "tags-regex",
		json_string_or_null(text_or_null(json_string_at(used, "tags-regex"))), "repository-http-url",
		page_url(store, used, provider), "service-provider",
		json_string_or_null(json_string_at(used, "provider")), "webhook-url",
		vcs_webhook_url(store, provider, json_string_at(used, "hook")), "repository-id",
		json_string_or_null(json_string_at(used, "repository")));
}

/* ---- reading ---- */

static int member_text(const json_t *repo, const char *name, const char **ret_text, struct err *err)
{
	const json_t *value = json_object_get(repo, name);
	char pointer[64], label[32];

	if (!value)
		return 0;
	snprintf(pointer, sizeof(pointer), REPO "/%s", name);
	text_label(label, sizeof(label), name);
	if (!json_is_string(value) && !json_is_null(value))
		return err_at(err, pointer, "%s must be a string", label);
	*ret_text = text_or_empty(json_string_value(value));
	return 0;
}

static int submodules_read(const json_t *repo, struct vcs_repo_input *input, struct err *err)
{
	const json_t *value = json_object_get(repo, "ingress-submodules");

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_boolean(value))
		return err_at(err, REPO "/ingress-submodules", "Ingress submodules must be true or false");
	input->submodules_sent = true;
	input->ingress_submodules = json_is_true(value);
	return 0;
}

static int texts_check(const struct vcs_repo_input *input, struct err *err)
{
	if (*text_or_empty(input->branch) && !vcs_ref_name_valid(input->branch))
		return err_at(err, REPO "/branch", "Branch is not a valid name of a branch");
	if (*text_or_empty(input->tags_regex) && tags_regex_check(input->tags_regex, err) < 0) {
		text_copy(err->pointer, sizeof(err->pointer), REPO "/tags-regex");
		return -1;
	}
	if (*text_or_empty(input->token_id) && *text_or_empty(input->installation_id))
		return err_at(err, REPO "/github-app-installation-id",
			"Github app installation can't be combined with an OAuth token");
	return 0;
}

int vcs_repo_input_read(const struct request *req, struct vcs_repo_input *ret_input, struct err *err)
{
	const json_t *repo = json_at(req->body, "data.attributes.vcs-repo");
	struct vcs_repo_input input = {.sent = repo != NULL, .disconnect = json_is_null(repo)};
	const struct {
		const char *name, **text;
	} texts[] = {{"identifier", &input.identifier}, {"branch", &input.branch}, {"tags-regex", &input.tags_regex},
		{"oauth-token-id", &input.token_id}, {"github-app-installation-id", &input.installation_id},
		{"source-directory", &input.source_directory}, {"tag-prefix", &input.tag_prefix}};

	if (repo && !json_is_object(repo) && !json_is_null(repo))
		return err_at(err, REPO, "VCS repo must be an object");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (member_text(repo, texts[i].name, texts[i].text, err) < 0)
			return -1;
	if (submodules_read(repo, &input, err) < 0 || texts_check(&input, err) < 0)
		return -1;
	*ret_input = input;
	return 0;
}

/* ---- saving ---- */

const char *vcs_repo_text(const char *sent, const json_t *used, const char *member)
{
	return sent ? sent : text_or_empty(json_string_at(used, member));
}

/* The connection that was sent, or else the one that is there. */
static int source_read(struct store *store, const struct vcs_used_row *user, const json_t *used,
	const struct vcs_repo_input *input, struct vcs_source *ret_source, struct err *err)
{
	struct vcs_source_ids ids = {.organization_id = user->organization_id,
		.project_id = user->project_id,
		.token_id = text_or_null(input->token_id),
		.installation_id = text_or_null(input->installation_id)};

	if (!ids.token_id && !ids.installation_id) {
		ids.token_id = json_string_at(used, "token");
		ids.installation_id = json_string_at(used, "installation");
	}
	if (!ids.token_id && !ids.installation_id)
		return err_at(err, REPO "/oauth-token-id",
			"Oauth token, or a GitHub App installation, must be given for the repository");
	return vcs_source_find(store, &ids, ret_source, err);
}

static int identifier_check(const struct vcs_use *use, struct err *err)
{
	if (!*use->identifier)
		return err_at(err, REPO "/identifier", "Identifier can't be blank");
	if (vcs_identifier_check(use->source.dialect, use->identifier, err) == 0)
		return 0;
	text_copy(err->pointer, sizeof(err->pointer), REPO "/identifier");
	return -1;
}

/* Creates the event that makes a configuration version of the branch's head, and a run if the workspace queues all
 * runs. A policy set gets its first version at once if the lookup returned the head. */
static int head_request(const struct request *req, struct vcs_user user, const char *repository_id, struct err *err)
{
	const char *actor = req->actor.user.text, *head = req->lookup ? req->lookup->head : "";
	const struct vcs_request request = {
		.repository_id = repository_id, .subject_id = user.id, .actor = text_or_null(actor)};
	struct id event;

	if (vcs_event_request(req->store, &request, &event, err) < 0)
		return -1;
	if (user.kind != VCS_USER_POLICY_SET || !*head)
		return 0;
	return vcs_policy_version_begin(req->store, event.text, user.id, head, err);
}

int vcs_repo_save(struct request *req, struct vcs_user user, const struct vcs_repo_input *input,
	const struct vcs_use *more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *used = NULL;
	struct vcs_use use = more ? *more : (struct vcs_use){.policies_path = NULL};
	const struct vcs_used_row *row;
	struct id repository;
	bool changed;

	if (!input->sent)
		return 0;
	if (input->disconnect)
		return vcs_use_clear(req->store, user, err);
	if (vcs_used_read(req->store, user, &rows, err) < 0)
		return -1;
	row = row_of(vcs_used, &rows, 0);
	used = json_shown(row->repository);
	use.organization_id = row->organization_id;
	use.identifier = vcs_repo_text(input->identifier, used, "identifier");
	use.branch = vcs_repo_text(input->branch, used, "branch");
	use.tags_regex = vcs_repo_text(input->tags_regex, used, "tags-regex");
	use.ingress_submodules =
		input->submodules_sent ? input->ingress_submodules : json_bool_at(used, "ingress-submodules", false);
	if (source_read(req->store, row, used, input, &use.source, err) < 0 || identifier_check(&use, err) < 0)
		return -1;
	if (vcs_use_set(req->store, user, &use, &repository, &changed, err) < 0)
		return -1;
	return changed ? head_request(req, user, repository.text, err) : 0;
}
