/* SPDX-License-Identifier: MPL-2.0 */
/* Payloads of all providers, and the same with each of their members wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/vcs/ref.h"
#include "scheduler/vcs/payload.h"

#define A    "0123456789abcdef0123456789abcdef01234567"
#define B    "89abcdef0123456789abcdef0123456789abcdef"
#define C    "fedcba9876543210fedcba9876543210fedcba98"
#define ZERO "0000000000000000000000000000000000000000"

/* --- payloads, with ' for " --- */

#define GITHUB_COMMON                                                                                                  \
	"'repository': {'id': 42, 'full_name': 'acme/infra', 'default_branch': 'main',"                                \
	" 'clone_url': 'https://github.com/acme/infra.git'},"                                                          \
	"'sender': {'login': 'jane', 'avatar_url': 'https://github.com/jane.png', 'html_url': "                        \
	"'https://github.com/jane'}"
#define GITHUB_PUSH(ref, before, after)                                                                                \
	"{'ref': '" ref "', 'before': '" before "', 'after': '" after "', 'compare': 'https://github.com/c',"          \
	"'forced': false, 'commits': [{'id': '" A "', 'added': ['a.tf'], 'removed': [], 'modified': []}],"             \
	"'head_commit': {'id': '" A                                                                                    \
	"', 'message': 'Add a VPC', 'url': 'https://github.com/x', 'author': {'name': 'Jane'}}," GITHUB_COMMON "}"
#define GITHUB_PR(action, more)                                                                                        \
	"{'action': '" action "', 'number': 7, 'pull_request': {'title': 'A VPC', 'body': 'Please <b>look</b>',"       \
	"'html_url': 'https://github.com/acme/infra/pull/7', 'draft': false,"                                          \
	"'head': {'ref': 'vpc', 'sha': '" A                                                                            \
	"', 'repo': {'id': 42}}, 'base': {'ref': 'main', 'repo': {'id': 42}}}," more GITHUB_COMMON "}"
#define GITHUB_PR_OF(head_repo, draft)                                                                                 \
	"{'action': 'opened', 'number': 7, 'pull_request': {'title': 'A VPC', 'body': null, 'draft': " draft ","       \
	"'head': {'ref': 'vpc', 'sha': '" A "', 'repo': " head_repo                                                    \
	"}, 'base': {'ref': 'main', 'repo': {'id': 42}}}," GITHUB_COMMON "}"

#define GITEA_PUSH(ref, before, after)                                                                                 \
	"{'ref': '" ref "', 'before': '" before "', 'after': '" after "', 'compare_url': 'https://git.example.com/c'," \
	"'commits': [{'id': '" A "', 'added': ['a.tf'], 'removed': [], 'modified': []}], 'total_commits': 1,"          \
	"'head_commit': {'id': '" A "', 'message': 'Add a VPC', 'url': 'https://git.example.com/x',"                   \
	"'author': {'name': 'Jane'}}," GITHUB_COMMON "}"
#define GITEA_PR(action, draft, head_repo, more)                                                                       \
	"{'action': '" action "', 'number': 7, 'pull_request': {'title': 'A VPC', 'body': '', 'draft': " draft ","     \
	"'html_url': 'https://git.example.com/acme/infra/pulls/7',"                                                    \
	"'head': {'ref': 'vpc', 'sha': '" A "', 'repo_id': " head_repo                                                 \
	"}, 'base': {'ref': 'main', 'repo_id': 42}}," more GITHUB_COMMON "}"

#define GITLAB_PROJECT                                                                                                 \
	"'project': {'id': 42, 'path_with_namespace': 'a/b/c/d/e/infra', 'default_branch': 'main',"                    \
	" 'git_http_url': 'https://gitlab.com/a/b/c/d/e/infra.git'}"
#define GITLAB_PUSH(kind, ref, before, after)                                                                          \
	"{'object_kind': '" kind "', 'ref': '" ref "', 'before': '" before "', 'after': '" after "',"                  \
	"'checkout_sha': '" A "', 'user_username': 'jane', 'user_avatar': 'https://gitlab.com/jane.png',"              \
	"'commits': [{'id': '" B "', 'message': 'Before'}, {'id': '" A "', 'message': 'Add a VPC',"                    \
	"'url': 'https://gitlab.com/x', 'author': {'name': 'Jane'}}], 'total_commits_count': 2," GITLAB_PROJECT "}"
#define GITLAB_MR(attributes, source, changes)                                                                         \
	"{'object_kind': 'merge_request', 'object_attributes': {'iid': 7, 'title': 'A VPC', 'description': null,"      \
	"'url': 'https://gitlab.com/a/-/merge_requests/7', 'source_branch': 'vpc', 'target_branch': 'main',"           \
	"'source_project_id': " source ", 'target_project_id': 42, 'last_commit': {'id': '" A "',"                     \
	"'message': 'Add a VPC', 'url': 'https://gitlab.com/x', 'author': {'name': 'Jane'}}, " attributes "},"         \
	"'user': {'username': 'jane'}, 'changes': {" changes "}," GITLAB_PROJECT "}"

