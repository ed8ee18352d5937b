/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/rules.h"

#include "common/vcs/ref.h"
#include "scheduler/vcs/globs.h"
#include "scheduler/vcs/tags_regex.h"

static const struct {
	const char *name, *sentence;
	enum vcs_makes makes;
	enum vcs_level level;
} reasons[VCS_REASONS] = {
#define REASON(symbol, name, makes, level, sentence) {name, sentence, VCS_MAKES_##makes, VCS_LEVEL_##level},
#include "scheduler/vcs/reasons.def"
#undef REASON
};

const char *vcs_reason_name(enum vcs_reason reason)
{
	return reasons[reason].name;
}

enum vcs_reason vcs_reason_of(const char *name)
{
	enum vcs_reason reason = 0;

	while (reason < VCS_REASONS && !text_equal(reasons[reason].name, name))
		reason++;
	return reason;
}

enum vcs_makes vcs_reason_makes(enum vcs_reason reason)
{
	return reasons[reason].makes;
}

enum vcs_level vcs_reason_level(enum vcs_reason reason)
{
	return reasons[reason].level;
}

const char *vcs_reason_sentence(enum vcs_reason reason)
{
	return reasons[reason].sentence;
}

/* --- filters --- */

static bool is_text(const char *text)
{
	return text && *text;
}

enum files { FILES_MATCH, FILES_DO_NOT, FILES_UNKNOWN };

/* True if one of the patterns or folders has the path. */
static bool any_has(const json_t *list, bool (*has)(const char *item, const char *path), const char *path)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_is_string(item) && has(json_string_value(item), path))
			return true;
	}
	return false;
}

/* What selects files in the subject. Without any of the three, all files match. */
struct filter {
	const json_t *patterns, *prefixes;
	const char *folder; /* NULL: none */
};

/* Patterns replace prefixes and the working directory. A policy set has its patterns and its path side by side. */
static struct filter filter_of(const struct vcs_subject *subject)
{
	const char *folder = is_text(subject->folder) ? subject->folder : NULL;

	if (subject->policy_set)
		return (struct filter){subject->patterns, NULL, folder};
	if (!subject->file_triggers)
		return (struct filter){NULL, NULL, NULL};
	if (json_array_size(subject->patterns))
		return (struct filter){subject->patterns, NULL, NULL};
	return (struct filter){NULL, subject->prefixes, folder};
}

static enum files files_match(const struct vcs_event *event, const struct vcs_subject *subject)
{
	const struct filter filter = filter_of(subject);
	const json_t *file;
	size_t i;

	if (!json_array_size(filter.patterns) && !json_array_size(filter.prefixes) && !filter.folder)
		return FILES_MATCH;
	if (!json_array_size(event->files))
		return FILES_UNKNOWN;
	json_array_foreach(event->files, i, file)
	{
		const char *path = json_string_value(file);

		if (!path)
			return FILES_UNKNOWN;
		if ((filter.folder && vcs_folder_has(filter.folder, path)) ||
			any_has(filter.patterns, vcs_glob_match, path) ||
			any_has(filter.prefixes, vcs_folder_has, path))
			return FILES_MATCH;
	}
	return FILES_DO_NOT;
}

/* --- branches --- */

/* The branch that the subject follows, or NULL if it is the default branch and that is not known. */
static const char *branch_of(const struct vcs_event *event, const struct vcs_subject *subject)
{
	if (is_text(subject->branch))
		return subject->branch;
	if (is_text(event->default_branch))
		return event->default_branch;
	return is_text(subject->default_branch) ? subject->default_branch : NULL;
}

/* VCS_REASONS: the branch is the subject's. */
static enum vcs_reason branch_refuses(
	const struct vcs_event *event, const struct vcs_subject *subject, const char *branch)
{
	const char *followed = branch_of(event, subject);

	if (!followed)
		return VCS_BECAUSE_NO_BRANCH;
	return text_equal(followed, branch) ? VCS_REASONS : VCS_BECAUSE_BRANCH;
}

/* --- what ends in a run --- */

static enum vcs_reason run_of(const struct vcs_subject *subject, enum files files)
{
	if (subject->policy_set)
		return VCS_BECAUSE_POLICY_VERSION;
	if (!subject->queue_all_runs && !subject->had_run)
		return VCS_BECAUSE_NEVER_RAN;
	if (subject->locked)
		return VCS_BECAUSE_LOCKED;
	return files == FILES_UNKNOWN ? VCS_BECAUSE_FILES_UNKNOWN : VCS_BECAUSE_STARTED;
}

static enum vcs_reason decide_push(const struct vcs_event *event, const struct vcs_subject *subject)
{
	enum vcs_reason refusal;
	enum files files;

	if (is_text(subject->tags_regex))
		return VCS_BECAUSE_TAGS_ONLY;
	refusal = branch_refuses(event, subject, vcs_ref_branch(event->ref));
	if (refusal != VCS_REASONS)
		return refusal;
	if (subject->duplicate)
		return VCS_BECAUSE_DUPLICATE;
	files = files_match(event, subject);
	return files == FILES_DO_NOT ? VCS_BECAUSE_PATH : run_of(subject, files);
}

