/* SPDX-License-Identifier: MPL-2.0 */
/* What each kind of event does in workspaces and policy sets of all settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/vcs/rules.h"

#define SHA "0123456789abcdef0123456789abcdef01234567"

/* A row changes an ordinary event and an ordinary workspace. */
#define PUSH .kind = VCS_PUSH, .ref = "refs/heads/main"
#define TAG  .kind = VCS_TAG, .ref = "refs/tags/v1.0"
#define PR   .kind = VCS_PR_OPEN, .ref = "refs/heads/vpc", .base = "main"

struct row {
	enum vcs_event_kind kind;
	const char *ref, *base, *event_default;
	enum vcs_fork fork; /* 0 (unknown) stands for VCS_FORK_NO, unless `strange` */
	bool strange, draft, no_sha;
	const char *files; /* JSON; NULL: not known */
	/* the workspace */
	const char *branch, *no_default, *tags_regex, *patterns, *prefixes, *folder;
	bool triggers, no_speculative, stays, lazy, fresh, locked, newest, no_drafts, forks, no_pool, approved,
		duplicate, policy_set, unavailable;
	/* expected */
	enum vcs_reason reason;
	bool matter;
	enum vcs_older older;
};

#define BECAUSE(symbol) .reason = VCS_BECAUSE_##symbol

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct row rows[] = {
	/* branches */
	{PUSH, BECAUSE(STARTED)},
	{PUSH, .branch = "main", BECAUSE(STARTED)},
	{PUSH, .branch = "other", BECAUSE(BRANCH)},
	{PUSH, .event_default = "other", BECAUSE(BRANCH)},
	{PUSH, .no_default = "", BECAUSE(NO_BRANCH)},
	{PUSH, .no_default = "", .event_default = "main", BECAUSE(STARTED)},
	{.kind = VCS_PUSH, .ref = "refs/heads/a/main", BECAUSE(BRANCH)},
	{.kind = VCS_PUSH, .ref = "refs/tags/main", BECAUSE(BRANCH)},
	{PUSH, .no_sha = true, BECAUSE(NO_COMMIT)},
	{PUSH, .duplicate = true, BECAUSE(DUPLICATE)},
	{.kind = VCS_BRANCH_DELETE, .ref = "refs/heads/main", .no_sha = true, BECAUSE(DELETED)},
	/* the connection is for other projects */
	{PUSH, .unavailable = true, BECAUSE(NOT_AVAILABLE)},
	{PUSH, .unavailable = true, .policy_set = true, BECAUSE(NOT_AVAILABLE)},
	{PUSH, .unavailable = true, .triggers = true, .folder = "a", BECAUSE(NOT_AVAILABLE)},
	{.kind = VCS_BRANCH_DELETE, .ref = "refs/heads/main", .no_sha = true, .unavailable = true, BECAUSE(DELETED)},
	/* locked, and workspaces without a first run */
	{PUSH, .locked = true, BECAUSE(LOCKED)},
	{PUSH, .fresh = true, BECAUSE(STARTED)},
	{PUSH, .fresh = true, .lazy = true, BECAUSE(NEVER_RAN)},
	{PUSH, .fresh = true, .lazy = true, .locked = true, BECAUSE(NEVER_RAN)},
	{PUSH, .lazy = true, BECAUSE(STARTED)},
	{PUSH, .fresh = true, .lazy = true, .triggers = true, .folder = "a", .files = "[\"b/x\"]", BECAUSE(PATH),
		.matter = true},
	/* files */
	{PUSH, .files = "[\"b/x\"]", .patterns = "[\"a/*\"]", .prefixes = "[\"a\"]", .folder = "a", BECAUSE(STARTED)},
	{PUSH, .triggers = true, .files = "[\"b/x\"]", BECAUSE(STARTED)},
	{PUSH, .triggers = true, .folder = "a", .files = "[\"b/x\", \"a/x\"]", BECAUSE(STARTED), .matter = true},
	{PUSH, .triggers = true, .folder = "a", .files = "[\"b/x\", \"ab/x\"]", BECAUSE(PATH), .matter = true},
	{PUSH, .triggers = true, .folder = "a", .files = NULL, BECAUSE(FILES_UNKNOWN), .matter = true},
	{PUSH, .triggers = true, .folder = "a", .files = "[]", BECAUSE(FILES_UNKNOWN), .matter = true},
	{PUSH, .triggers = true, .folder = "a", .files = "[\"b/x\", 7]", BECAUSE(FILES_UNKNOWN), .matter = true},
	{PUSH, .triggers = true, .prefixes = "[\"m\"]", .folder = "a", .files = "[\"m/x\"]", BECAUSE(STARTED),
		.matter = true},
	{PUSH, .triggers = true, .prefixes = "[\"m\"]", .folder = "a", .files = "[\"a/x\"]", BECAUSE(STARTED),
		.matter = true},
	{PUSH, .triggers = true, .prefixes = "[\"m\"]", .folder = "a", .files = "[\"mm/x\"]", BECAUSE(PATH),
		.matter = true},
	{PUSH, .triggers = true, .prefixes = "[\"m\"]", .files = "[\"x\"]", BECAUSE(PATH), .matter = true},
	{PUSH, .triggers = true, .patterns = "[\"/m/**/*.tf\"]", .folder = "a", .files = "[\"a/x.tf\"]", BECAUSE(PATH),
		.matter = true},
	{PUSH, .triggers = true, .patterns = "[\"x\", \"/m/**/*.tf\"]", .files = "[\"m/x.tf\"]", BECAUSE(STARTED),
		.matter = true},
	{PUSH, .triggers = true, .patterns = "[]", .prefixes = "[]", .files = "[\"x\"]", BECAUSE(STARTED)},
	{PUSH, .triggers = true, .folder = "a", .duplicate = true, BECAUSE(DUPLICATE)},
	{PUSH, .triggers = true, .folder = "a", .locked = true, BECAUSE(LOCKED), .matter = true},
	/* tags */
	{TAG, BECAUSE(NO_TAGS)},
	{TAG, .tags_regex = "^v", BECAUSE(STARTED)},
	{TAG, .tags_regex = "^v", .branch = "other", BECAUSE(STARTED)},
	{TAG, .tags_regex = "^x", BECAUSE(TAG)},
	{TAG, .tags_regex = "refs", BECAUSE(TAG)},
	{TAG, .tags_regex = "(", BECAUSE(TAG_LIMIT)},
	{.kind = VCS_TAG,
		.ref = "refs/tags/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
		.tags_regex = "(a+)+$",
		BECAUSE(TAG_LIMIT)},
	{TAG, .tags_regex = "^v", .duplicate = true, BECAUSE(DUPLICATE)},
	{TAG, .tags_regex = "^v", .fresh = true, .lazy = true, BECAUSE(NEVER_RAN)},
	{TAG, .tags_regex = "^v", .triggers = true, .folder = "a", BECAUSE(STARTED)},
	{PUSH, .tags_regex = "^v", BECAUSE(TAGS_ONLY)},
	{PR, .tags_regex = "^v", BECAUSE(TAGS_ONLY), .older = VCS_OLDER_CANCEL_PLANS},
	{.kind = VCS_TAG_DELETE, .ref = "refs/tags/v1", .no_sha = true, .tags_regex = "^v", BECAUSE(DELETED)},
	/* pull requests */
	{PR, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .stays = true, BECAUSE(PLANNED)},
	{.kind = VCS_PR_UPDATE,
		.ref = "refs/heads/vpc",
		.base = "main",
		BECAUSE(PLANNED),
		.older = VCS_OLDER_CANCEL_PLANS},
	{PR, .branch = "other", BECAUSE(BRANCH), .older = VCS_OLDER_CANCEL_PLANS},
	/* the source is the workspace's branch, but not the destination */
	{PR, .branch = "vpc", BECAUSE(BRANCH), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .locked = true, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .no_speculative = true, BECAUSE(SPECULATIVE_OFF), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .draft = true, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .draft = true, .no_drafts = true, BECAUSE(DRAFT), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .no_drafts = true, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .duplicate = true, BECAUSE(DUPLICATE)},
	{PR, .fresh = true, .lazy = true, BECAUSE(FIRST_RUN_OWED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .no_sha = true, BECAUSE(NO_COMMIT)},
	{PR, .triggers = true, .folder = "a", .files = "[\"b\"]", BECAUSE(PATH), .matter = true,
		.older = VCS_OLDER_CANCEL_PLANS},
	{PR, .triggers = true, .folder = "a", BECAUSE(FILES_UNKNOWN), .matter = true, .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .triggers = true, .folder = "a", .draft = true, .no_drafts = true, BECAUSE(DRAFT),
		.older = VCS_OLDER_CANCEL_PLANS},
	{.kind = VCS_PR_CLOSE, .ref = "refs/heads/vpc", .base = "main", BECAUSE(CLOSED), .older = VCS_OLDER_CANCEL_ALL},
	/* forks; who does not tell is one */
	{PR, .fork = VCS_FORK_YES, BECAUSE(FORK), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .strange = true, BECAUSE(FORK), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .fork = VCS_FORK_YES, .approved = true, BECAUSE(FORK), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .fork = VCS_FORK_YES, .forks = true, BECAUSE(FORK_APPROVAL), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .fork = VCS_FORK_YES, .forks = true, .no_pool = true, .approved = true, BECAUSE(FORK_POOL),
		.older = VCS_OLDER_CANCEL_PLANS},
	{PR, .strange = true, .forks = true, .no_pool = true, BECAUSE(FORK_POOL), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .no_pool = true, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .strange = true, .forks = true, BECAUSE(FORK_APPROVAL), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .fork = VCS_FORK_YES, .forks = true, .approved = true, BECAUSE(PLANNED), .older = VCS_OLDER_CANCEL_PLANS},
	{PR, .fork = VCS_FORK_YES, .forks = true, .triggers = true, .folder = "a", .files = "[\"b\"]", BECAUSE(PATH),
		.matter = true, .older = VCS_OLDER_CANCEL_PLANS},
	/* older runs of a push */
	{PUSH, .newest = true, BECAUSE(STARTED), .older = VCS_OLDER_DISCARD_PENDING},
	{PUSH, .newest = true, .duplicate = true, BECAUSE(DUPLICATE)},
	{PUSH, .newest = true, .branch = "other", BECAUSE(BRANCH)},
	{PUSH, .newest = true, .fresh = true, .lazy = true, BECAUSE(NEVER_RAN)},
	/* policy sets */
	{PUSH, .policy_set = true, BECAUSE(POLICY_VERSION)},
	{PUSH, .policy_set = true, .branch = "other", BECAUSE(BRANCH)},
	{PUSH, .policy_set = true, .duplicate = true, BECAUSE(DUPLICATE)},
	{PUSH, .policy_set = true, .folder = "p", .files = "[\"p/a.rego\"]", BECAUSE(POLICY_VERSION), .matter = true},
	{PUSH, .policy_set = true, .folder = "p", .files = "[\"q/a.rego\"]", BECAUSE(PATH), .matter = true},
	{PUSH, .policy_set = true, .folder = "p", .patterns = "[\"/lib/**\"]", .files = "[\"lib/a\"]",
		BECAUSE(POLICY_VERSION), .matter = true},
	{PUSH, .policy_set = true, .folder = "p", .patterns = "[\"/lib/**\"]", .files = "[\"p/a\"]",
		BECAUSE(POLICY_VERSION), .matter = true},
	{PUSH, .policy_set = true, .patterns = "[\"/lib/**\"]", .files = "[\"p/a\"]", BECAUSE(PATH), .matter = true},
	{PUSH, .policy_set = true, .folder = "p", BECAUSE(POLICY_VERSION), .matter = true},
	{TAG, .policy_set = true, BECAUSE(NO_TAGS)},
	{PR, .policy_set = true, BECAUSE(POLICY_PR)},
	{.kind = VCS_PR_CLOSE, .policy_set = true, BECAUSE(POLICY_PR)},
	/* what brings no commit */
	{.kind = VCS_PING, BECAUSE(NO_COMMIT)},
	{.kind = VCS_RENAME, BECAUSE(NO_COMMIT)},
	{.kind = VCS_INSTALL, BECAUSE(NO_COMMIT)},
};

static void check(size_t number, const struct row *row)
{
	json_auto_t *files = row->files ? json_of(row->files) : NULL;
	json_auto_t *patterns = row->patterns ? json_of(row->patterns) : NULL;
	json_auto_t *prefixes = row->prefixes ? json_of(row->prefixes) : NULL;
	_cleanup_(freep) char *ref = mem_text(row->ref), *base = mem_text(row->base),
			      *event_default = mem_text(row->event_default);
	char sha[] = SHA;
	const struct vcs_event event = {.kind = row->kind,
		.ref = ref,
		.base = base,
		.sha = row->no_sha ? NULL : sha,
		.default_branch = event_default,
		.fork = row->fork || row->strange ? row->fork : VCS_FORK_NO,
		.draft = row->draft,
		.files = files};
	const struct vcs_subject subject = {.policy_set = row->policy_set,
		.unavailable = row->unavailable,
		.branch = row->branch,
		.default_branch = row->no_default ? row->no_default : "main",
		.patterns = patterns,
		.prefixes = prefixes,
		.folder = row->folder,
		.tags_regex = row->tags_regex,
		.file_triggers = row->triggers,
		.speculative = !row->no_speculative,
		.cancels_plans = !row->stays,
		.queue_all_runs = !row->lazy,
		.had_run = !row->fresh,
		.locked = row->locked,
		.newest_only = row->newest,
		.skip_drafts = row->no_drafts,
		.fork_plans = row->forks,
		.fork_pool = !row->no_pool,
		.approved = row->approved,
		.duplicate = row->duplicate};
	const enum vcs_reason reason = vcs_decide(&event, &subject);

	if (reason != row->reason)
		fail_msg("row %zu: %s, not %s", number, vcs_reason_name(reason), vcs_reason_name(row->reason));
	if (vcs_files_matter(&event, &subject) != row->matter)
		fail_msg("row %zu: files matter", number);
	if (vcs_older_runs(&event, &subject, reason) != row->older)
		fail_msg("row %zu: older runs", number);
}

static void each_event_is_decided_as_the_table_says(void **state)
{
	/* What the rules alone can't tell. */
	bool seen[VCS_REASONS] = {[VCS_BECAUSE_REFUSED] = true};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check(i, &rows[i]);
		seen[rows[i].reason] = true;
	}
	for (enum vcs_reason reason = 0; reason < VCS_REASONS; reason++) {
		if (!seen[reason])
			fail_msg("no row has %s", vcs_reason_name(reason));
	}
}

