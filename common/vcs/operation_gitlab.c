/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/* GitLab's REST API, version 4. A project is named by its whole path, as one segment. */

enum { PULLS = 30, FILES = 100 };

static void gitlab_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_add(headers, "Authorization: Bearer ", api->token);
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	const char *state = json_string_at(arguments, "state");
	bool bad = text_equal(state, "failure") || text_equal(state, "error");

	return json_pack("{ss ss ss ss}", "state", bad ? "failed" : state, "name", json_string_at(arguments, "context"),
		"description", json_string_at(arguments, "description"), "target_url",
		json_string_at(arguments, "url"));
}

static json_t *comment_body(const json_t *arguments)
{
	return json_pack("{ss}", "body", json_string_at(arguments, "body"));
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss sb sb sb sb}", "url", json_string_at(arguments, "url"), "token",
		json_string_at(arguments, "secret"), "push_events", 1, "tag_push_events", 1, "merge_requests_events", 1,
		"enable_ssl_verification", 1);
}

/* ---- answers ---- */

static json_t *read_user(const struct vcs_answer *answer)
{
	if (!json_string_at(answer->body, "username"))
		return NULL;
	return json_pack("{so}", "user", vcs_read_text(answer->body, "username", VCS_NAME_LIMIT));
}

static json_t *repository(const json_t *item)
{
	if (!json_at(item, "id") || !json_string_at(item, "path_with_namespace"))
		return NULL;
	return json_pack("{so so so so so}", "id", vcs_read_id(item, "id"), "identifier",
		vcs_read_text(item, "path_with_namespace", VCS_NAME_LIMIT), "default_branch",
		vcs_read_text(item, "default_branch", VCS_NAME_LIMIT), "clone_url",
		vcs_read_text(item, "http_url_to_repo", VCS_URL_LIMIT), "web_url",
		vcs_read_text(item, "web_url", VCS_URL_LIMIT));
}

static json_t *read_repository(const struct vcs_answer *answer)
{
	return repository(answer->body);
}

static json_t *read_repositories(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, VCS_LIST_MAX, repository);
}

static json_t *read_branch(const struct vcs_answer *answer)
{
	return vcs_read_head(answer, "name", "commit.id");
}

static json_t *read_commit(const struct vcs_answer *answer)
{
	return vcs_read_commit(answer, &(struct vcs_commit_paths){"id", "message", "author_name", "web_url"});
}

static const char *const file_paths[2] = {"new_path", "old_path"};

static json_t *read_compare(const struct vcs_answer *answer)
{
	json_t *result = vcs_read_files(answer, json_at(answer->body, "diffs"), SIZE_MAX, file_paths);

	if (result && json_bool_at(answer->body, "compare_timeout", false))
		json_object_set_new(result, "whole", json_false());
	return result;
}

static json_t *read_files(const struct vcs_answer *answer)
{
	return vcs_read_files(answer, answer->body, FILES, file_paths);
}

static json_t *pull(const json_t *item)
{
	json_t *sha = vcs_read_sha(item, "sha");

	if (json_int_at(item, "iid", 0) <= 0 || json_is_null(sha)) {
		json_decref(sha);
		return NULL;
	}
	return json_pack("{sI so so so so sb sb so so so}", "number", (json_int_t)json_int_at(item, "iid", 0),
		"head_sha", sha, "head", vcs_read_text(item, "source_branch", VCS_NAME_LIMIT), "base",
		vcs_read_text(item, "target_branch", VCS_NAME_LIMIT), "fork",
		vcs_read_differs(item, "source_project_id", "target_project_id"), "draft",
		json_bool_at(item, "draft", false), "open", text_equal(json_string_at(item, "state"), "opened"),
		"title", vcs_read_cut(item, "title", VCS_TITLE_LIMIT), "url",
		vcs_read_text(item, "web_url", VCS_URL_LIMIT), "sender",
		vcs_read_text(item, "author.username", VCS_NAME_LIMIT));
}

static json_t *read_pull(const struct vcs_answer *answer)
{
	return pull(answer->body);
}

static json_t *read_pulls(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, PULLS, pull);
}

static json_t *read_comments(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, VCS_LIST_MAX, vcs_github_comment_item);
}

static json_t *hook(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack("{so so}", "id", vcs_read_id(item, "id"), "url", vcs_read_text(item, "url", VCS_URL_LIMIT));
}

static json_t *read_hooks(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, answer->body, VCS_LIST_MAX, hook);
}

/* GitLab refuses a status that the commit has already: "Cannot transition status via :run from :running". */
static bool is_equal_transition(const struct vcs_answer *answer)
{
	const char *message = json_string_at(answer->body, "message");

	return answer->status == 400 && message && strstr(message, "Cannot transition status");
}

#define PROJECT "/projects/{project}"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .read = read_user},
	[VCS_OP_REPOSITORY] = {"GET", PROJECT, .read = read_repository},
	[VCS_OP_LOCATE] = {"GET", "/projects/{id}", .read = read_repository},
	[VCS_OP_REPOSITORIES] = {"GET",
		"/projects?membership=true&archived=false&order_by=last_activity_at&per_page=100&page={page}"
		"&search_namespaces=true&search={filter}",
		.read = read_repositories},
	[VCS_OP_BRANCH] = {"GET", PROJECT "/repository/branches/{branch}", .read = read_branch},
	[VCS_OP_COMMIT] = {"GET", PROJECT "/repository/commits/{sha}", .read = read_commit},
	[VCS_OP_COMPARE] = {"GET", PROJECT "/repository/compare?from={base}&to={head}&straight=true",
		.read = read_compare},
	[VCS_OP_PULL] = {"GET", PROJECT "/merge_requests/{number}", .read = read_pull},
	[VCS_OP_PULLS] = {"GET", PROJECT "/merge_requests?state=opened&per_page=30&page={page}", .read = read_pulls},
	[VCS_OP_PULL_FILES] = {"GET", PROJECT "/merge_requests/{number}/diffs?per_page=100&page={page}",
		.read = read_files},
	[VCS_OP_STATUS] = {"POST", PROJECT "/statuses/{sha}", .body = status_body, .taken = is_equal_transition},
	[VCS_OP_COMMENTS] = {"GET",
		PROJECT "/merge_requests/{number}/notes?order_by=created_at&sort=asc&per_page=100&page={page}",
		.read = read_comments},
	[VCS_OP_COMMENT_CREATE] = {"POST", PROJECT "/merge_requests/{number}/notes", .body = comment_body,
		.read = vcs_github_read_comment},
	[VCS_OP_COMMENT_EDIT] = {"PUT", PROJECT "/merge_requests/{number}/notes/{comment}", .body = comment_body,
		.read = vcs_github_read_comment},
	[VCS_OP_HOOKS] = {"GET", PROJECT "/hooks?per_page=100&page={page}", .read = read_hooks},
	[VCS_OP_HOOK_CREATE] = {"POST", PROJECT "/hooks", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_EDIT] = {"PUT", PROJECT "/hooks/{hook}", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", PROJECT "/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_gitlab_rows = {rows, gitlab_headers, NULL};