static enum vcs_reason decide_tag(const struct vcs_event *event, const struct vcs_subject *subject)
{
	if (subject->policy_set || !is_text(subject->tags_regex))
		return VCS_BECAUSE_NO_TAGS;
	switch (tags_regex_match(subject->tags_regex, vcs_ref_short(event->ref))) {
	case TAGS_REGEX_NO:
		return VCS_BECAUSE_TAG;
	case TAGS_REGEX_LIMIT:
		return VCS_BECAUSE_TAG_LIMIT;
	default:
		return subject->duplicate ? VCS_BECAUSE_DUPLICATE : run_of(subject, FILES_MATCH);
	}
}

/* What forbids a plan of the pull request's head, whatever its files are. VCS_REASONS: nothing. */
static enum vcs_reason pr_refuses(const struct vcs_event *event, const struct vcs_subject *subject)
{
	enum vcs_reason refusal;

	if (subject->policy_set)
		return VCS_BECAUSE_POLICY_PR;
	if (is_text(subject->tags_regex))
		return VCS_BECAUSE_TAGS_ONLY;
	refusal = branch_refuses(event, subject, event->base);
	if (refusal != VCS_REASONS)
		return refusal;
	if (!subject->speculative)
		return VCS_BECAUSE_SPECULATIVE_OFF;
	if (event->fork != VCS_FORK_NO && !subject->fork_plans)
		return VCS_BECAUSE_FORK;
	if (event->fork != VCS_FORK_NO && !subject->fork_pool)
		return VCS_BECAUSE_FORK_POOL;
	if (event->draft && subject->skip_drafts)
		return VCS_BECAUSE_DRAFT;
	if (!subject->queue_all_runs && !subject->had_run)
		return VCS_BECAUSE_FIRST_RUN_OWED;
	return subject->duplicate ? VCS_BECAUSE_DUPLICATE : VCS_REASONS;
}

static enum vcs_reason decide_pr(const struct vcs_event *event, const struct vcs_subject *subject)
{
	enum vcs_reason refusal = pr_refuses(event, subject);
	enum files files;

	if (refusal != VCS_REASONS)
		return refusal;
	files = files_match(event, subject);
	if (files == FILES_DO_NOT)
		return VCS_BECAUSE_PATH;
	if (event->fork != VCS_FORK_NO && !subject->approved)
		return VCS_BECAUSE_FORK_APPROVAL;
	return files == FILES_UNKNOWN ? VCS_BECAUSE_FILES_UNKNOWN : VCS_BECAUSE_PLANNED;
}

static enum vcs_reason decide_close(const struct vcs_event *event, const struct vcs_subject *subject)
{
	(void)event;
	return subject->policy_set ? VCS_BECAUSE_POLICY_PR : VCS_BECAUSE_CLOSED;
}

static enum vcs_reason decide_delete(const struct vcs_event *event, const struct vcs_subject *subject)
{
	(void)event;
	(void)subject;
	return VCS_BECAUSE_DELETED;
}

/* The other kinds bring no commit. */
static const struct {
	enum vcs_reason (*decide)(const struct vcs_event *event, const struct vcs_subject *subject);
	bool needs_sha;
} kinds[VCS_EVENT_KINDS] = {
	[VCS_PUSH] = {decide_push, true},
	[VCS_BRANCH_DELETE] = {decide_delete, false},
	[VCS_TAG] = {decide_tag, true},
	[VCS_TAG_DELETE] = {decide_delete, false},
	[VCS_PR_OPEN] = {decide_pr, true},
	[VCS_PR_UPDATE] = {decide_pr, true},
	[VCS_PR_CLOSE] = {decide_close, false},
};

enum vcs_reason vcs_decide(const struct vcs_event *event, const struct vcs_subject *subject)
{
	if (!kinds[event->kind].decide || (kinds[event->kind].needs_sha && !is_text(event->sha)))
		return VCS_BECAUSE_NO_COMMIT;
	if (subject->unavailable && kinds[event->kind].needs_sha)
		return VCS_BECAUSE_NOT_AVAILABLE;
	return kinds[event->kind].decide(event, subject);
}

bool vcs_files_matter(const struct vcs_event *event, const struct vcs_subject *subject)
{
	struct vcs_event unknown = *event;

	unknown.files = NULL;
	return event->kind != VCS_TAG && files_match(&unknown, subject) == FILES_UNKNOWN &&
		vcs_reason_makes(vcs_decide(&unknown, subject)) != VCS_MAKES_NOTHING;
}

enum vcs_older vcs_older_runs(const struct vcs_event *event, const struct vcs_subject *subject, enum vcs_reason reason)
{
	const bool makes_run = vcs_reason_makes(reason) == VCS_MAKES_RUN;

	/* Without the new head's sha, older heads can't be recognized. */
	if (subject->policy_set || reason == VCS_BECAUSE_NO_COMMIT)
		return VCS_OLDER_STAY;
	switch (event->kind) {
	case VCS_PUSH:
		return subject->newest_only && makes_run ? VCS_OLDER_DISCARD_PENDING : VCS_OLDER_STAY;
	case VCS_PR_OPEN:
	case VCS_PR_UPDATE:
		/* A delivery that is repeated late must not cancel the plan of a newer head. */
		return subject->cancels_plans && reason != VCS_BECAUSE_DUPLICATE ? VCS_OLDER_CANCEL_PLANS
										 : VCS_OLDER_STAY;
	case VCS_PR_CLOSE:
		return VCS_OLDER_CANCEL_ALL;
	default:
		return VCS_OLDER_STAY;
	}
}