#define CLOUD_COMMON                                                                                                   \
	"'repository': {'uuid': '{r-1}', 'full_name': 'acme/infra', 'mainbranch': {'name': 'main'}},"                  \
	"'actor': {'nickname': 'jane', 'links': {'avatar': {'href': 'https://bitbucket.org/jane.png'}}}"
#define CLOUD_SIDE(type, name, hash)                                                                                   \
	"{'type': '" type "', 'name': '" name "', 'target': {'hash': '" hash "', 'message': 'Add a VPC',"              \
	"'author': {'raw': 'Jane'}, 'links': {'html': {'href': 'https://bitbucket.org/x'}}}}"
#define CLOUD_PUSH(changes) "{'push': {'changes': [" changes "]}," CLOUD_COMMON "}"
#define CLOUD_PR(hash, repository)                                                                                     \
	"{'pullrequest': {'id': 7, 'title': 'A VPC', 'description': '', 'draft': false,"                               \
	"'source': {'branch': {'name': 'vpc'}, 'commit': {'hash': '" hash "'}, 'repository': " repository "},"         \
	"'destination': {'branch': {'name': 'main'}, 'repository': {'uuid': '{r-1}'}},"                                \
	"'links': {'html': {'href': 'https://bitbucket.org/acme/infra/pull-requests/7'}}}," CLOUD_COMMON "}"

#define SERVER_REPOSITORY(id)        "{'id': " id ", 'slug': 'infra', 'project': {'key': 'ACME'}}"
#define SERVER_CHANGE(ref, from, to) "{'ref': {'id': '" ref "'}, 'fromHash': '" from "', 'toHash': '" to "'}"
#define SERVER_PUSH(changes)                                                                                           \
	"{'actor': {'name': 'jane'}, 'repository': " SERVER_REPOSITORY(                                                \
		"42") ", 'changes': [" changes "],"                                                                    \
		      "'toCommit': {'id': '" A "', 'message': 'Add a VPC', 'author': {'name': 'Jane'}}}"
#define SERVER_PR(repository, more)                                                                                    \
	"{'actor': {'name': 'jane'}, 'pullRequest': {'id': 7, 'title': 'A VPC', 'description': '', 'draft': false,"    \
	"'fromRef': {'id': 'refs/heads/vpc', 'latestCommit': '" A "', 'repository': " SERVER_REPOSITORY(               \
		repository) "},"                                                                                       \
			    "'toRef': {'id': 'refs/heads/main', 'latestCommit': '" B                                   \
			    "', 'repository': " SERVER_REPOSITORY(                                                     \
				    "42") "},"                                                                         \
					  "'links': {'self': [{'href': 'https://git.example.com/pr/7'}]}}" more "}"

#define AZURE_REPOSITORY                                                                                               \
	"'repository': {'id': 'r-1', 'name': 'infra', 'defaultBranch': 'refs/heads/main',"                             \
	"'remoteUrl': 'https://acme@dev.azure.com/acme/My%20Project/_git/infra'}"
#define AZURE_PUSH(updates)                                                                                            \
	"{'id': 'e-1', 'notificationId': 3, 'eventType': 'git.push', 'resource': {'commits': [{'commitId': '" A "',"   \
	"'comment': 'Add a VPC', 'author': {'name': 'Jane'}}], 'refUpdates': [" updates "],"                           \
	"'pushedBy': {'displayName': 'jane'}," AZURE_REPOSITORY "}}"
#define AZURE_UPDATE(name, from, to) "{'name': '" name "', 'oldObjectId': '" from "', 'newObjectId': '" to "'}"
#define AZURE_PR(status, draft, more)                                                                                  \
	"{'id': 'e-1', 'resource': {'pullRequestId': 7, 'status': '" status "', 'title': 'A VPC', 'description': '',"  \
	"'sourceRefName': 'refs/heads/vpc', 'targetRefName': 'refs/heads/main', 'isDraft': " draft ","                 \
	"'lastMergeSourceCommit': {'commitId': '" A "'}, 'createdBy': {'displayName': 'jane'}," more AZURE_REPOSITORY  \
	"}}"

/* --- what they say --- */

enum { NONE = -1 };

struct row {
	enum vcs_dialect dialect;
	const char *name, *text;
	int kind; /* NONE: no event */
	const char *ref, *before, *sha;
	long long number;
	enum vcs_fork fork;
	bool draft, base_changed;
	size_t more; /* further events */
};

#define MAIN "refs/heads/main"
#define VPC  "refs/heads/vpc"
#define TAG  "refs/tags/v1"

