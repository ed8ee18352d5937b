/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

#include "common/crypto.h"

/* Bitbucket Cloud's REST API 2.0. */

enum { PULLS = 50, FILES = 500, KEY_MAX = 40 };

static void bitbucket_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_bitbucket(headers, api->token);
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	static const char *const states[][2] = {
		{"pending", "INPROGRESS"}, {"success", "SUCCESSFUL"}, {"failure", "FAILED"}, {"error", "FAILED"}};
	const char *state = NULL, *context = json_string_at(arguments, "context");
	char hash[SHA256_HEX_SIZE], key[KEY_MAX + 1];

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (text_equal(json_string_at(arguments, "state"), states[i][0]))
			state = states[i][1];
	if (!state || !context)
		return NULL;
	/* A key has at most 40 characters. */
	crypto_sha256_hex(context, strlen(context), hash);
	text_copy(key, sizeof(key), strlen(context) <= KEY_MAX ? context : hash);
	return json_pack("{ss ss ss ss ss}", "key", key, "state", state, "name", context, "description",
		json_string_at(arguments, "description"), "url", json_string_at(arguments, "url"));
}

static json_t *comment_body(const json_t *arguments)
{
	return json_pack("{s{ss}}", "content", "raw", json_string_at(arguments, "body"));
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss sb ss s[ssssss]}", "description", "Runyard", "url", json_string_at(arguments, "url"),
		"active", 1, "secret", json_string_at(arguments, "secret"), "events", "repo:push", "repo:updated",
		"pullrequest:created", "pullrequest:updated", "pullrequest:fulfilled", "pullrequest:rejected");
}

/* ---- answers ---- */

static json_t *read_user(const struct vcs_answer *answer)
{
	static const char *const paths[] = {"username", "nickname", "display_name"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (json_string_at(answer->body, paths[i]))
			return json_pack("{so}", "user", vcs_read_text(answer->body, paths[i], VCS_NAME_LIMIT));
	return NULL;
}

/* The https one of links.clone, with the user that Bitbucket puts into it. */
static json_t *clone_url(const json_t *item)
{
	json_t *link;
	size_t i;

	json_array_foreach((json_t *)json_at(item, "links.clone"), i, link)
	{
		if (text_equal(json_string_at(link, "name"), "https") ||
			text_equal(json_string_at(link, "name"), "http"))
			return vcs_read_text(link, "href", VCS_URL_LIMIT);
	}
	return json_null();
}

static json_t *repository(const json_t *item)
{
	if (!json_string_at(item, "uuid") || !json_string_at(item, "full_name"))
		return NULL;
	return json_pack("{so so so so so}", "id", vcs_read_text(item, "uuid", VCS_NAME_LIMIT), "identifier",
		vcs_read_text(item, "full_name", VCS_NAME_LIMIT), "default_branch",
		vcs_read_text(item, "mainbranch.name", VCS_NAME_LIMIT), "clone_url", clone_url(item), "web_url",
		vcs_read_text(item, "links.html.href", VCS_URL_LIMIT));
}

static json_t *read_repository(const struct vcs_answer *answer)
{
	return repository(answer->body);
}

static json_t *read_repositories(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "values"), VCS_LIST_MAX, repository);
}

static json_t *read_branch(const struct vcs_answer *answer)
{
	return vcs_read_head(answer, "name", "target.hash");
}

static json_t *read_commit(const struct vcs_answer *answer)
{
	return vcs_read_commit(answer, &(struct vcs_commit_paths){"hash", "message", "author.raw", "links.html.href"});
}

static json_t *read_files(const struct vcs_answer *answer)
{
	static const char *const paths[2] = {"new.path", "old.path"};

	return vcs_read_files(answer, json_at(answer->body, "values"), FILES, paths);
}

/* The API abbreviates the head's hash, so it is "head_prefix". The operation `commit` returns the full hash. */
static json_t *pull(const json_t *item)
{
	if (json_int_at(item, "id", 0) <= 0)
		return NULL;
	return json_pack("{sI so so so so so sb sb so so so}", "number", (json_int_t)json_int_at(item, "id", 0),
		"head_sha", vcs_read_sha(item, "source.commit.hash"), "head_prefix",
		vcs_read_text(item, "source.commit.hash", 64), "head",
		vcs_read_text(item, "source.branch.name", VCS_NAME_LIMIT), "base",
		vcs_read_text(item, "destination.branch.name", VCS_NAME_LIMIT), "fork",
		vcs_read_differs(item, "source.repository.uuid", "destination.repository.uuid"), "draft",
		json_bool_at(item, "draft", false), "open", text_equal(json_string_at(item, "state"), "OPEN"), "title",
		vcs_read_cut(item, "title", VCS_TITLE_LIMIT), "url",
		vcs_read_text(item, "links.html.href", VCS_URL_LIMIT), "sender",
		vcs_read_text(item, "author.nickname", VCS_NAME_LIMIT));
}