static void reasons_have_names_and_sentences(void **state)
{
	(void)state;
	for (enum vcs_reason reason = 0; reason < VCS_REASONS; reason++) {
		const char *sentence = vcs_reason_sentence(reason);

		assert_int_equal(vcs_reason_of(vcs_reason_name(reason)), reason);
		assert_true(sentence[strlen(sentence) - 1] == '.');
	}
	assert_int_equal(vcs_reason_of("x"), VCS_REASONS);
	assert_int_equal(vcs_reason_of(NULL), VCS_REASONS);
	assert_int_equal(vcs_reason_makes(VCS_BECAUSE_LOCKED), VCS_MAKES_RUN);
	assert_int_equal(vcs_reason_makes(VCS_BECAUSE_NEVER_RAN), VCS_MAKES_VERSION);
	assert_int_equal(vcs_reason_makes(VCS_BECAUSE_FORK_APPROVAL), VCS_MAKES_APPROVAL);
	assert_int_equal(vcs_reason_makes(VCS_BECAUSE_FORK), VCS_MAKES_NOTHING);
	assert_int_equal(vcs_reason_level(VCS_BECAUSE_TAG_LIMIT), VCS_LEVEL_ERROR);
	assert_int_equal(vcs_reason_level(VCS_BECAUSE_PATH), VCS_LEVEL_INFO);
	assert_string_equal(vcs_reason_sentence(VCS_BECAUSE_DUPLICATE), "Processing skipped for duplicate commit SHA.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_decided_as_the_table_says),
		cmocka_unit_test(reasons_have_names_and_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