/* Most rows end early. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct row rows[] = {
	{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, B, A), VCS_PUSH, MAIN, B, A},
	{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, ZERO, A), VCS_PUSH, MAIN, "", A},
	{VCS_GITHUB, "push", GITHUB_PUSH(VPC, B, ZERO), VCS_BRANCH_DELETE, VPC, B, ""},
	{VCS_GITHUB, "push", GITHUB_PUSH(TAG, ZERO, C), VCS_TAG, TAG, "", A}, /* annotated */
	{VCS_GITHUB, "push", GITHUB_PUSH(TAG, B, ZERO), VCS_TAG_DELETE, TAG, B, ""},
	{VCS_GITHUB, "push", GITHUB_PUSH("refs/notes/commits", B, A), NONE},
	{VCS_GITHUB, "pull_request", GITHUB_PR("opened", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITHUB, "pull_request", GITHUB_PR("reopened", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITHUB, "pull_request", GITHUB_PR("ready_for_review", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITHUB, "pull_request", GITHUB_PR("synchronize", "'before': '" B "',"), VCS_PR_UPDATE, VPC, B, A, 7,
		VCS_FORK_NO},
	{VCS_GITHUB, "pull_request", GITHUB_PR("edited", "'changes': {'base': {'ref': {'from': 'old'}}},"), VCS_PR_OPEN,
		VPC, "", A, 7, VCS_FORK_NO, false, true},
	{VCS_GITHUB, "pull_request", GITHUB_PR("edited", "'changes': {'title': {'from': 'old'}},"), NONE},
	{VCS_GITHUB, "pull_request", GITHUB_PR("closed", ""), VCS_PR_CLOSE, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITHUB, "pull_request", GITHUB_PR("labeled", ""), NONE},
	{VCS_GITHUB, "pull_request", GITHUB_PR("converted_to_draft", ""), NONE},
	{VCS_GITHUB, "pull_request", GITHUB_PR_OF("{'id': 43}", "false"), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_YES},
	{VCS_GITHUB, "pull_request", GITHUB_PR_OF("null", "true"), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_YES, true},
	{VCS_GITHUB, "check_run", "{'action': 'rerequested', 'check_run': {'head_sha': '" A "'}," GITHUB_COMMON "}",
		VCS_RERUN, "", "", A},
	{VCS_GITHUB, "check_run", "{'action': 'completed', 'check_run': {'head_sha': '" A "'}," GITHUB_COMMON "}",
		NONE},
	{VCS_GITHUB, "repository", "{'action': 'renamed'," GITHUB_COMMON "}", VCS_RENAME, "", "", ""},
	{VCS_GITHUB, "repository", "{'action': 'deleted'," GITHUB_COMMON "}", VCS_RENAME, "", "", ""},
	{VCS_GITHUB, "repository",
		"{'action': 'edited', 'changes': {'default_branch': {'from': 'x'}}," GITHUB_COMMON "}", VCS_RENAME, "",
		"", ""},
	{VCS_GITHUB, "repository", "{'action': 'edited', 'changes': {'description': {}}," GITHUB_COMMON "}", NONE},
	{VCS_GITHUB, "repository", "{'action': 'archived'," GITHUB_COMMON "}", NONE},
	{VCS_GITHUB, "installation", "{'action': 'created', 'installation': {'id': 5, 'account': {'login': 'acme'}}}",
		VCS_INSTALL, "", "", ""},
	{VCS_GITHUB, "installation_repositories", "{'action': 'removed', 'installation': {'id': 5}}", VCS_INSTALL, "",
		"", ""},
	{VCS_GITHUB, "ping", "{'zen': 'x'}", VCS_PING, "", "", ""},
	{VCS_GITHUB, "create", "{'ref': 'v1', 'ref_type': 'tag'}", NONE},
	{VCS_GITHUB, "issues", "{}", NONE},
	{VCS_GITHUB, "", "{}", NONE},

	{VCS_GITEA, "push", GITEA_PUSH(MAIN, B, A), VCS_PUSH, MAIN, B, A},
	{VCS_GITEA, "push", GITEA_PUSH(MAIN, ZERO, A), VCS_PUSH, MAIN, "", A},
	{VCS_GITEA, "push", GITEA_PUSH(VPC, B, ZERO), VCS_BRANCH_DELETE, VPC, B, ""},
	{VCS_GITEA, "push", GITEA_PUSH(TAG, ZERO, C), VCS_TAG, TAG, "", A},
	{VCS_GITEA, "push", GITEA_PUSH(MAIN, A, A), VCS_PING, "", "", ""}, /* its test */
	{VCS_GITEA, "create", "{'ref': 'v1', 'ref_type': 'tag', 'sha': '" A "'," GITHUB_COMMON "}", NONE},
	{VCS_GITEA, "delete", "{'ref': 'net/vpc', 'ref_type': 'branch'," GITHUB_COMMON "}", VCS_BRANCH_DELETE,
		"refs/heads/net/vpc", "", ""},
	{VCS_GITEA, "delete", "{'ref': 'v1', 'ref_type': 'tag'," GITHUB_COMMON "}", NONE}, /* "push" tells it */
	{VCS_GITEA, "pull_request", GITEA_PR("opened", "false", "42", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITEA, "pull_request", GITEA_PR("reopened", "true", "42", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO,
		true},
	{VCS_GITEA, "pull_request", GITEA_PR("synchronized", "false", "43", ""), VCS_PR_UPDATE, VPC, "", A, 7,
		VCS_FORK_YES},
	{VCS_GITEA, "pull_request", GITEA_PR("edited", "false", "42", "'changes': {'ref': {'from': 'old'}},"),
		VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO, false, true},
	{VCS_GITEA, "pull_request", GITEA_PR("edited", "false", "42", "'changes': {'title': {'from': 'wip: A VPC'}},"),
		VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITEA, "pull_request", GITEA_PR("edited", "false", "42", "'changes': {'title': {'from': 'VPC'}},"), NONE},
	{VCS_GITEA, "pull_request", GITEA_PR("closed", "false", "42", ""), VCS_PR_CLOSE, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITEA, "pull_request", GITEA_PR("assigned", "false", "42", ""), NONE},
	{VCS_GITEA, "repository", "{'action': 'deleted'," GITHUB_COMMON "}", VCS_RENAME, "", "", ""},
	{VCS_GITEA, "repository", "{'action': 'created'," GITHUB_COMMON "}", NONE},

	{VCS_GITLAB, "Push Hook", GITLAB_PUSH("push", MAIN, B, A), VCS_PUSH, MAIN, B, A},
	{VCS_GITLAB, "Push Hook", GITLAB_PUSH("push", MAIN, ZERO, A), VCS_PUSH, MAIN, "", A},
	{VCS_GITLAB, "Tag Push Hook", GITLAB_PUSH("tag_push", TAG, ZERO, C), VCS_TAG, TAG, "", A},
	{VCS_GITLAB, "Push Hook",
		"{'ref': '" VPC "', 'before': '" B "', 'after': '" ZERO "', 'checkout_sha': null," GITLAB_PROJECT "}",
		VCS_BRANCH_DELETE, VPC, B, ""},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'open'", "42", ""), VCS_PR_OPEN, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'reopen', 'draft': true", "42", ""), VCS_PR_OPEN, VPC,
		"", A, 7, VCS_FORK_NO, true},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'update', 'oldrev': '" B "'", "43", ""), VCS_PR_UPDATE,
		VPC, B, A, 7, VCS_FORK_YES},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'update'", "42", "'title': {'previous': 'x'}"), NONE},
	{VCS_GITLAB, "Merge Request Hook",
		GITLAB_MR("'action': 'update'", "42", "'target_branch': {'previous': 'x', 'current': 'main'}"),
		VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO, false, true},
	{VCS_GITLAB, "Merge Request Hook",
		GITLAB_MR("'action': 'update'", "42", "'draft': {'previous': true, 'current': false}"), VCS_PR_OPEN,
		VPC, "", A, 7, VCS_FORK_NO},
	{VCS_GITLAB, "Merge Request Hook",
		GITLAB_MR("'action': 'update'", "42", "'draft': {'previous': false, 'current': true}"), NONE},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'close'", "42", ""), VCS_PR_CLOSE, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'merge'", "42", ""), VCS_PR_CLOSE, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'approved'", "42", ""), NONE},
	{VCS_GITLAB, "Note Hook", "{}", NONE},

	{VCS_BITBUCKET_CLOUD, "repo:push",
		CLOUD_PUSH("{'old': " CLOUD_SIDE("branch", "main", B) ", 'new': " CLOUD_SIDE("branch", "main", A) "}"),
		VCS_PUSH, MAIN, B, A},
	{VCS_BITBUCKET_CLOUD, "repo:push",
		CLOUD_PUSH("{'old': null, 'new': " CLOUD_SIDE(
			"tag", "v1", A) "},"
					"{'old': " CLOUD_SIDE("branch", "vpc", B) ", 'new': null},"
										  "{'old': null, 'new': " CLOUD_SIDE(
											  "branch", "main", A) "}"),
		VCS_TAG, TAG, "", A, .more = 2},
	{VCS_BITBUCKET_CLOUD, "repo:push", CLOUD_PUSH("{'old': null, 'new': " CLOUD_SIDE("bookmark", "x", A) "}"),
		NONE},
	{VCS_BITBUCKET_CLOUD, "repo:push", CLOUD_PUSH(""), NONE},
	{VCS_BITBUCKET_CLOUD, "pullrequest:created", CLOUD_PR(A, "{'uuid': '{r-1}'}"), VCS_PR_OPEN, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_BITBUCKET_CLOUD, "pullrequest:updated", CLOUD_PR("0123456789ab", "{'uuid': '{r-1}'}"), VCS_PR_UPDATE, VPC,
		"", "", 7, VCS_FORK_NO},
	{VCS_BITBUCKET_CLOUD, "pullrequest:updated", CLOUD_PR("0123456789ab", "{'uuid': '{r-2}'}"), VCS_PR_UPDATE, VPC,
		"", "", 7, VCS_FORK_YES},
	{VCS_BITBUCKET_CLOUD, "pullrequest:fulfilled", CLOUD_PR("0123456789ab", "{'uuid': '{r-1}'}"), VCS_PR_CLOSE, VPC,
		"", "", 7, VCS_FORK_NO},
	{VCS_BITBUCKET_CLOUD, "pullrequest:rejected", CLOUD_PR("0123456789ab", "null"), VCS_PR_CLOSE, VPC, "", "", 7,
		VCS_FORK_YES},
	{VCS_BITBUCKET_CLOUD, "pullrequest:approved", CLOUD_PR("0123456789ab", "null"), NONE},
	{VCS_BITBUCKET_CLOUD, "repo:updated", "{" CLOUD_COMMON "}", VCS_RENAME, "", "", ""},

	{VCS_BITBUCKET_SERVER, "repo:refs_changed", SERVER_PUSH(SERVER_CHANGE(MAIN, B, A)), VCS_PUSH, MAIN, B, A},
	{VCS_BITBUCKET_SERVER, "repo:refs_changed",
		SERVER_PUSH(SERVER_CHANGE(VPC, B, ZERO) "," SERVER_CHANGE(TAG, ZERO, C)), VCS_BRANCH_DELETE, VPC, B, "",
		.more = 1},
	{VCS_BITBUCKET_SERVER, "repo:refs_changed", SERVER_PUSH(SERVER_CHANGE(TAG, ZERO, C)), VCS_TAG, TAG, "", A},
	{VCS_BITBUCKET_SERVER, "pr:opened", SERVER_PR("42", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:opened", SERVER_PR("43", ""), VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_YES},
	{VCS_BITBUCKET_SERVER, "pr:from_ref_updated", SERVER_PR("42", ", 'previousFromHash': '" B "'"), VCS_PR_UPDATE,
		VPC, B, A, 7, VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:modified", SERVER_PR("42", ", 'previousTarget': {'id': 'refs/heads/old'}"),
		VCS_PR_OPEN, VPC, "", A, 7, VCS_FORK_NO, false, true},
	{VCS_BITBUCKET_SERVER, "pr:modified", SERVER_PR("42", ", 'previousTarget': {'id': 'refs/heads/main'}"), NONE},
	{VCS_BITBUCKET_SERVER, "pr:modified", SERVER_PR("42", ", 'previousDraft': true"), VCS_PR_OPEN, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:merged", SERVER_PR("42", ""), VCS_PR_CLOSE, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:declined", SERVER_PR("42", ""), VCS_PR_CLOSE, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:deleted", SERVER_PR("42", ""), VCS_PR_CLOSE, VPC, "", A, 7, VCS_FORK_NO},
	{VCS_BITBUCKET_SERVER, "pr:comment:added", SERVER_PR("42", ""), NONE},
	{VCS_BITBUCKET_SERVER, "repo:modified", "{'new': " SERVER_REPOSITORY("42") "}", VCS_RENAME, "", "", ""},
	{VCS_BITBUCKET_SERVER, "diagnostics:ping", "{'test': true}", VCS_PING, "", "", ""},

	{VCS_AZURE, "git.push", AZURE_PUSH(AZURE_UPDATE(MAIN, B, A)), VCS_PUSH, MAIN, B, A},
	{VCS_AZURE, "git.push", AZURE_PUSH(AZURE_UPDATE(TAG, ZERO, A) "," AZURE_UPDATE(VPC, B, ZERO)), VCS_TAG, TAG, "",
		A, .more = 1},
	{VCS_AZURE, "git.pullrequest.created", AZURE_PR("active", "false", ""), VCS_PR_OPEN, VPC, "", A, 7,
		VCS_FORK_NO},
	{VCS_AZURE, "git.pullrequest.updated", AZURE_PR("active", "true", ""), VCS_PR_UPDATE, VPC, "", A, 7,
		VCS_FORK_NO, true},
	{VCS_AZURE, "git.pullrequest.updated", AZURE_PR("active", "false", "'forkSource': {'name': 'x'},"),
		VCS_PR_UPDATE, VPC, "", A, 7, VCS_FORK_YES},
	{VCS_AZURE, "git.pullrequest.updated", AZURE_PR("abandoned", "false", ""), VCS_PR_CLOSE, VPC, "", "", 7,
		VCS_FORK_NO},
	{VCS_AZURE, "git.pullrequest.merged", AZURE_PR("completed", "false", ""), VCS_PR_CLOSE, VPC, "", "", 7,
		VCS_FORK_NO},
	{VCS_AZURE, "git.pullrequest.merged", AZURE_PR("active", "false", ""), NONE},
	{VCS_AZURE, "git.repo.renamed", "{'resource': {" AZURE_REPOSITORY "}}", VCS_RENAME, "", "", ""},
	{VCS_AZURE, "workitem.created", "{}", NONE},

	{VCS_GIT, "push", GITHUB_PUSH(MAIN, B, A), NONE},
};

/* --- helpers --- */

static json_t *parse(const char *text)
{
	_cleanup_(freep) char *copy = mem_text(text);
	json_t *body;

	for (char *at = copy; *at; at++) {
		if (*at == '\'')
			*at = '"';
	}
	body = json_of(copy);
	if (!json_is_object(body))
		fail_msg("not JSON: %s", text);
	return body;
}

/* What holds for all events, whatever the payload was. */
static void is_sound(const struct vcs_event *event)
{
	json_auto_t *detail = vcs_event_detail(event);
	_cleanup_(freep) char *text = json_text(detail);

	assert_true(event->kind < VCS_EVENT_KINDS);
	assert_true(!*event->ref || vcs_ref_valid(event->ref));
	assert_true(!*event->sha || (vcs_sha_valid(event->sha) && !vcs_sha_is_zero(event->sha)));
	assert_true(!*event->before || (vcs_sha_valid(event->before) && !vcs_sha_is_zero(event->before)));
	assert_true(!*event->base || vcs_ref_name_valid(event->base));
	assert_true(!*event->default_branch || vcs_ref_name_valid(event->default_branch));
	assert_true(strlen(text) < 100000);
	assert_null(event->files);
	if (vcs_event_is_pr(event)) {
		assert_true(event->number > 0);
		assert_true(*event->ref && *event->base);
		assert_true(event->kind == VCS_PR_CLOSE || *event->sha || *event->short_sha);
	}
}

static void each_payload_makes_its_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
		json_auto_t *body = parse(row->text);
		struct err err = ERR_INIT;
		const struct vcs_event *event;

		if (vcs_payload_read(row->dialect, row->name, body, &events, &err) < 0)
			fail_msg("row %zu (%s): %s", i, row->name, err.message);
		if (events.count != (row->kind == NONE ? 0 : 1 + row->more))
			fail_msg("row %zu (%s): %zu events", i, row->name, events.count);
		if (row->kind == NONE)
			continue;
		event = &events.items[0];
		if (event->kind != (enum vcs_event_kind)row->kind || event->number != row->number ||
			event->fork != row->fork || event->draft != row->draft ||
			event->base_changed != row->base_changed)
			fail_msg("row %zu: a %s, number %lld, fork %d, draft %d, base changed %d", i,
				vcs_event_names[event->kind], event->number, event->fork, event->draft,
				event->base_changed);
		assert_string_equal(event->ref, row->ref);
		assert_string_equal(event->before, row->before);
		assert_string_equal(event->sha, row->sha);
		for (size_t j = 0; j < events.count; j++)
			is_sound(&events.items[j]);
	}
}

static void each_provider_tells_about_repository_commit_and_sender(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *name, *text, *repository_id, *repository, *default_branch, *sender;
	} pushes[] = {
		{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, B, A), "42", "acme/infra", "main", "jane"},
		{VCS_GITEA, "push", GITEA_PUSH(MAIN, B, A), "42", "acme/infra", "main", "jane"},
		{VCS_GITLAB, "Push Hook", GITLAB_PUSH("push", MAIN, B, A), "42", "a/b/c/d/e/infra", "main", "jane"},
		{VCS_BITBUCKET_CLOUD, "repo:push",
			CLOUD_PUSH("{'old': null, 'new': " CLOUD_SIDE("branch", "main", A) "}"), "{r-1}", "acme/infra",
			"main", "jane"},
		{VCS_BITBUCKET_SERVER, "repo:refs_changed", SERVER_PUSH(SERVER_CHANGE(MAIN, B, A)), "42", "ACME/infra",
			"", "jane"},
		{VCS_AZURE, "git.push", AZURE_PUSH(AZURE_UPDATE(MAIN, B, A)), "r-1", "acme/My Project/_git/infra",
			"main", "jane"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pushes); i++) {
		_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
		json_auto_t *body = parse(pushes[i].text);
		struct err err = ERR_INIT;

		assert_int_equal(vcs_payload_read(pushes[i].dialect, pushes[i].name, body, &events, &err), 0);
		assert_int_equal(events.count, 1);
		assert_string_equal(events.items[0].repository_id, pushes[i].repository_id);
		assert_string_equal(events.items[0].repository, pushes[i].repository);
		assert_string_equal(events.items[0].default_branch, pushes[i].default_branch);
		assert_string_equal(events.items[0].sender, pushes[i].sender);
		assert_string_equal(events.items[0].message, "Add a VPC");
		assert_string_equal(events.items[0].author, "Jane");
	}
}

