/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/vcs/lookup.h"

#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/vcs/address.h"
#include "common/vcs/operation.h"
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/vcs/provider_request.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/vcs/credentials.h"
#include "scheduler/store/vcs/tokens.h"
#include "scheduler/store/vcs/tokens.sql.h"

#define REPO "/data/attributes/vcs-repo"

enum { MAX_PAGES = 5, MAX_LIST_MS = 8000 };

/* ---- one request ---- */

struct asking {
	struct vcs_api api;
	const char *pool_id; /* the pool whose workers send the request; NULL: this process does */
	enum vcs_operation operation;
	const json_t *arguments;
};

/* Requests with the credential; the operation is missing. */
static struct asking provider_of(const struct vcs_credential *credential)
{
	return (struct asking){.api = vcs_credential_api(credential), .pool_id = vcs_credential_forwarder(credential)};
}

static struct asking asking_of(const struct asking *provider, enum vcs_operation operation, const json_t *arguments)
{
	struct asking asking = *provider;

	asking.operation = operation;
	asking.arguments = arguments;
	return asking;
}

/* Fills *ret_verdict in any case; *ret_result is the result of a request that was taken and could be read, or NULL. */
static void provider_ask(
	struct store *store, const struct asking *asking, struct vcs_verdict *ret_verdict, json_t **ret_result)
{
	_cleanup_(vcs_http_release) struct vcs_http http = {.method = NULL};
	_cleanup_(provider_answer_release) struct provider_answer sent = {.status = 0};
	struct provider_request request;
	struct vcs_answer answer;
	struct err err = ERR_INIT;

	*ret_result = NULL;
	*ret_verdict = (struct vcs_verdict){.fate = VCS_NEVER};
	if (vcs_http_make(&asking->api, asking->operation, asking->arguments, &http, &err) < 0) {
		text_copy(ret_verdict->why, sizeof(ret_verdict->why), err.message);
		return;
	}
	request = (struct provider_request){
		.method = http.method, .url = http.url, .store = store, .pool_id = asking->pool_id};
	for (size_t i = 0; i < PROVIDER_HEADERS && i < json_array_size(http.headers); i++)
		request.headers[i] = json_string_value(json_array_get(http.headers, i));
	provider_request_send(store->settings->vcs_guard, &request, &sent);
	answer = (struct vcs_answer){.dialect = asking->api.dialect,
		.operation = asking->operation,
		.arguments = asking->arguments,
		.status = sent.status,
		.body = sent.body,
		.error = sent.why,
		.internal = true, /* what a host says is not shown: the client chose it */
		.now = time(NULL)};
	vcs_answer_judge(&answer, ret_verdict);
	if (ret_verdict->fate == VCS_TAKEN)
		vcs_answer_read(&answer, ret_result, &err);
}

/* ---- credentials ---- */

int vcs_credential_try(
	struct store *store, const struct vcs_trial *trial, struct vcs_trial_result *ret_result, struct err *err)
{
	json_auto_t *arguments = json_object(), *result = NULL;
	const struct asking asking = {.api = {.dialect = vcs_dialect_of(trial->provider, trial->api_url),
					      .api_url = trial->api_url,
					      .token = trial->token},
		.pool_id = trial->pool_id,
		.operation = VCS_OP_VERIFY,
		.arguments = arguments};
	struct vcs_verdict verdict;

	*ret_result = (struct vcs_trial_result){.verified = false};
	if (!trial->token || !vcs_operation_exists(asking.api.dialect, VCS_OP_VERIFY))
		return 0;
	provider_ask(store, &asking, &verdict, &result);
	if (verdict.unauthorized)
		return err_at(err, "/data/attributes/oauth-token-string",
			"Oauth token string is refused by the provider: check the token and the API url");
	ret_result->verified = result != NULL;
	text_copy(ret_result->user, sizeof(ret_result->user), text_or_empty(json_string_at(result, "user")));
	return 0;
}

/* ---- repositories ---- */

/* What is looked up: the parts of the repository after the change. */
struct wanted {
	struct vcs_source source;
	const char *identifier, *branch; /* borrowed; branch: "" for the default one */
	bool is_new, branch_is_new;
	bool is_policy_set; /* needs the head, too */
};

/* The workspace or policy set that will use the repository. */
struct place_of_use {
	struct id organization, project; /* project: "" for a policy set, and if the body names none */
	json_t *used;                    /* what it has now, or NULL */
	bool is_policy_set;
};

