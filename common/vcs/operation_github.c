/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

#include "common/vcs/ref.h"

/* GitHub's REST API, version 2022-11-28. */

enum { FILES = 100, MAX_COMPARED = 300, MAX_DESCRIPTION = 140 };

static void github_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_add(headers, "Authorization: Bearer ", api->token);
	vcs_header_add(headers, "X-GitHub-Api-Version: ", "2022-11-28");
}

/* ---- bodies ---- */

json_t *vcs_github_status(const json_t *arguments)
{
	char description[MAX_DESCRIPTION + 1];

	text_copy(description, sizeof(description), text_or_empty(json_string_at(arguments, "description")));
	return json_pack("{ss ss ss ss}", "state", json_string_at(arguments, "state"), "context",
		json_string_at(arguments, "context"), "description", description, "target_url",
		json_string_at(arguments, "url"));
}

json_t *vcs_github_comment(const json_t *arguments)
{
	return json_pack("{ss}", "body", json_string_at(arguments, "body"));
}

/* An App's installation creates a check run for each state, and GitHub shows the newest one of a name. */
static json_t *check_body(const json_t *arguments)
{
	const char *state = text_or_empty(json_string_at(arguments, "state"));
	const char *description = text_or_empty(json_string_at(arguments, "description"));
	bool pending = text_equal(state, "pending");
	json_t *body = json_pack("{ss ss ss ss s{ss ss}}", "name", json_string_at(arguments, "context"), "head_sha",
		json_string_at(arguments, "sha"), "status", pending ? "in_progress" : "completed", "details_url",
		json_string_at(arguments, "url"), "output", "title", *description ? description : state, "summary",
		*description ? description : state);

	if (body && !pending)
		json_object_set_new(
			body, "conclusion", json_string(text_equal(state, "success") ? "success" : "failure"));
	return body;
}

static json_t *hook_config(const json_t *arguments)
{
	return json_pack("{ss ss ss ss}", "url", json_string_at(arguments, "url"), "content_type", "json", "secret",
		json_string_at(arguments, "secret"), "insecure_ssl", "0");
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss sb s[sss] so}", "name", "web", "active", 1, "events", "push", "pull_request",
		"repository", "config", hook_config(arguments));
}

static json_t *hook_change(const json_t *arguments)
{
	return json_pack("{sb s[sss] so}", "active", 1, "events", "push", "pull_request", "repository", "config",
		hook_config(arguments));
}

/* ---- answers ---- */

json_t *vcs_github_read_user(const struct vcs_answer *answer)
{
	if (!json_string_at(answer->body, "login"))
		return NULL;
	return json_pack("{so}", "user", vcs_read_text(answer->body, "login", VCS_NAME_LIMIT));
}

json_t *vcs_github_repository(const json_t *item)
{
	if (!json_string_at(item, "full_name") || !json_at(item, "id"))
		return NULL;
	return json_pack("{so so so so so}", "id", vcs_read_id(item, "id"), "identifier",
		vcs_read_text(item, "full_name", VCS_NAME_LIMIT), "default_branch",
		vcs_read_text(item, "default_branch", VCS_NAME_LIMIT), "clone_url",
		vcs_read_text(item, "clone_url", VCS_URL_LIMIT), "web_url",
		vcs_read_text(item, "html_url", VCS_URL_LIMIT));
}

json_t *vcs_github_read_repository(const struct vcs_answer *answer)
{
	return vcs_github_repository(answer->body);
}

/* For a user, an array; for an App, an object with it. */
static json_t *read_repositories(const struct vcs_answer *answer)
{
	const json_t *inner = json_at(answer->body, "repositories");

	return vcs_read_page(answer, inner ? inner : answer->body, VCS_LIST_MAX, vcs_github_repository);
}

static char *repositories_url(const struct vcs_api *api, const json_t *arguments)
{
	size_t len = strlen(api->api_url);

	while (len > 0 && api->api_url[len - 1] == '/')
		len--;
	return mem_printf("%.*s/%s?per_page=%d&page=%lld", (int)len, api->api_url,
		api->app ? "installation/repositories" : "user/repos", VCS_LIST_MAX, vcs_page(arguments));
}

static json_t *read_branch(const struct vcs_answer *answer)
{
	return vcs_read_head(answer, "name", "commit.sha");
}

static json_t *read_commit(const struct vcs_answer *answer)
{
	return vcs_read_commit(
		answer, &(struct vcs_commit_paths){"sha", "commit.message", "commit.author.name", "html_url"});
}

static const char *const file_paths[2] = {"filename", "previous_filename"};

/* The list begins at the merge base, so it lacks the files of commits that a forced push removed. If the base is a
 * branch, those files are not wanted. */
static bool is_forced(const struct vcs_answer *answer)
{
	return vcs_sha_valid(json_string_at(answer->arguments, "base")) &&
		!text_equal(json_string_at(answer->body, "status"), "ahead");
}