static void a_short_commit_of_a_pull_request_is_kept_apart(void **state)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	json_auto_t *body = parse(CLOUD_PR("0123456789ab", "{'uuid': '{r-1}'}"));
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(vcs_payload_read(VCS_BITBUCKET_CLOUD, "pullrequest:created", body, &events, &err), 0);
	assert_string_equal(events.items[0].short_sha, "0123456789ab");
	assert_string_equal(events.items[0].sha, "");
}

static void wrong_refs_and_commits_are_errors(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *name, *text, *member;
	} wrong[] = {
		{VCS_GITHUB, "push", GITHUB_PUSH("main", B, A), "\"ref\""},
		{VCS_GITHUB, "push", GITHUB_PUSH("refs/heads/a..b", B, A), "\"ref\""},
		{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, "--output=x", A), "\"after\""},
		{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, B, "0123456"), "\"after\""},
		{VCS_GITHUB, "push", GITHUB_PUSH(MAIN, ZERO, ZERO), "\"after\""},
		{VCS_GITHUB, "push", "{}", "\"ref\""},
		{VCS_GITHUB, "push", "{'ref': ['" MAIN "'], 'before': '" B "', 'after': '" A "'}", "\"ref\""},
		{VCS_GITHUB, "pull_request", "{'action': 'opened', 'number': 7}", "\"pull_request.head.ref\""},
		{VCS_GITHUB, "installation", "{'action': 'created'}", "\"installation.id\""},
		{VCS_BITBUCKET_CLOUD, "repo:push", "{'push': {'changes': {}}}", "\"push.changes\""},
		{VCS_BITBUCKET_CLOUD, "pullrequest:created", CLOUD_PR("--x", "null"),
			"\"pullrequest.source.commit.hash\""},
		{VCS_BITBUCKET_SERVER, "repo:refs_changed", "{}", "\"changes\""},
		{VCS_AZURE, "git.push", "{}", "\"resource.refUpdates\""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
		json_auto_t *body = parse(wrong[i].text);
		struct err err = ERR_INIT;

		if (vcs_payload_read(wrong[i].dialect, wrong[i].name, body, &events, &err) == 0)
			fail_msg("row %zu was read", i);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.message, wrong[i].member))
			fail_msg("row %zu: %s", i, err.message);
		assert_int_equal(events.count, 0);
	}
	{
		json_auto_t *list = json_array();
		struct vcs_events events = VCS_EVENTS_INIT;
		struct err err = ERR_INIT;

		assert_int_equal(vcs_payload_read(VCS_GITHUB, "push", list, &events, &err), -1);
		assert_int_equal(vcs_payload_read(VCS_GITHUB, "push", NULL, &events, &err), -1);
	}
}