/* False if there is nothing to look up. An input that is not valid is left to vcs_repo_save, which says why. */
static bool wanted_read(struct store *store, const struct place_of_use *place, const struct vcs_repo_input *input,
	struct wanted *ret_wanted)
{
	const json_t *used = place->used;
	struct vcs_source_ids ids = {.organization_id = place->organization.text,
		.project_id = text_or_null(place->project.text),
		.token_id = text_or_null(input->token_id),
		.installation_id = text_or_null(input->installation_id)};
	struct err ignored = ERR_INIT;

	if (!ids.token_id && !ids.installation_id) {
		ids.token_id = json_string_at(used, "token");
		ids.installation_id = json_string_at(used, "installation");
	}
	*ret_wanted = (struct wanted){.identifier = vcs_repo_text(input->identifier, used, "identifier"),
		.branch = vcs_repo_text(input->branch, used, "branch"),
		.is_policy_set = place->is_policy_set};
	ret_wanted->is_new = !text_equal(ret_wanted->identifier, json_string_at(used, "identifier")) ||
		!text_equal(text_or_empty(ids.token_id), text_or_empty(json_string_at(used, "token"))) ||
		!text_equal(text_or_empty(ids.installation_id), text_or_empty(json_string_at(used, "installation")));
	ret_wanted->branch_is_new = *ret_wanted->branch &&
		(ret_wanted->is_new || !text_equal(ret_wanted->branch, json_string_at(used, "branch")));
	if ((!ids.token_id && !ids.installation_id) || (!ret_wanted->is_new && !ret_wanted->branch_is_new))
		return false;
	return vcs_source_find(store, &ids, &ret_wanted->source, &ignored) == 0 &&
		vcs_identifier_check(ret_wanted->source.dialect, ret_wanted->identifier, &ignored) == 0;
}

/* A token of the App that has just expired is renewed, so its refusal says nothing about the repository. */
static int verdict_check(const struct vcs_api *api, const struct vcs_verdict *verdict, const char *pointer,
	const char *what, struct err *err)
{
	if (verdict->unauthorized && !api->app)
		return err_at(err, REPO "/oauth-token-id", "Oauth token is refused by the provider");
	if (verdict->fate == VCS_NEVER)
		return err_at(err, pointer, "%s: %s", what, verdict->why);
	return 0;
}

static void head_copy(const json_t *branch, struct vcs_lookup *ret_lookup)
{
	const char *sha = json_string_at(branch, "sha");

	if (sha && vcs_sha_valid(sha))
		text_copy(ret_lookup->head, sizeof(ret_lookup->head), sha);
}

static int branch_ask(struct store *store, const struct asking *provider, const struct wanted *wanted,
	struct vcs_lookup *ret_lookup, struct err *err)
{
	json_auto_t *arguments = json_pack("{ss}", "branch", wanted->branch), *result = NULL;
	const struct asking asking = asking_of(provider, VCS_OP_BRANCH, arguments);
	struct vcs_verdict verdict;

	provider_ask(store, &asking, &verdict, &result);
	if (verdict_check(&provider->api, &verdict, REPO "/branch", "Branch can't be used", err) < 0)
		return -1;
	if (verdict.fate == VCS_TAKEN && !result)
		return err_at(err, REPO "/branch", "Branch does not exist");
	head_copy(result, ret_lookup);
	return 0;
}

/* {branch}: the repository's default one; {} if it has none, or if the provider does not answer. A new reference. */
static json_t *default_branch_ask(struct store *store, const struct asking *provider, const json_t *repository)
{
	json_auto_t *arguments = json_object(), *named = NULL;
	const struct asking asking = asking_of(provider, VCS_OP_DEFAULT_BRANCH, arguments);
	const char *branch = json_string_at(repository, "default_branch");
	struct vcs_verdict verdict;

	if (!branch && vcs_operation_exists(provider->api.dialect, VCS_OP_DEFAULT_BRANCH)) {
		provider_ask(store, &asking, &verdict, &named);
		branch = json_string_at(named, "name");
	}
	return branch ? json_pack("{ss}", "branch", branch) : json_object();
}

/* Refuses nothing, because a repository without commits has no default branch. */
static void default_head_ask(
	struct store *store, const struct asking *provider, const json_t *repository, struct vcs_lookup *ret_lookup)
{
	json_auto_t *arguments = default_branch_ask(store, provider, repository), *result = NULL;
	const struct asking asking = asking_of(provider, VCS_OP_BRANCH, arguments);
	struct vcs_verdict verdict;

