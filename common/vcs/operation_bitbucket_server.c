/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/* Bitbucket Data Center's REST API (7.5 and later). Lists have pages by their first item. */

static void server_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_bitbucket(api, headers);
	/* Without it, some requests are refused as forged by a browser. */
	vcs_header_add(headers, "X-Atlassian-Token: ", "no-check");
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	return json_pack("{ss ss ss ss ss}", "key", json_string_at(arguments, "context"), "state",
		vcs_bitbucket_state(arguments), "name", json_string_at(arguments, "context"), "description",
		json_string_at(arguments, "description"), "url", json_string_at(arguments, "url"));
}

static json_t *comment_body(const json_t *arguments)
{
	return json_pack("{ss}", "text", json_string_at(arguments, "body"));
}

/* An edit names the version that it changes. */
static json_t *comment_change(const json_t *arguments)
{
	return json_pack("{ss sI}", "text", json_string_at(arguments, "body"), "version",
		(json_int_t)json_int_at(arguments, "version", 0));
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss sb s[ssssssss] s{ss}}", "name", "Runyard", "url", json_string_at(arguments, "url"),
		"active", 1, "events", "repo:refs_changed", "repo:modified", "pr:opened", "pr:from_ref_updated",
		"pr:modified", "pr:merged", "pr:declined", "pr:deleted", "configuration", "secret",
		json_string_at(arguments, "secret"));
}

/* ---- answers ---- */

/* No resource names the requester; a header of every answer does. */
static json_t *read_user(const struct vcs_answer *answer)
{
	const char *user = json_string_value(json_array_get(json_object_get(answer->headers, "x-ausername"), 0));

	if (!json_is_array(json_at(answer->body, "values")))
		return NULL;
	return json_pack("{so}", "user", user && strlen(user) <= VCS_NAME_LIMIT ? json_string(user) : json_null());
}

static const struct vcs_item repository = {{
	{"id", VCS_ID, {"id"}},
	{"identifier", VCS_PAIR, {"project.key", "slug"}},
	{"default_branch", VCS_NONE, {NULL}},
	{"clone_url", VCS_LINK, {"links.clone", "http"}},
	{"web_url", VCS_LINK, {"links.self"}},
}};

static const struct vcs_item default_branch = {{{"name", VCS_KEY, {"displayId"}}}};

static const struct vcs_item branch = {{
	{"name", VCS_NAME, {"displayId"}},
	{"sha", VCS_COMMIT, {"latestCommit"}},
}};

static const struct vcs_item commit = {{
	{"sha", VCS_COMMIT, {"id"}},
	{"message", VCS_TEXT, {"message"}},
	{"author", VCS_NAME, {"author.name"}},
	{"url", VCS_URL, {"url"}},
	{"at", VCS_TIME, {"authorTimestamp"}},
	{"author_avatar_url", VCS_NONE, {NULL}},
	{"author_url", VCS_NONE, {NULL}},
}};

static const char *const file_paths[2] = {"path.toString", "srcPath.toString"};

static const struct vcs_item pull = {{
	{"number", VCS_NUMBER, {"id"}},
	{"head_sha", VCS_COMMIT, {"fromRef.latestCommit"}},
	{"head", VCS_NAME, {"fromRef.displayId"}},
	{"base", VCS_NAME, {"toRef.displayId"}},
	{"fork", VCS_DIFFER, {"fromRef.repository.id", "toRef.repository.id"}},
	{"draft", VCS_FLAG, {"draft"}},
	{"open", VCS_IS, {"state", "OPEN"}},
	{"title", VCS_TITLE, {"title"}},
	{"url", VCS_LINK, {"links.self"}},
	{"sender", VCS_NAME, {"author.user.name"}},
}};

static const struct vcs_item comment = {{
	{"id", VCS_ID, {"id"}},
	{"version", VCS_VERSION, {"version"}},
	{"body", VCS_TEXT, {"text"}},
}};

static const struct vcs_item hook = {{
	{"id", VCS_ID, {"id"}},
	{"url", VCS_URL, {"url"}},
}};

#define REPOSITORY "/projects/{owner}/repos/{name}"
#define PAGE       "start={start}&limit=100"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/repos?limit=1", .read = read_user},
	[VCS_OP_REPOSITORY] = {"GET", REPOSITORY, .item = &repository},
	[VCS_OP_DEFAULT_BRANCH] = {"GET", REPOSITORY "/default-branch", .item = &default_branch},
	[VCS_OP_REPOSITORIES] = {"GET", "/repos?name={filter}&" PAGE, .item = &repository, .list = "values",
		.page = VCS_ALL},
	[VCS_OP_BRANCH] = {"GET", REPOSITORY "/branches?boostMatches=true&filterText={branch}&limit=100",
		.item = &branch, .list = "values"},
	[VCS_OP_COMMIT] = {"GET", REPOSITORY "/commits/{sha}", .item = &commit},
	[VCS_OP_COMMITS] = {"GET", REPOSITORY "/commits?until=refs%2Fheads%2F{branch}&limit=20", .item = &commit,
		.list = "values", .page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET", REPOSITORY "/changes?since={base}&until={head}&" PAGE, .files = file_paths,
		.list = "values", .page = VCS_ALL},
	[VCS_OP_PULL] = {"GET", REPOSITORY "/pull-requests/{number}", .item = &pull},
	[VCS_OP_PULLS] = {"GET", REPOSITORY "/pull-requests?state=OPEN&" PAGE, .item = &pull, .list = "values",
		.page = VCS_ALL},
	[VCS_OP_PULL_FILES] = {"GET", REPOSITORY "/pull-requests/{number}/changes?" PAGE, .files = file_paths,
		.list = "values", .page = VCS_ALL},
	[VCS_OP_STATUS] = {"POST", REPOSITORY "/commits/{sha}/builds", .body = status_body},
	[VCS_OP_COMMENTS] = {"GET", REPOSITORY "/pull-requests/{number}/activities?" PAGE, .item = &comment,
		.within = "comment", .list = "values", .page = VCS_ALL},
	[VCS_OP_COMMENT_CREATE] = {"POST", REPOSITORY "/pull-requests/{number}/comments", .body = comment_body,
		.item = &comment},
	[VCS_OP_COMMENT_EDIT] = {"PUT", REPOSITORY "/pull-requests/{number}/comments/{comment}", .body = comment_change,
		.item = &comment},
	[VCS_OP_HOOKS] = {"GET", REPOSITORY "/webhooks?" PAGE, .item = &hook, .list = "values", .page = VCS_ALL},
	[VCS_OP_HOOK_CREATE] = {"POST", REPOSITORY "/webhooks", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_EDIT] = {"PUT", REPOSITORY "/webhooks/{hook}", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", REPOSITORY "/webhooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_bitbucket_server_rows = {rows, server_headers, "/rest/api/1.0"};