static void texts_are_cut_and_addresses_are_of_the_web(void **state)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	json_auto_t *body = parse(GITHUB_PR("opened", ""));
	_cleanup_(buf_release) struct buf wide = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;

	(void)state;
	while (wide.len < 200000)
		buf_text(&wide, "\xc3\xa4$(reboot)\n");
	json_object_set_new(json_object_get(body, "pull_request"), "title", json_string(buf_str(&wide)));
	json_object_set_new(json_object_get(body, "pull_request"), "body", json_string(buf_str(&wide)));
	json_object_set_new(json_object_get(body, "pull_request"), "html_url", json_string("javascript:alert(1)"));
	assert_int_equal(vcs_payload_read(VCS_GITHUB, "pull_request", body, &events, &err), 0);
	assert_true(strlen(events.items[0].title) <= 1024);
	assert_true(strlen(events.items[0].body) <= 16384);
	assert_string_equal(events.items[0].pull_request_url, "");
	is_sound(&events.items[0]);
}

static void a_push_of_many_refs_is_bounded(void **state)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	json_auto_t *body = parse(SERVER_PUSH(SERVER_CHANGE(MAIN, B, A)));
	json_t *changes = json_object_get(body, "changes");
	struct err err = ERR_INIT;

	(void)state;
	while (json_array_size(changes) < 5000)
		json_array_append(changes, json_array_get(changes, 0));
	assert_int_equal(vcs_payload_read(VCS_BITBUCKET_SERVER, "repo:refs_changed", body, &events, &err), 0);
	assert_int_equal(events.count, VCS_EVENTS_MAX);
}