	if (!json_at(arguments, "branch"))
		return;
	provider_ask(store, &asking, &verdict, &result);
	head_copy(result, ret_lookup);
}

static int repository_ask(struct store *store, const struct asking *provider, const struct wanted *wanted,
	struct vcs_lookup *ret_lookup, struct err *err)
{
	json_auto_t *arguments = json_object(), *result = NULL;
	const struct asking asking = asking_of(provider, VCS_OP_REPOSITORY, arguments);
	struct vcs_verdict verdict = {.fate = VCS_TAKEN};

	if (wanted->is_new)
		provider_ask(store, &asking, &verdict, &result);
	if (verdict_check(&provider->api, &verdict, REPO "/identifier", "Identifier can't be used", err) < 0)
		return -1;
	if (verdict.fate != VCS_TAKEN)
		return 0;
	if (wanted->branch_is_new)
		return branch_ask(store, provider, wanted, ret_lookup, err);
	if (wanted->is_policy_set)
		default_head_ask(store, provider, result, ret_lookup);
	return 0;
}

static int wanted_credential(
	struct store *store, const struct vcs_source *source, struct vcs_credential *ret_credential, struct err *err)
{
	return *source->connection.text
		? vcs_credential_of_connection(store, source->connection.text, ret_credential, err)
		: vcs_credential_of_installation(store, source->installation.text, ret_credential, err);
}

static int wanted_lookup(
	struct store *store, const struct wanted *wanted, struct vcs_lookup *ret_lookup, struct err *err)
{
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	struct err ignored = ERR_INIT;
	struct asking provider;

	if (!vcs_operation_exists(wanted->source.dialect, VCS_OP_REPOSITORY) ||
		wanted_credential(store, &wanted->source, &credential, &ignored) < 0 || !credential.token)
		return 0;
	provider = provider_of(&credential);
	provider.api.identifier = wanted->identifier;
	return repository_ask(store, &provider, wanted, ret_lookup, err);
}

/* Reads what the user of the path has. */
static int used_read(struct store *store, struct vcs_user user, struct place_of_use *place, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_used_row *row;

	if (vcs_used_read(store, user, &rows, err) < 0)
		return -1;
	row = row_of(vcs_used, &rows, 0);
	text_copy(place->organization.text, ID_SIZE, row->organization_id);
	text_copy(place->project.text, ID_SIZE, text_or_empty(row->project_id));
	place->used = json_shown(row->repository);
	return 0;
}

/* Finds the user of the repository by the path, and checks the route's permission. A path without one creates it. */
static int place_read(struct request *req, struct place_of_use *place, struct err *err)
{
	const struct vcs_user set = {VCS_USER_POLICY_SET, param(req, "set")};
	struct scope scope;

	place->is_policy_set = *set.id || text_equal(strrchr(req->route->pattern, '/'), "/policy-sets");
	if (*set.id) {
		if (used_read(req->store, set, place, err) < 0)
			return -1;
		return may(req, (struct place){.organization = place->organization.text}, "policy set", err);
	}
	if (!*param(req, "workspace") && !*param(req, "name")) {
		if (scope_organization(req, &scope, err) < 0)
			return -1;
		place->organization = scope.organization;
		text_copy(place->project.text, ID_SIZE, text_or_empty(body_relation(req, "project")));
		return 0;
	}
	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	return used_read(req->store, (struct vcs_user){VCS_USER_WORKSPACE, scope.workspace.text}, place, err);
}

int vcs_repo_lookup(struct request *req, struct vcs_lookup *ret_lookup, struct err *err)
{
	struct place_of_use place = {.used = NULL};
	struct vcs_repo_input input;
	struct wanted wanted;
	int result = 0;

	if (!json_is_object(json_at(req->body, "data.attributes.vcs-repo")))
		return 0;
	if (vcs_repo_input_read(req, &input, err) < 0 || place_read(req, &place, err) < 0)
		result = -1;
	else if (wanted_read(req->store, &place, &input, &wanted))
		result = wanted_lookup(req->store, &wanted, ret_lookup, err);
	json_decref(place.used);
	return result;
}

/* ---- the repositories that a credential sees ---- */

/* Appends those whose identifier has the text. */
static void matching_append(json_t *list, const json_t *items, const char *text)
{
	for (size_t i = 0; i < json_array_size(items) && json_array_size(list) < VCS_LIST_MAX; i++) {
		const json_t *item = json_array_get(items, i);
		const char *identifier = json_string_at(item, "identifier"), *id = json_string_at(item, "id");

		if (identifier && id && strcasestr(identifier, text))
			json_array_append_new(list,
				resource_new("provider-repositories", id,
					json_pack("{ss sO sO}", "identifier", identifier, "default-branch",
						json_at(item, "default_branch"), "web-url", json_at(item, "web_url")),
					NULL));
	}
}

