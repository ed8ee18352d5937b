/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/*
 * Azure DevOps' REST API, version 6.0, which Azure DevOps Server 2020 has too. There is no `verify`: a token is valid
 * in one organization, which the connection does not name. There is no list of a pull request's files.
 */

enum { COMPARED = 2000 };

/* A personal access token is a password; an OAuth token has two dots. */
static void azure_headers(const struct vcs_api *api, json_t *headers)
{
	_cleanup_(freep) char *pair = mem_printf(":%s", api->token);
	const char *dot = strchr(api->token, '.');

	if (dot && strchr(dot + 1, '.'))
		vcs_header_add(headers, "Authorization: Bearer ", api->token);
	else
		vcs_header_basic(headers, pair);
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	static const char *const states[][2] = {
		{"pending", "pending"}, {"success", "succeeded"}, {"failure", "failed"}, {"error", "error"}};
	const char *state = NULL, *context = text_or_empty(json_string_at(arguments, "context"));
	const char *slash = strchr(context, '/');
	_cleanup_(freep) char *genre = mem_printf("%.*s", (int)(slash ? slash - context : 0), context);

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (text_equal(json_string_at(arguments, "state"), states[i][0]))
			state = states[i][1];
	return json_pack("{ss ss ss s{ss ss}}", "state", state, "description", json_string_at(arguments, "description"),
		"targetUrl", json_string_at(arguments, "url"), "context", "genre", genre, "name",
		slash ? slash + 1 : context);
}

/* A closed thread: an open one would block pull requests whose comments must be resolved. */
static json_t *comment_body(const json_t *arguments)
{
	return json_pack("{s[{si ss ss}] ss}", "comments", "parentCommentId", 0, "content",
		json_string_at(arguments, "body"), "commentType", "text", "status", "closed");
}

static json_t *comment_change(const json_t *arguments)
{
	return json_pack("{ss}", "content", json_string_at(arguments, "body"));
}

/* A subscription has one event. Its proof is a password. */
static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss ss ss ss s{ss ss} s{ss ss ss ss}}", "publisherId", "tfs", "eventType",
		json_string_at(arguments, "event"), "resourceVersion", "1.0", "consumerId", "webHooks",
		"consumerActionId", "httpRequest", "publisherInputs", "projectId",
		json_string_at(arguments, "project_id"), "repository", json_string_at(arguments, "repository_id"),
		"consumerInputs", "url", json_string_at(arguments, "url"), "basicAuthUsername", "runyard",
		"basicAuthPassword", json_string_at(arguments, "secret"), "resourceDetailsToSend", "all");
}

/* ---- answers ---- */

static const struct vcs_item repository = {{
	{"id", VCS_KEY, {"id"}},
	{"identifier", VCS_NONE, {NULL}},
	{"default_branch", VCS_BRANCH, {"defaultBranch"}},
	{"clone_url", VCS_URL, {"remoteUrl"}},
	{"web_url", VCS_URL, {"webUrl"}},
	{"project_id", VCS_KEY, {"project.id"}},
}};

static const struct vcs_item branch = {{
	{"name", VCS_BRANCH, {"name"}},
	{"sha", VCS_COMMIT, {"objectId"}},
}};

static const struct vcs_item commit = {{
	{"sha", VCS_COMMIT, {"commitId"}},
	{"message", VCS_TEXT, {"comment"}},
	{"author", VCS_NAME, {"author.name"}},
	{"url", VCS_URL, {"remoteUrl"}},
	{"at", VCS_TIME, {"author.date"}},
	{"author_avatar_url", VCS_NONE, {NULL}},
	{"author_url", VCS_NONE, {NULL}},
}};

/* Paths begin with a slash; folders are listed, too. */
static json_t *read_compare(const struct vcs_answer *answer)
{
	const json_t *changes = json_at(answer->body, "changes");
	json_t *files, *change;
	size_t i;

	if (!json_is_array(changes))
		return NULL;
	files = json_array();
	json_array_foreach((json_t *)changes, i, change)
	{
		const char *path = json_string_at(change, "item.path");

		if (path && !json_bool_at(change, "item.isFolder", false) && strlen(path) <= VCS_PATH_LIMIT)
			json_array_append_new(files, json_string(path + (*path == '/')));
	}
	return json_pack("{so sb sn}", "files", files, "whole",
		json_bool_at(answer->body, "allChangesIncluded", false) && json_array_size(changes) < COMPARED, "next");
}