/* --- mutations --- */

static json_t *wrong_value(size_t i)
{
	char many[3000];

	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	switch (i) {
	case 0:
		return json_null();
	case 1:
		return json_integer(-1);
	case 2:
		return json_string("");
	case 3:
		return json_string("--upload-pack=x y\n");
	case 4:
		return json_string(many);
	case 5:
		return json_array();
	case 6:
		return json_object();
	case 7:
		return json_true();
	default:
		return NULL;
	}
}

static void read_any(const struct row *row, const json_t *body)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	struct err err = ERR_INIT;

	if (vcs_payload_read(row->dialect, row->name, body, &events, &err) < 0) {
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(events.count, 0);
	}
	for (size_t i = 0; i < events.count; i++)
		is_sound(&events.items[i]);
}

static void mutate(const struct row *row, const json_t *body, json_t *part);

/* Puts each wrong value in the member's place, and the right one back. */
static void mutate_member(const struct row *row, const json_t *body, json_t *object, const char *key)
{
	json_t *right = json_incref(json_object_get(object, key)), *wrong;

	for (size_t i = 0; (wrong = wrong_value(i)) != NULL; i++) {
		json_object_set_new(object, key, wrong);
		read_any(row, body);
	}
	json_object_del(object, key);
	read_any(row, body);
	json_object_set_new(object, key, right);
	mutate(row, body, right);
}

