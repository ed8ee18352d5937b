/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include "common/vcs/ref.h"

/* The API of Gitea 1.x and Forgejo. Most of its forms are GitHub's. */

enum { PAGE = 50 };

static void gitea_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_add(headers, "Authorization: token ", api->token);
}

/* Tags that are made come as `create`. `pull_request` would subscribe to comments and labels, too. There is no edit:
 * Gitea ignores a changed secret. */
static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss sb s[ssssss] s{ss ss ss}}", "type", "gitea", "active", 1, "events", "push", "create",
		"delete", "pull_request_only", "pull_request_sync", "repository", "config", "url",
		json_string_at(arguments, "url"), "content_type", "json", "secret",
		json_string_at(arguments, "secret"));
}

static const struct vcs_item branch = {{
	{"name", VCS_NAME, {"name"}},
	{"sha", VCS_COMMIT, {"commit.id"}},
}};

static const char *const file_paths[2] = {"filename", "previous_filename"};

/* Adds the files of a commit. False if it has no list. */
static bool files_add(json_t *files, const json_t *commit)
{
	const json_t *list = json_at(commit, "files");

	for (size_t i = 0; i < json_array_size(list); i++)
		json_array_append_new(
			files, vcs_read_text(json_string_at(json_array_get(list, i), "filename"), VCS_PATH_LIMIT));
	return json_is_array(list);
}

/* True if `base` is a parent of the commit. */
static bool follows(const json_t *commit, const char *base)
{
	const json_t *parents = json_at(commit, "parents");

	for (size_t i = 0; i < json_array_size(parents); i++)
		if (text_equal(json_string_at(json_array_get(parents, i), "sha"), base))
			return true;
	return false;
}

/* Each commit has its files. The list is whole if all commits are there, and if the base is a parent of one: a list
 * after a forced push lacks the files of removed commits. If the base is a branch, those files are not wanted. */
static json_t *read_compare(const struct vcs_answer *answer)
{
	const json_t *commits = json_at(answer->body, "commits");
	const char *base = json_string_at(answer->arguments, "base");
	json_t *files = json_array(), *commit;
	bool forced = vcs_sha_valid(base),
	     whole = json_int_at(answer->body, "total_commits", -1) == (long long)json_array_size(commits);
	size_t i;

	if (!json_is_array(commits)) {
		json_decref(files);
		return NULL;
	}
	json_array_foreach((json_t *)commits, i, commit)
	{
		whole = files_add(files, commit) && whole;
		forced = forced && !follows(commit, base);
	}
	return json_pack("{so sb sn}", "files", files, "whole", whole && !forced, "next");
}

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .item = &vcs_github_user},
	[VCS_OP_REPOSITORY] = {"GET", "/repos/{repo}", .item = &vcs_github_repository},
	[VCS_OP_LOCATE] = {"GET", "/repositories/{id}", .item = &vcs_github_repository},
	[VCS_OP_REPOSITORIES] = {"GET", "/repos/search?limit=50&page={page}&q={filter}", .item = &vcs_github_repository,
		.list = "data", .page = PAGE},
	[VCS_OP_BRANCH] = {"GET", "/repos/{repo}/branches/{branch}", .item = &branch},
	[VCS_OP_COMMIT] = {"GET", "/repos/{repo}/git/commits/{sha}", .item = &vcs_github_commit},
	[VCS_OP_COMMITS] = {"GET",
		"/repos/{repo}/commits?sha={branch}&limit=20&stat=false&verification=false&files=false",
		.item = &vcs_github_commit, .page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET", "/repos/{repo}/compare/{base}...{head}", .read = read_compare},
	[VCS_OP_PULL] = {"GET", "/repos/{repo}/pulls/{number}", .item = &vcs_github_pull},
	[VCS_OP_PULLS] = {"GET", "/repos/{repo}/pulls?state=open&limit=50&page={page}", .item = &vcs_github_pull,
		.page = PAGE},
	[VCS_OP_PULL_FILES] = {"GET", "/repos/{repo}/pulls/{number}/files?limit=50&page={page}", .files = file_paths,
		.page = PAGE},
	[VCS_OP_STATUS] = {"POST", "/repos/{repo}/statuses/{sha}", .body = vcs_github_status},
	[VCS_OP_COMMENTS] = {"GET", "/repos/{repo}/issues/{number}/comments", .item = &vcs_github_comment_item,
		.page = VCS_ALL},
	[VCS_OP_COMMENT_CREATE] = {"POST", "/repos/{repo}/issues/{number}/comments", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_COMMENT_EDIT] = {"PATCH", "/repos/{repo}/issues/comments/{comment}", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_HOOKS] = {"GET", "/repos/{repo}/hooks?limit=50&page={page}", .item = &vcs_github_hook, .page = PAGE},
	[VCS_OP_HOOK_CREATE] = {"POST", "/repos/{repo}/hooks", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", "/repos/{repo}/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_gitea_rows = {rows, gitea_headers, NULL};
