/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_RULES_H
#define SCHEDULER_VCS_RULES_H

/*
 * Decides an event for one workspace or policy set. Pure: the outcome depends only on the event and the subject, so the
 * same event always has the same outcome.
 */

#include "scheduler/vcs/event.h"

enum vcs_reason {
#define REASON(symbol, name, makes, level, sentence) VCS_BECAUSE_##symbol,
#include "scheduler/vcs/reasons.def"
#undef REASON
	VCS_REASONS
};

enum vcs_makes {
	VCS_MAKES_NOTHING,
	VCS_MAKES_VERSION,  /* a configuration version without a run */
	VCS_MAKES_RUN,      /* with a run: plan-only if the event is a pull request's */
	VCS_MAKES_APPROVAL, /* nothing until a user approves the head */
};

enum vcs_level { VCS_LEVEL_INFO, VCS_LEVEL_ERROR };

/* "path", for vcs_outcomes.reason. Static, as the sentence is. */
const char *vcs_reason_name(enum vcs_reason reason);
/* VCS_REASONS for NULL and for any other text. */
enum vcs_reason vcs_reason_of(const char *name);
enum vcs_makes vcs_reason_makes(enum vcs_reason reason);
enum vcs_level vcs_reason_level(enum vcs_reason reason);
/* One sentence for people. */
const char *vcs_reason_sentence(enum vcs_reason reason);

/* A workspace or policy set that is attached to the event's repository. Borrowed; texts may be NULL for "". */
struct vcs_subject {
	bool policy_set;
	bool unavailable;           /* its project may not use the connection any more */
	const char *branch;         /* "": the default branch */
	const char *default_branch; /* the last known one of the repository; used if the event has none */
	const json_t *patterns;     /* trigger-patterns; policy-update-patterns of a policy set: an array of texts */
	const char *folder;         /* the working directory; policies-path of a policy set */
	/* of workspaces */
	const char *tags_regex;
	const json_t *prefixes; /* trigger-prefixes */
	bool file_triggers;     /* file-triggers-enabled */
	bool speculative;       /* speculative-enabled */
	bool cancels_plans;     /* speculative-plan-management-enabled */
	bool queue_all_runs;
	bool had_run; /* it has or had any run */
	bool locked;
	bool newest_only; /* vcs-newest-only */
	bool skip_drafts; /* vcs-skip-drafts */
	bool fork_plans;  /* vcs-fork-plans */
	bool fork_pool;   /* the connection has an agent pool for forks, and it is not the workspace's pool */
	bool approved;    /* a user approved this head of the fork for the workspace */
	/* This kind of event with this sha (and pull request) has made something here before (vcs_heads). For a pull
	 * request that is opened again, the caller leaves out what its closing had canceled. */
	bool duplicate;
};

/* event->files: the changed paths. NULL or an empty list means that they are not known: then all subjects match. */
enum vcs_reason vcs_decide(const struct vcs_event *event, const struct vcs_subject *subject);
/* True if the decision depends on the changed files: get them (a diff) before the event is decided. */
bool vcs_files_matter(const struct vcs_event *event, const struct vcs_subject *subject);

enum vcs_older {
	VCS_OLDER_STAY,
	VCS_OLDER_DISCARD_PENDING, /* runs by earlier pushes to the branch that are still pending */
	VCS_OLDER_CANCEL_PLANS,    /* unfinished plan-only runs of earlier heads of this pull request */
	VCS_OLDER_CANCEL_ALL,      /* all unfinished plan-only runs of this pull request */
};

/* Decides about a workspace's earlier runs, after `reason` was decided for it. */
enum vcs_older vcs_older_runs(const struct vcs_event *event, const struct vcs_subject *subject, enum vcs_reason reason);

#endif