static void mutate(const struct row *row, const json_t *body, json_t *part)
{
	json_auto_t *keys = json_array();
	const char *key;
	json_t *item;
	size_t i;

	json_object_foreach(part, key, item)
	{
		json_array_append_new(keys, json_string(key));
	}
	json_array_foreach(keys, i, item)
	{
		mutate_member(row, body, part, json_string_value(item));
	}
	json_array_foreach(part, i, item)
	{
		mutate(row, body, item);
	}
}

static void payloads_with_a_wrong_member_make_sound_events_or_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *body = parse(rows[i].text);

		mutate(&rows[i], body, body);
	}
}

static void an_event_is_the_same_after_its_detail(void **state)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	_cleanup_(vcs_event_release) struct vcs_event again = VCS_EVENT_INIT;
	json_auto_t *body = parse(GITHUB_PR("edited", "'changes': {'base': {'ref': {'from': 'old'}}},"));
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(vcs_payload_read(VCS_GITHUB, "pull_request", body, &events, &err), 0);
	{
		json_auto_t *detail = vcs_event_detail(&events.items[0]);

		again.kind = events.items[0].kind;
		vcs_event_from_detail(&again, detail);
		json_auto_t *twice = vcs_event_detail(&again);
		assert_true(json_equal(detail, twice));
	}
	assert_string_equal(again.title, "A VPC");
	assert_int_equal(again.fork, VCS_FORK_NO);
	assert_true(again.base_changed);
	vcs_event_from_detail(&again, NULL);
	assert_string_equal(again.title, "");
	assert_int_equal(again.fork, VCS_FORK_UNKNOWN);
}

