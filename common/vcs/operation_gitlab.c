/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/* GitLab's REST API, version 4. A project is named by its whole path, as one segment. */

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	const char *state = json_string_at(arguments, "state");
	bool bad = text_equal(state, "failure") || text_equal(state, "error");

	return json_pack("{ss ss ss ss}", "state", bad ? "failed" : state, "name", json_string_at(arguments, "context"),
		"description", json_string_at(arguments, "description"), "target_url",
		json_string_at(arguments, "url"));
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss sb sb sb sb}", "url", json_string_at(arguments, "url"), "token",
		json_string_at(arguments, "secret"), "push_events", 1, "tag_push_events", 1, "merge_requests_events", 1,
		"enable_ssl_verification", 1);
}

/* ---- answers ---- */

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

static const char *const file_paths[2] = {"new_path", "old_path"};

static json_t *read_compare(const struct vcs_answer *answer)
{
	json_t *result = vcs_read_files(answer, json_at(answer->body, "diffs"), SIZE_MAX, file_paths);

	if (result && json_bool_at(answer->body, "compare_timeout", false))
		json_object_set_new(result, "whole", json_false());
	return result;
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

static json_t *hook(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack("{so so}", "id", vcs_read_id(item, "id"), "url", vcs_read_text(item, "url", VCS_URL_LIMIT));
}

/* GitLab refuses a status that the commit has already: "Cannot transition status via :run from :running". */
static bool is_equal_transition(const struct vcs_answer *answer)
{
	const char *message = json_string_at(answer->body, "message");

	return answer->status == 400 && message && strstr(message, "Cannot transition status");
}

#define PROJECT "/projects/{project}"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .text = {"user", "username"}},
	[VCS_OP_REPOSITORY] = {"GET", PROJECT, .item = repository},
	[VCS_OP_LOCATE] = {"GET", "/projects/{id}", .item = repository},
	[VCS_OP_REPOSITORIES] = {"GET",
		"/projects?membership=true&archived=false&order_by=last_activity_at&per_page=100&page={page}"
		"&search_namespaces=true&search={filter}",
		.item = repository, .list = "", .page = VCS_LIST_MAX},
	[VCS_OP_BRANCH] = {"GET", PROJECT "/repository/branches/{branch}", .head = {"name", "commit.id"}},
	[VCS_OP_COMMIT] = {"GET", PROJECT "/repository/commits/{sha}",
		.commit = {"id", "message", "author_name", "web_url"}},
	[VCS_OP_COMPARE] = {"GET", PROJECT "/repository/compare?from={base}&to={head}&straight=true",
		.read = read_compare},
	[VCS_OP_PULL] = {"GET", PROJECT "/merge_requests/{number}", .item = pull},
	[VCS_OP_PULLS] = {"GET", PROJECT "/merge_requests?state=opened&per_page=30&page={page}", .item = pull,
		.list = "", .page = 30},
	[VCS_OP_PULL_FILES] = {"GET", PROJECT "/merge_requests/{number}/diffs?per_page=100&page={page}",
		.files = file_paths, .list = "", .page = 100},
	[VCS_OP_STATUS] = {"POST", PROJECT "/statuses/{sha}", .body = status_body, .taken = is_equal_transition},
	[VCS_OP_COMMENTS] = {"GET",
		PROJECT "/merge_requests/{number}/notes?order_by=created_at&sort=asc&per_page=100&page={page}",
		.item = vcs_github_comment_item, .list = "", .page = VCS_LIST_MAX},
	[VCS_OP_COMMENT_CREATE] = {"POST", PROJECT "/merge_requests/{number}/notes", .body = vcs_github_comment,
		.item = vcs_github_comment_item},
	[VCS_OP_COMMENT_EDIT] = {"PUT", PROJECT "/merge_requests/{number}/notes/{comment}", .body = vcs_github_comment,
		.item = vcs_github_comment_item},
	[VCS_OP_HOOKS] = {"GET", PROJECT "/hooks?per_page=100&page={page}", .item = hook, .list = "",
		.page = VCS_LIST_MAX},
	[VCS_OP_HOOK_CREATE] = {"POST", PROJECT "/hooks", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_EDIT] = {"PUT", PROJECT "/hooks/{hook}", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", PROJECT "/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_gitlab_rows = {rows, vcs_header_bearer, NULL};
