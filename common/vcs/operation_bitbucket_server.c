/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/* Bitbucket Data Center's REST API (7.5 and later). Lists have pages by their first item. */

static void server_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_bitbucket(headers, api->token);
	/* Without it, some requests are refused as forged by a browser. */
	vcs_header_add(headers, "X-Atlassian-Token: ", "no-check");
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	static const char *const states[][2] = {
		{"pending", "INPROGRESS"}, {"success", "SUCCESSFUL"}, {"failure", "FAILED"}, {"error", "FAILED"}};
	const char *state = NULL;

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (text_equal(json_string_at(arguments, "state"), states[i][0]))
			state = states[i][1];
	return json_pack("{ss ss ss ss ss}", "key", json_string_at(arguments, "context"), "state", state, "name",
		json_string_at(arguments, "context"), "description", json_string_at(arguments, "description"), "url",
		json_string_at(arguments, "url"));
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

static json_t *link_named(const json_t *links, const char *name)
{
	json_t *link;
	size_t i;

	json_array_foreach((json_t *)links, i, link)
	{
		if (!name || text_equal(json_string_at(link, "name"), name))
			return vcs_read_text(link, "href", VCS_URL_LIMIT);
	}
	return json_null();
}

static json_t *repository(const json_t *item)
{
	const char *project = json_string_at(item, "project.key"), *slug = json_string_at(item, "slug");
	_cleanup_(freep) char *identifier = NULL;

	if (!project || !slug || strlen(project) + strlen(slug) >= VCS_NAME_LIMIT || !json_at(item, "id"))
		return NULL;
	identifier = mem_printf("%s/%s", project, slug);
	return json_pack("{so ss sn so so}", "id", vcs_read_id(item, "id"), "identifier", identifier, "default_branch",
		"clone_url", link_named(json_at(item, "links.clone"), "http"), "web_url",
		link_named(json_at(item, "links.self"), NULL));
}

static json_t *read_repository(const struct vcs_answer *answer)
{
	return repository(answer->body);
}

/* A page of a list: the provider says whether it is the last. */
static json_t *read_values(const struct vcs_answer *answer, json_t *(*read)(const json_t *))
{
	bool last = json_bool_at(answer->body, "isLastPage", true);

	return vcs_read_page(answer, json_at(answer->body, "values"), last ? SIZE_MAX : 0, read);
}

static json_t *read_repositories(const struct vcs_answer *answer)
{
	return read_values(answer, repository);
}

static json_t *read_default(const struct vcs_answer *answer)
{
	if (!json_string_at(answer->body, "displayId"))
		return NULL;
	return json_pack("{so}", "name", vcs_read_text(answer->body, "displayId", VCS_NAME_LIMIT));
}

/* The filter matches parts of names. */
static json_t *read_branch(const struct vcs_answer *answer)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)json_at(answer->body, "values"), i, item)
	{
		const struct vcs_answer one = {.body = item};

		if (text_equal(json_string_at(item, "displayId"), json_string_at(answer->arguments, "branch")))
			return vcs_read_head(&one, "displayId", "latestCommit");
	}
	return NULL;
}

static json_t *read_commit(const struct vcs_answer *answer)
{
	return vcs_read_commit(answer, &(struct vcs_commit_paths){"id", "message", "author.name", "url"});
}

static json_t *read_files(const struct vcs_answer *answer)
{
	static const char *const paths[2] = {"path.toString", "srcPath.toString"};
	bool last = json_bool_at(answer->body, "isLastPage", true);

	return vcs_read_files(answer, json_at(answer->body, "values"), last ? SIZE_MAX : 0, paths);
}

static json_t *pull(const json_t *item)
{
	json_auto_t *sha = vcs_read_sha(item, "fromRef.latestCommit");

	if (json_int_at(item, "id", 0) <= 0 || json_is_null(sha))
		return NULL;
	return json_pack("{sI sO so so so sb sb so so so}", "number", (json_int_t)json_int_at(item, "id", 0),
		"head_sha", sha, "head", vcs_read_text(item, "fromRef.displayId", VCS_NAME_LIMIT), "base",
		vcs_read_text(item, "toRef.displayId", VCS_NAME_LIMIT), "fork",
		vcs_read_differs(item, "fromRef.repository.id", "toRef.repository.id"), "draft",
		json_bool_at(item, "draft", false), "open", text_equal(json_string_at(item, "state"), "OPEN"), "title",
		vcs_read_cut(item, "title", VCS_TITLE_LIMIT), "url", link_named(json_at(item, "links.self"), NULL),
		"sender", vcs_read_text(item, "author.user.name", VCS_NAME_LIMIT));
}