/* A pull request's payload with a time, and whether it tells of the creation. */
static const struct {
	enum vcs_dialect dialect;
	const char *name, *text, *parent, *member, *time;
	bool is_new;
	long long changed_at;
} ages[] = {
	{VCS_GITHUB, "pull_request", GITHUB_PR("opened", ""), "pull_request", "updated_at", "2026-11-21T01:25:00Z",
		true, 1795224300000},
	{VCS_GITHUB, "pull_request", GITHUB_PR("reopened", ""), "pull_request", "updated_at", "2026-11-21T01:25:00Z",
		false, 1795224300000},
	{VCS_GITEA, "pull_request", GITEA_PR("opened", "false", "42", ""), "pull_request", "updated_at",
		"2026-11-21T03:25:00+02:00", true, 1795224300000},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'open'", "42", ""), "object_attributes", "updated_at",
		"2026-11-21 01:25:00 UTC", true, 1795224300000},
	{VCS_GITLAB, "Merge Request Hook", GITLAB_MR("'action': 'close'", "42", ""), "object_attributes", "updated_at",
		"2026-11-21T01:25:00.5Z", false, 1795224300500},
	{VCS_BITBUCKET_CLOUD, "pullrequest:created", CLOUD_PR(A, "{'uuid': '{r-1}'}"), "pullrequest", "updated_on",
		"2026-11-21T01:25:00.195330+00:00", true, 1795224300195},
	{VCS_BITBUCKET_SERVER, "pr:opened", SERVER_PR("42", ""), "pullRequest", "updatedDate", NULL, true,
		1795224300000},
	{VCS_BITBUCKET_SERVER, "pr:reopened", SERVER_PR("42", ""), "pullRequest", "updatedDate", "yesterday", false, 0},
	{VCS_AZURE, "git.pullrequest.created", AZURE_PR("active", "false", ""), NULL, "createdDate",
		"2026-11-21T01:25:00.3025616Z", true, 1795224300302},
	{VCS_AZURE, "git.pullrequest.updated", AZURE_PR("active", "false", ""), NULL, "createdDate", "2026-11-21",
		false, 0},
	{VCS_GITHUB, "pull_request", GITHUB_PR("closed", ""), "pull_request", "updated_at", "2026-11-21T01:25:00",
		false, 0},
	{VCS_GITHUB, "pull_request", GITHUB_PR("closed", ""), "pull_request", "updated_at", "2026-11-21T01:25:00Zulu",
		false, 0},
	{VCS_GITHUB, "pull_request", GITHUB_PR("closed", ""), "pull_request", "updated_at", "1960-11-21T01:25:00Z",
		false, 0},
};

static void pull_requests_tell_when_they_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
		json_auto_t *body = parse(ages[i].text);
		json_t *parent = ages[i].parent ? json_object_get(body, ages[i].parent) : body;
		struct err err = ERR_INIT;

		json_object_set_new(parent, ages[i].member,
			ages[i].time ? json_string(ages[i].time) : json_integer(ages[i].changed_at));
		assert_int_equal(vcs_payload_read(ages[i].dialect, ages[i].name, body, &events, &err), 0);
		assert_int_equal(events.count, 1);
		if (events.items[0].is_new != ages[i].is_new || events.items[0].changed_at != ages[i].changed_at)
			fail_msg("row %zu: new %d, changed at %lld", i, events.items[0].is_new,
				events.items[0].changed_at);
	}
}

static void kinds_have_names(void **state)
{
	(void)state;
	for (enum vcs_event_kind kind = 0; kind < VCS_EVENT_KINDS; kind++)
		assert_int_equal(vcs_event_kind_of(vcs_event_names[kind]), kind);
	assert_int_equal(vcs_event_kind_of("x"), VCS_EVENT_KINDS);
	assert_int_equal(vcs_event_kind_of(NULL), VCS_EVENT_KINDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_payload_makes_its_events),
		cmocka_unit_test(each_provider_tells_about_repository_commit_and_sender),
		cmocka_unit_test(a_short_commit_of_a_pull_request_is_kept_apart),
		cmocka_unit_test(wrong_refs_and_commits_are_errors),
		cmocka_unit_test(texts_are_cut_and_addresses_are_of_the_web),
		cmocka_unit_test(a_push_of_many_refs_is_bounded),
		cmocka_unit_test(payloads_with_a_wrong_member_make_sound_events_or_errors),
		cmocka_unit_test(an_event_is_the_same_after_its_detail),
		cmocka_unit_test(pull_requests_tell_when_they_changed),
		cmocka_unit_test(kinds_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