static int pages_read(
	struct store *store, const struct vcs_credential *credential, const char *text, json_t *list, struct err *err)
{
	const int64_t until = clock_mono_ms() + MAX_LIST_MS;
	const struct asking provider = provider_of(credential);
	long long page = 1;

	while (page > 0 && page <= MAX_PAGES && json_array_size(list) < VCS_LIST_MAX && clock_mono_ms() < until) {
		json_auto_t *arguments = json_pack("{sI ss}", "page", (json_int_t)page, "filter", text), *result = NULL;
		const struct asking asking = asking_of(&provider, VCS_OP_REPOSITORIES, arguments);
		struct vcs_verdict verdict;

		provider_ask(store, &asking, &verdict, &result);
		if (!result && page == 1)
			return err_set(
				err, ERR_INVALID, "%s", *verdict.why ? verdict.why : "The provider can't be read");
		matching_append(list, json_at(result, "items"), text);
		page = json_int_at(result, "next", 0);
	}
	return 0;
}

int respond_provider_repositories(
	struct request *req, struct response *res, const struct vcs_credential *credential, struct err *err)
{
	json_auto_t *list = json_array();
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	if (credential->token && vcs_operation_exists(credential->dialect, VCS_OP_REPOSITORIES) &&
		pages_read(req->store, credential, text_or_empty(query(req, "search[name]")), list, err) < 0)
		return -1;
	return respond_slice(req, res, &page, list, NULL);
}

/* ---- the commits of a branch ---- */

/* {branch}: the one that is given, else the default one; {} if the provider does not name it. A new reference. */
static json_t *branch_or_default(struct store *store, const struct asking *provider, const char *branch)
{
	json_auto_t *none = json_object(), *repository = NULL;
	const struct asking asking = asking_of(provider, VCS_OP_REPOSITORY, none);
	struct vcs_verdict verdict;

	if (*branch)
		return json_pack("{ss}", "branch", branch);
	provider_ask(store, &asking, &verdict, &repository);
	return repository ? default_branch_ask(store, provider, repository) : json_object();
}

static json_t *commits_shown(const json_t *items)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(items) && i < VCS_COMMITS_MAX; i++) {
		const json_t *item = json_array_get(items, i);
		const char *sha = json_string_at(item, "sha");

		json_array_append_new(list,
			resource_new("commit", sha,
				json_pack("{ss sO sO sO sO sO sO}", "sha", sha, "message", json_at(item, "message"),
					"date", json_at(item, "at"), "url", json_at(item, "url"), "author",
					json_at(item, "author"), "author-avatar-url",
					json_at(item, "author_avatar_url"), "author-html-url",
					json_at(item, "author_url")),
				NULL));
	}
	return list;
}

int respond_provider_commits(struct request *req, struct response *res, const struct vcs_credential *credential,
	const char *branch, struct err *err)
{
	const struct asking provider = provider_of(credential);
	json_auto_t *arguments = NULL, *result = NULL, *list = NULL;
	struct vcs_verdict verdict = {.fate = VCS_NEVER};
	struct asking asking;
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	if (!credential->token || !vcs_operation_exists(credential->dialect, VCS_OP_COMMITS))
		return err_set(err, ERR_INVALID, "The connection of the repository can't list commits");
	arguments = branch_or_default(req->store, &provider, branch);
	asking = asking_of(&provider, VCS_OP_COMMITS, arguments);
	if (json_at(arguments, "branch"))
		provider_ask(req->store, &asking, &verdict, &result);
	if (!result)
		return err_set(err, ERR_INVALID, "The commits of the repository can't be read%s%s",
			*verdict.why ? ": " : "", verdict.why);
	list = commits_shown(json_at(result, "items"));
	return respond_slice(req, res, &page, list, NULL);
}

int oauth_tokens_repositories(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_token_row *token;

	if (vcs_token_read(req->store, param(req, "oauth_token"), &rows, err) < 0)
		return -1;
	token = row_of(vcs_token, &rows, 0);
	if (may(req, (struct place){.organization = token->organization_id}, "OAuth token", err) < 0 ||
		vcs_credential_of_connection(req->store, token->connection_id, &credential, err) < 0)
		return -1;
	return respond_provider_repositories(req, res, &credential, err);
}
