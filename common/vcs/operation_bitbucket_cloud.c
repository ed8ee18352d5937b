/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

#include "common/crypto.h"

/* Bitbucket Cloud's REST API 2.0. */

enum { KEY_MAX = 40 }; /* of a status, in characters */

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	const char *state = vcs_bitbucket_state(arguments), *context = json_string_at(arguments, "context");
	char hash[SHA256_HEX_SIZE], key[KEY_MAX + 1];

	if (!state || !context)
		return NULL;
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

static const struct vcs_item user = {{{"user", VCS_KEY, {"username", "nickname", "display_name"}}}};

/* The https URL has the user that Bitbucket puts into it. */
static const struct vcs_item repository = {{
	{"id", VCS_KEY, {"uuid"}},
	{"identifier", VCS_KEY, {"full_name"}},
	{"default_branch", VCS_NAME, {"mainbranch.name"}},
	{"clone_url", VCS_LINK, {"links.clone", "http"}},
	{"web_url", VCS_URL, {"links.html.href"}},
}};

static const struct vcs_item branch = {{
	{"name", VCS_NAME, {"name"}},
	{"sha", VCS_COMMIT, {"target.hash"}},
}};

static const struct vcs_item commit = {{
	{"sha", VCS_COMMIT, {"hash"}},
	{"message", VCS_TEXT, {"message"}},
	{"author", VCS_NAME, {"author.raw"}},
	{"url", VCS_URL, {"links.html.href"}},
	{"at", VCS_TIME, {"date"}},
	{"author_avatar_url", VCS_URL, {"author.user.links.avatar.href"}},
	{"author_url", VCS_URL, {"author.user.links.html.href"}},
}};

static const char *const file_paths[2] = {"new.path", "old.path"};

/* The API abbreviates the head's hash, so it is "head_prefix". The operation `commit` returns the full hash. */
static const struct vcs_item pull = {{
	{"number", VCS_NUMBER, {"id"}},
	{"head_sha", VCS_SHA, {"source.commit.hash"}},
	{"head_prefix", VCS_NAME, {"source.commit.hash"}},
	{"head", VCS_NAME, {"source.branch.name"}},
	{"base", VCS_NAME, {"destination.branch.name"}},
	{"fork", VCS_DIFFER, {"source.repository.uuid", "destination.repository.uuid"}},
	{"draft", VCS_FLAG, {"draft"}},
	{"open", VCS_IS, {"state", "OPEN"}},
	{"title", VCS_TITLE, {"title"}},
	{"url", VCS_URL, {"links.html.href"}},
	{"sender", VCS_NAME, {"author.nickname"}},
}};

static const struct vcs_item comment = {{
	{"id", VCS_ID, {"id"}},
	{"version", VCS_NONE, {NULL}},
	{"body", VCS_TEXT, {"content.raw"}},
}};

static const struct vcs_item hook = {{
	{"id", VCS_KEY, {"uuid"}},
	{"url", VCS_URL, {"url"}},
}};

#define REPOSITORY "/repositories/{repo}"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .item = &user},
	[VCS_OP_REPOSITORY] = {"GET", REPOSITORY, .item = &repository},
	[VCS_OP_LOCATE] = {"GET", "/repositories/{owner}/{id}", .item = &repository},
	[VCS_OP_REPOSITORIES] = {"GET", "/repositories?role=member&sort=-updated_on&pagelen=100&page={page}",
		.item = &repository, .list = "values", .page = 100},
	[VCS_OP_BRANCH] = {"GET", REPOSITORY "/refs/branches/{branch}", .item = &branch},
	[VCS_OP_COMMIT] = {"GET", REPOSITORY "/commit/{sha}", .item = &commit},
	[VCS_OP_COMMITS] = {"GET", REPOSITORY "/commits?include={branch}&pagelen=20", .item = &commit, .list = "values",
		.page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET", REPOSITORY "/diffstat/{head}..{base}?pagelen=500&page={page}", .files = file_paths,
		.list = "values", .page = 500},
	[VCS_OP_PULL] = {"GET", REPOSITORY "/pullrequests/{number}", .item = &pull},
	[VCS_OP_PULLS] = {"GET", REPOSITORY "/pullrequests?state=OPEN&pagelen=50&page={page}", .item = &pull,
		.list = "values", .page = 50},
	[VCS_OP_PULL_FILES] = {"GET", REPOSITORY "/pullrequests/{number}/diffstat?pagelen=500&page={page}",
		.files = file_paths, .list = "values", .page = 500},
	[VCS_OP_STATUS] = {"POST", REPOSITORY "/commit/{sha}/statuses/build", .body = status_body},
	[VCS_OP_COMMENTS] = {"GET", REPOSITORY "/pullrequests/{number}/comments?pagelen=100&page={page}",
		.item = &comment, .unless = "deleted", .list = "values", .page = 100},
	[VCS_OP_COMMENT_CREATE] = {"POST", REPOSITORY "/pullrequests/{number}/comments", .body = comment_body,
		.item = &comment},
	[VCS_OP_COMMENT_EDIT] = {"PUT", REPOSITORY "/pullrequests/{number}/comments/{comment}", .body = comment_body,
		.item = &comment},
	[VCS_OP_HOOKS] = {"GET", REPOSITORY "/hooks?pagelen=100&page={page}", .item = &hook, .list = "values",
		.page = 100},
	[VCS_OP_HOOK_CREATE] = {"POST", REPOSITORY "/hooks", .body = hook_body, .item = &hook},
	[VCS_OP_HOOK_EDIT] = {"PUT", REPOSITORY "/hooks/{hook}", .body = hook_body, .item = &hook},
	[VCS_OP_HOOK_DELETE] = {"DELETE", REPOSITORY "/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_bitbucket_cloud_rows = {rows, vcs_header_bitbucket, NULL};
