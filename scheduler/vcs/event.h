/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_EVENT_H
#define SCHEDULER_VCS_EVENT_H

/*
 * An event of a repository, in one form for all providers. Payloads, looks and reads of pull requests make events. The
 * table vcs_events has kind, ref, before, sha and pull request in columns, and the other members in `detail`.
 *
 * All texts are valid UTF-8, bounded, and owned by the event; "" if the provider did not send them. They come from
 * outside: escape them wherever they are shown. A sha is 40 or 64 hex digits in lower case, or "".
 */

#include "common/json/json.h"

enum vcs_event_kind {
	VCS_PUSH,          /* a branch moved, or was created (before is "") */
	VCS_BRANCH_DELETE, /* sha is "" */
	VCS_TAG,           /* a tag was created or moved */
	VCS_TAG_DELETE,
	VCS_PR_OPEN,   /* opened, reopened, made ready, or its base changed */
	VCS_PR_UPDATE, /* a new head */
	VCS_PR_CLOSE,  /* merged or closed */
	VCS_INSTALL,   /* a GitHub App's installation was created, changed or removed */
	VCS_RENAME,    /* the repository was renamed, moved or deleted, or its default branch changed */
	VCS_PING,      /* a test of the hook */
	VCS_RERUN,     /* a user wants the check run of a commit again; it has a sha, but no ref */
	VCS_EVENT_KINDS
};

/* "push", "branch_delete", "tag", "tag_delete", "pr_open", "pr_update", "pr_close", "install", "rename", "ping",
 * "rerun". */
extern const char *const vcs_event_names[VCS_EVENT_KINDS];
/* VCS_EVENT_KINDS for NULL and for any other text. */
enum vcs_event_kind vcs_event_kind_of(const char *name);

enum vcs_fork {
	VCS_FORK_UNKNOWN, /* not in the payload: treat it as a fork */
	VCS_FORK_NO,
	VCS_FORK_YES
};

struct vcs_event {
	enum vcs_event_kind kind;
	char *ref;    /* full: refs/heads/main, refs/tags/v1; of a pull request: the source branch */
	char *before; /* "": there was none, or it is not known */
	char *sha;    /* of an annotated tag: its commit's, if the payload has it */
	/* The first digits of the sha, if the payload has no more (pull requests of Bitbucket Cloud). Then `sha` is ""
	 * until the provider's API has returned it. */
	char *short_sha;
	/* of the repository */
	char *repository_id; /* the provider's */
	char *repository;    /* its identifier */
	char *default_branch;
	/* of a pull request */
	long long number; /* 0: none */
	char *base;       /* the destination branch, as a short name */
	char *title, *body, *pull_request_url;
	enum vcs_fork fork;
	bool draft;
	bool base_changed;    /* of VCS_PR_OPEN */
	bool rerun;           /* of VCS_PR_UPDATE: plans the head again, unless its plan has not ended */
	bool is_new;          /* of VCS_PR_OPEN: it was just created, not opened again or changed */
	long long changed_at; /* the provider's time of the change, in ms since 1970; 0: not known */
	/* of the commit */
	char *message; /* of that commit */
	char *author;
	char *commit_url, *compare_url, *clone_url;
	char *sender, *sender_avatar_url, *sender_url;
	/* The changed paths, once they are all known; else NULL. Payloads do not have them all: they do not show forced
	 * pushes, or the number of commits. */
	json_t *files;
	/* of GitHub's App; VCS_INSTALL has the account's name in `repository` */
	long long installation;
	bool removed; /* of VCS_INSTALL and VCS_RENAME: it is gone */
};

#define VCS_EVENT_INIT                                                                                                 \
	{                                                                                                              \
		.kind = VCS_PING                                                                                       \
	}

/* True for the three kinds of pull requests. */
bool vcs_event_is_pr(const struct vcs_event *event);
/* Frees what the event has, and makes it VCS_EVENT_INIT. */
void vcs_event_release(struct vcs_event *event);
/* The members that have no column, as an object with short names; a new reference. */
json_t *vcs_event_detail(const struct vcs_event *event);
/* The opposite: fills the event from `detail`. Texts that are missing become "". The members with a column stay. */
void vcs_event_from_detail(struct vcs_event *event, const json_t *detail);

/* The events of one payload. Of a push with more refs, only the first ones make events. A look finds the others. */
enum { VCS_EVENTS_MAX = 256 };

struct vcs_events {
	struct vcs_event *items; /* owned */
	size_t count;
};

#define VCS_EVENTS_INIT                                                                                                \
	{                                                                                                              \
		.items = NULL, .count = 0                                                                              \
	}

void vcs_events_release(struct vcs_events *events);

#endif