static const struct vcs_item pull = {{
	{"number", VCS_NUMBER, {"pullRequestId"}},
	{"head_sha", VCS_COMMIT, {"lastMergeSourceCommit.commitId"}},
	{"head", VCS_BRANCH, {"sourceRefName"}},
	{"base", VCS_BRANCH, {"targetRefName"}},
	{"fork", VCS_EXISTS, {"forkSource"}},
	{"draft", VCS_FLAG, {"isDraft"}},
	{"open", VCS_IS, {"status", "active"}},
	{"title", VCS_TITLE, {"title"}},
	{"url", VCS_NONE, {NULL}},
	{"sender", VCS_NAME, {"createdBy.uniqueName"}},
}};

/* "threads/12/comments/1": the first comment of a thread. */
static json_t *read_thread(const json_t *item)
{
	const json_t *first = json_array_get(json_at(item, "comments"), 0);
	_cleanup_(freep) char *id = NULL;

	if (!json_is_integer(json_at(item, "id")) || !json_is_integer(json_at(first, "id")))
		return NULL;
	id = mem_printf("%lld/comments/%lld", json_int_at(item, "id", 0), json_int_at(first, "id", 0));
	return json_pack("{ss sn so}", "id", id, "version", "body",
		vcs_read_cut(json_string_at(first, "content"), VCS_TEXT_LIMIT));
}

/* The id stays as it was. */
static json_t *read_change(const struct vcs_answer *answer)
{
	return json_pack("{ss sn}", "id", json_string_at(answer->arguments, "comment"), "version");
}

static const struct vcs_item hook = {{
	{"id", VCS_KEY, {"id"}},
	{"url", VCS_URL, {"consumerInputs.url"}},
	{"event", VCS_NAME, {"eventType"}},
}};

#define GIT     "/{within}/_apis/git/repositories/{name}"
#define HOOKS   "/{collection}/_apis/hooks/subscriptions"
#define VERSION "api-version=6.0"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_REPOSITORY] = {"GET", GIT "?" VERSION, .item = &repository},
	[VCS_OP_BRANCH] = {"GET", GIT "/refs?filter=heads/{branch}&" VERSION, .item = &branch, .list = "value"},
	[VCS_OP_COMMIT] = {"GET", GIT "/commits/{sha}?" VERSION, .item = &commit},
	[VCS_OP_COMMITS] = {"GET",
		GIT "/commits?searchCriteria.itemVersion.version={branch}&searchCriteria.itemVersion.versionType=branch"
		    "&searchCriteria.$top=20&" VERSION,
		.item = &commit, .list = "value", .page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET",
		GIT "/diffs/commits?baseVersion={base}&baseVersionType=commit&targetVersion={head}"
		    "&targetVersionType=commit&$top=2000&" VERSION,
		.read = read_compare},
	[VCS_OP_PULL] = {"GET", GIT "/pullrequests/{number}?" VERSION, .item = &pull},
	[VCS_OP_PULLS] = {"GET", GIT "/pullrequests?searchCriteria.status=active&$top=100&$skip={start}&" VERSION,
		.item = &pull, .list = "value", .page = 100},
	[VCS_OP_STATUS] = {"POST", GIT "/commits/{sha}/statuses?" VERSION, .body = status_body},
	[VCS_OP_PULL_STATUS] = {"POST", GIT "/pullRequests/{number}/statuses?" VERSION "-preview.1",
		.body = status_body},
	[VCS_OP_COMMENTS] = {"GET", GIT "/pullRequests/{number}/threads?" VERSION, .read_item = read_thread,
		.list = "value", .page = VCS_ALL},
	[VCS_OP_COMMENT_CREATE] = {"POST", GIT "/pullRequests/{number}/threads?" VERSION, .body = comment_body,
		.read_item = read_thread},
	[VCS_OP_COMMENT_EDIT] = {"PATCH", GIT "/pullRequests/{number}/threads/{comment}?" VERSION,
		.body = comment_change, .read = read_change},
	[VCS_OP_HOOKS] = {"GET", HOOKS "?publisherId=tfs&consumerId=webHooks&" VERSION, .item = &hook, .list = "value",
		.page = VCS_ALL},
	[VCS_OP_HOOK_CREATE] = {"POST", HOOKS "?" VERSION, .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", HOOKS "/{hook}?" VERSION, .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_azure_rows = {rows, azure_headers, NULL};