static json_t *read_pull(const struct vcs_answer *answer)
{
	return pull(answer->body);
}

static json_t *read_pulls(const struct vcs_answer *answer)
{
	return read_values(answer, pull);
}

static json_t *comment(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack("{so sI so}", "id", vcs_read_id(item, "id"), "version",
		(json_int_t)json_int_at(item, "version", 0), "body", vcs_read_cut(item, "text", VCS_MESSAGE_LIMIT));
}

/* Comments are among the activities. */
static json_t *activity(const json_t *item)
{
	const json_t *inner = json_at(item, "comment");

	return inner ? comment(inner) : NULL;
}

static json_t *read_comments(const struct vcs_answer *answer)
{
	return read_values(answer, activity);
}

static json_t *read_comment(const struct vcs_answer *answer)
{
	return comment(answer->body);
}

static json_t *hook(const json_t *item)
{
	if (!json_at(item, "id"))
		return NULL;
	return json_pack("{so so}", "id", vcs_read_id(item, "id"), "url", vcs_read_text(item, "url", VCS_URL_LIMIT));
}

static json_t *read_hooks(const struct vcs_answer *answer)
{
	return read_values(answer, hook);
}

#define REPOSITORY "/projects/{owner}/repos/{name}"
#define PAGE       "start={start}&limit=100"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/repos?limit=1", .read = read_user},
	[VCS_OP_REPOSITORY] = {"GET", REPOSITORY, .read = read_repository},
	[VCS_OP_DEFAULT_BRANCH] = {"GET", REPOSITORY "/default-branch", .read = read_default},
	[VCS_OP_REPOSITORIES] = {"GET", "/repos?name={filter}&" PAGE, .read = read_repositories},
	[VCS_OP_BRANCH] = {"GET", REPOSITORY "/branches?boostMatches=true&filterText={branch}&limit=100",
		.read = read_branch},
	[VCS_OP_COMMIT] = {"GET", REPOSITORY "/commits/{sha}", .read = read_commit},
	[VCS_OP_COMPARE] = {"GET", REPOSITORY "/changes?since={base}&until={head}&" PAGE, .read = read_files},
	[VCS_OP_PULL] = {"GET", REPOSITORY "/pull-requests/{number}", .read = read_pull},
	[VCS_OP_PULLS] = {"GET", REPOSITORY "/pull-requests?state=OPEN&" PAGE, .read = read_pulls},
	[VCS_OP_PULL_FILES] = {"GET", REPOSITORY "/pull-requests/{number}/changes?" PAGE, .read = read_files},
	[VCS_OP_STATUS] = {"POST", REPOSITORY "/commits/{sha}/builds", .body = status_body},
	[VCS_OP_COMMENTS] = {"GET", REPOSITORY "/pull-requests/{number}/activities?" PAGE, .read = read_comments},
	[VCS_OP_COMMENT_CREATE] = {"POST", REPOSITORY "/pull-requests/{number}/comments", .body = comment_body,
		.read = read_comment},
	[VCS_OP_COMMENT_EDIT] = {"PUT", REPOSITORY "/pull-requests/{number}/comments/{comment}", .body = comment_change,
		.read = read_comment},
	[VCS_OP_HOOKS] = {"GET", REPOSITORY "/webhooks?" PAGE, .read = read_hooks},
	[VCS_OP_HOOK_CREATE] = {"POST", REPOSITORY "/webhooks", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_EDIT] = {"PUT", REPOSITORY "/webhooks/{hook}", .body = hook_body, .read = vcs_read_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", REPOSITORY "/webhooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_bitbucket_server_rows = {rows, server_headers, "/rest/api/1.0"};