static json_t *read_pull(const struct vcs_answer *answer)
{
	return pull(answer->body);
}

static json_t *read_pulls(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "values"), PULLS, pull);
}

static json_t *comment(const json_t *item)
{
	if (!json_at(item, "id") || json_bool_at(item, "deleted", false))
		return NULL;
	return json_pack("{so sn so}", "id", vcs_read_id(item, "id"), "version", "body",
		vcs_read_cut(item, "content.raw", VCS_MESSAGE_LIMIT));
}

static json_t *read_comments(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "values"), VCS_LIST_MAX, comment);
}

static json_t *read_comment(const struct vcs_answer *answer)
{
	return comment(answer->body);
}

static json_t *hook(const json_t *item)
{
	if (!json_string_at(item, "uuid"))
		return NULL;
	return json_pack("{so so}", "id", vcs_read_text(item, "uuid", VCS_NAME_LIMIT), "url",
		vcs_read_text(item, "url", VCS_URL_LIMIT));
}

static json_t *read_hook(const struct vcs_answer *answer)
{
	return hook(answer->body);
}

static json_t *read_hooks(const struct vcs_answer *answer)
{
	return vcs_read_page(answer, json_at(answer->body, "values"), VCS_LIST_MAX, hook);
}

#define REPOSITORY "/repositories/{repo}"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .read = read_user},
	[VCS_OP_REPOSITORY] = {"GET", REPOSITORY, .read = read_repository},
	[VCS_OP_LOCATE] = {"GET", "/repositories/{owner}/{id}", .read = read_repository},
	[VCS_OP_REPOSITORIES] = {"GET", "/repositories?role=member&sort=-updated_on&pagelen=100&page={page}",
		.read = read_repositories},
	[VCS_OP_BRANCH] = {"GET", REPOSITORY "/refs/branches/{branch}", .read = read_branch},
	[VCS_OP_COMMIT] = {"GET", REPOSITORY "/commit/{sha}", .read = read_commit},
	[VCS_OP_COMPARE] = {"GET", REPOSITORY "/diffstat/{head}..{base}?pagelen=500&page={page}", .read = read_files},
	[VCS_OP_PULL] = {"GET", REPOSITORY "/pullrequests/{number}", .read = read_pull},
	[VCS_OP_PULLS] = {"GET", REPOSITORY "/pullrequests?state=OPEN&pagelen=50&page={page}", .read = read_pulls},
	[VCS_OP_PULL_FILES] = {"GET", REPOSITORY "/pullrequests/{number}/diffstat?pagelen=500&page={page}",
		.read = read_files},
	[VCS_OP_STATUS] = {"POST", REPOSITORY "/commit/{sha}/statuses/build", .body = status_body},
	[VCS_OP_COMMENTS] = {"GET", REPOSITORY "/pullrequests/{number}/comments?pagelen=100&page={page}",
		.read = read_comments},
	[VCS_OP_COMMENT_CREATE] = {"POST", REPOSITORY "/pullrequests/{number}/comments", .body = comment_body,
		.read = read_comment},
	[VCS_OP_COMMENT_EDIT] = {"PUT", REPOSITORY "/pullrequests/{number}/comments/{comment}", .body = comment_body,
		.read = read_comment},
	[VCS_OP_HOOKS] = {"GET", REPOSITORY "/hooks?pagelen=100&page={page}", .read = read_hooks},
	[VCS_OP_HOOK_CREATE] = {"POST", REPOSITORY "/hooks", .body = hook_body, .read = read_hook},
	[VCS_OP_HOOK_EDIT] = {"PUT", REPOSITORY "/hooks/{hook}", .body = hook_body, .read = read_hook},
	[VCS_OP_HOOK_DELETE] = {"DELETE", REPOSITORY "/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_bitbucket_cloud_rows = {rows, bitbucket_headers, NULL};