/* The first page has all files, but no more than 300. */
static json_t *read_compare(const struct vcs_answer *answer)
{
	const json_t *files = json_at(answer->body, "files");
	json_t *result = vcs_read_files(answer, files, SIZE_MAX, file_paths);

	if (result && (json_array_size(files) >= MAX_COMPARED || is_forced(answer)))
		json_object_set_new(result, "whole", json_false());
	return result;
}

static json_t *read_files(const struct vcs_answer *answer)
{
	return vcs_read_files(answer, answer->body, FILES, file_paths);
}

json_t *vcs_github_pull(const json_t *item)
{
	json_t *sha = vcs_read_sha(item, "head.sha");

	if (json_int_at(item, "number", 0) <= 0 || json_is_null(sha)) {
		json_decref(sha);
		return NULL;
	}
	return json_pack("{sI so so so so sb sb so so so}", "number", (json_int_t)json_int_at(item, "number", 0),
		"head_sha", sha, "head", vcs_read_text(item, "head.ref", VCS_NAME_LIMIT), "base",
		vcs_read_text(item, "base.ref", VCS_NAME_LIMIT), "fork",
		vcs_read_differs(item, "head.repo.id", "base.repo.id"), "draft", json_bool_at(item, "draft", false),
		"open", text_equal(json_string_at(item, "state"), "open"), "title",
		vcs_read_cut(item, "title", VCS_TITLE_LIMIT), "url", vcs_read_text(item, "html_url", VCS_URL_LIMIT),
		"sender", vcs_read_text(item, "user.login", VCS_NAME_LIMIT));
}

json_t *vcs_github_read_pull(const struct vcs_answer *answer)
{
	return vcs_github_pull(answer->body);
}

static json_t *read_pulls(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, 30, vcs_github_pull);
}

json_t *vcs_github_comment_item(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack("{so sn so}", "id", vcs_read_id(item, "id"), "version", "body",
		vcs_read_cut(item, "body", VCS_MESSAGE_LIMIT));
}

static json_t *read_comments(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, VCS_LIST_MAX, vcs_github_comment_item);
}

json_t *vcs_github_read_comment(const struct vcs_answer *answer)
{
	return vcs_github_comment_item(answer->body);
}

json_t *vcs_github_hook(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack(
		"{so so}", "id", vcs_read_id(item, "id"), "url", vcs_read_text(item, "config.url", VCS_URL_LIMIT));
}

static json_t *read_hooks(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, VCS_LIST_MAX, vcs_github_hook);
}

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .read = vcs_github_read_user},
	[VCS_OP_REPOSITORY] = {"GET", "/repos/{repo}", .read = vcs_github_read_repository},
	[VCS_OP_LOCATE] = {"GET", "/repositories/{id}", .read = vcs_github_read_repository},
	[VCS_OP_REPOSITORIES] = {"GET", "", .filled = repositories_url, .read = read_repositories},
	[VCS_OP_BRANCH] = {"GET", "/repos/{repo}/branches/{branch}", .read = read_branch},
	[VCS_OP_COMMIT] = {"GET", "/repos/{repo}/commits/{sha}", .read = read_commit},
	[VCS_OP_COMPARE] = {"GET", "/repos/{repo}/compare/{base}...{head}", .read = read_compare},
	[VCS_OP_PULL] = {"GET", "/repos/{repo}/pulls/{number}", .read = vcs_github_read_pull},
	[VCS_OP_PULLS] = {"GET", "/repos/{repo}/pulls?state=open&per_page=30&page={page}", .read = read_pulls},
	[VCS_OP_PULL_FILES] = {"GET", "/repos/{repo}/pulls/{number}/files?per_page=100&page={page}",
		.read = read_files},
	[VCS_OP_STATUS] = {"POST", "/repos/{repo}/statuses/{sha}", .body = vcs_github_status},
	[VCS_OP_CHECK_RUN] = {"POST", "/repos/{repo}/check-runs", .body = check_body},
	[VCS_OP_COMMENTS] = {"GET", "/repos/{repo}/issues/{number}/comments?per_page=100&page={page}",
		.read = read_comments},
	[VCS_OP_COMMENT_CREATE] = {"POST", "/repos/{repo}/issues/{number}/comments", .body = vcs_github_comment,
		.read = vcs_github_read_comment},
	[VCS_OP_COMMENT_EDIT] = {"PATCH", "/repos/{repo}/issues/comments/{comment}", .body = vcs_github_comment,
		.read = vcs_github_read_comment},
	[VCS_OP_HOOKS] = {"GET", "/repos/{repo}/hooks?per_page=100&page={page}", .read = read_hooks},
	[VCS_OP_HOOK_CREATE] = {"POST", "/repos/{repo}/hooks", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_EDIT] = {"PATCH", "/repos/{repo}/hooks/{hook}", .body = hook_change, .read = vcs_read_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", "/repos/{repo}/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_github_rows = {rows, github_headers, NULL};
