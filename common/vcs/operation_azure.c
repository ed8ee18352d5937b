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

/* Without the prefix of a branch's ref. */
static json_t *read_branch_name(const json_t *item, const char *path)
{
	static const char prefix[] = "refs/heads/";
	const char *ref = json_string_at(item, path);

	if (!ref || strlen(ref) > VCS_NAME_LIMIT)
		return json_null();
	return json_string(text_starts(ref, prefix) ? ref + strlen(prefix) : ref);
}

static json_t *repository(const json_t *item)
{
	if (!json_string_at(item, "id") || !json_string_at(item, "project.id"))
		return NULL;
	return json_pack("{so sn so so so so}", "id", vcs_read_text(item, "id", VCS_NAME_LIMIT), "identifier",
		"default_branch", read_branch_name(item, "defaultBranch"), "clone_url",
		vcs_read_text(item, "remoteUrl", VCS_URL_LIMIT), "web_url",
		vcs_read_text(item, "webUrl", VCS_URL_LIMIT), "project_id",
		vcs_read_text(item, "project.id", VCS_NAME_LIMIT));
}

static json_t *read_repository(const struct vcs_answer *answer)
{
	return repository(answer->body);
}

/* The filter is a prefix. */
static json_t *read_branch(const struct vcs_answer *answer)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)json_at(answer->body, "value"), i, item)
	{
		json_auto_t *name = read_branch_name(item, "name"), *sha = vcs_read_sha(item, "objectId");

		if (text_equal(json_string_value(name), json_string_at(answer->arguments, "branch")) &&
			!json_is_null(sha))
			return json_pack("{sO sO}", "name", name, "sha", sha);
	}
	return NULL;
}

static json_t *read_commit(const struct vcs_answer *answer)
{
	return vcs_read_commit(answer, &(struct vcs_commit_paths){"commitId", "comment", "author.name", "remoteUrl"});
}

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

static json_t *pull(const json_t *item)
{
	json_auto_t *sha = vcs_read_sha(item, "lastMergeSourceCommit.commitId");

	if (json_int_at(item, "pullRequestId", 0) <= 0 || json_is_null(sha))
		return NULL;
	return json_pack("{sI sO so so sb sb sb so sn so}", "number", (json_int_t)json_int_at(item, "pullRequestId", 0),
		"head_sha", sha, "head", read_branch_name(item, "sourceRefName"), "base",
		read_branch_name(item, "targetRefName"), "fork", json_is_object(json_at(item, "forkSource")), "draft",
		json_bool_at(item, "isDraft", false), "open", text_equal(json_string_at(item, "status"), "active"),
		"title", vcs_read_cut(item, "title", VCS_TITLE_LIMIT), "url", "sender",
		vcs_read_text(item, "createdBy.uniqueName", VCS_NAME_LIMIT));
}

static json_t *read_pull(const struct vcs_answer *answer)
{
	return pull(answer->body);
}

static json_t *read_pulls(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "value"), VCS_LIST_MAX, pull);
}

/* "threads/12/comments/1": the first comment of a thread. */
static json_t *thread(const json_t *item)
{
	const json_t *first = json_array_get(json_at(item, "comments"), 0);
	_cleanup_(freep) char *id = NULL;

	if (!json_is_integer(json_at(item, "id")) || !json_is_integer(json_at(first, "id")))
		return NULL;
	id = mem_printf("%lld/comments/%lld", json_int_at(item, "id", 0), json_int_at(first, "id", 0));
	return json_pack("{ss sn so}", "id", id, "version", "body", vcs_read_cut(first, "content", VCS_MESSAGE_LIMIT));
}

static json_t *read_comments(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "value"), SIZE_MAX, thread);
}

static json_t *read_comment(const struct vcs_answer *answer)
{
	return thread(answer->body);
}

/* The id stays as it was. */
static json_t *read_change(const struct vcs_answer *answer)
{
	return json_pack("{ss sn}", "id", json_string_at(answer->arguments, "comment"), "version");
}

static json_t *hook(const json_t *item)
{
	if (!json_string_at(item, "id"))
		return NULL;
	return json_pack("{so so so}", "id", vcs_read_text(item, "id", VCS_NAME_LIMIT), "url",
		vcs_read_text(item, "consumerInputs.url", VCS_URL_LIMIT), "event",
		vcs_read_text(item, "eventType", VCS_NAME_LIMIT));
}

static json_t *read_hooks(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "value"), SIZE_MAX, hook);
}

#define GIT     "/{within}/_apis/git/repositories/{name}"
#define HOOKS   "/{collection}/_apis/hooks/subscriptions"
#define VERSION "api-version=6.0"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_REPOSITORY] = {"GET", GIT "?" VERSION, .read = read_repository},
	[VCS_OP_BRANCH] = {"GET", GIT "/refs?filter=heads/{branch}&" VERSION, .read = read_branch},
	[VCS_OP_COMMIT] = {"GET", GIT "/commits/{sha}?" VERSION, .read = read_commit},
	[VCS_OP_COMPARE] = {"GET",
		GIT "/diffs/commits?baseVersion={base}&baseVersionType=commit&targetVersion={head}"
		    "&targetVersionType=commit&$top=2000&" VERSION,
		.read = read_compare},
	[VCS_OP_PULL] = {"GET", GIT "/pullrequests/{number}?" VERSION, .read = read_pull},
	[VCS_OP_PULLS] = {"GET", GIT "/pullrequests?searchCriteria.status=active&$top=100&$skip={start}&" VERSION,
		.read = read_pulls},
	[VCS_OP_STATUS] = {"POST", GIT "/commits/{sha}/statuses?" VERSION, .body = status_body},
	[VCS_OP_PULL_STATUS] = {"POST", GIT "/pullRequests/{number}/statuses?" VERSION "-preview.1",
		.body = status_body},
	[VCS_OP_COMMENTS] = {"GET", GIT "/pullRequests/{number}/threads?" VERSION, .read = read_comments},
	[VCS_OP_COMMENT_CREATE] = {"POST", GIT "/pullRequests/{number}/threads?" VERSION, .body = comment_body,
		.read = read_comment},
	[VCS_OP_COMMENT_EDIT] = {"PATCH", GIT "/pullRequests/{number}/threads/{comment}?" VERSION,
		.body = comment_change, .read = read_change},
	[VCS_OP_HOOKS] = {"GET", HOOKS "?publisherId=tfs&consumerId=webHooks&" VERSION, .read = read_hooks},
	[VCS_OP_HOOK_CREATE] = {"POST", HOOKS "?" VERSION, .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", HOOKS "/{hook}?" VERSION, .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_azure_rows = {rows, azure_headers, NULL};
