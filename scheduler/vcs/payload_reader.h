/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PAYLOAD_READER_H
#define SCHEDULER_VCS_PAYLOAD_READER_H

/*
 * Functions for the readers of payloads (payload_<dialect>.c). A reader adds events and fills them. The first wrong
 * member makes the payload fail. Later calls then do nothing, so readers need not check each call.
 */

#include "scheduler/vcs/event.h"

struct err;

struct payload {
	const char *name; /* of the provider's event */
	const json_t *body;
	struct vcs_events events;
	struct err *err;
	bool failed;
};

/* How a member becomes a text of an event. A member that is absent or null becomes "", but in the REQUIRED forms. */
enum payload_form {
	PAYLOAD_LINE,   /* cut to a title's length */
	PAYLOAD_TEXT,   /* cut to a message's length */
	PAYLOAD_ID,     /* a text or a number */
	PAYLOAD_URL,    /* "" unless it begins with http:// or https:// */
	PAYLOAD_SHA,    /* a sha, or zeros for ""; REQUIRED */
	PAYLOAD_COMMIT, /* a sha; if it is absent, what the event has stays */
	PAYLOAD_BRANCH, /* the short name of a branch, from a short or full one */
	PAYLOAD_BASE,   /* likewise; REQUIRED */
	PAYLOAD_HEAD,   /* a full ref, from the short name of a branch or a full one; REQUIRED */
};

struct payload_field {
	const char *path; /* NULL: the end of a list */
	size_t offset;    /* in struct vcs_event */
	enum payload_form form;
};

#define PAYLOAD_FIELD(member, form, path)                                                                              \
	{                                                                                                              \
		path, offsetof(struct vcs_event, member), PAYLOAD_##form                                               \
	}
#define PAYLOAD_END                                                                                                    \
	{                                                                                                              \
		NULL, 0, PAYLOAD_LINE                                                                                  \
	}

/* Refuses the payload. */
void payload_fail(struct payload *payload, const char *path, const char *expected);
/* Adds an event; valid until the next one is added. NULL if the payload has failed or has too many. */
struct vcs_event *payload_add(struct payload *payload, enum vcs_event_kind kind);
/* Fills members of the event from members of `from`. Accepts NULL for the event. */
void payload_fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *fields);
/* Adds the event of a changed ref: a push, a tag or a deletion. `ref` is a full name. `before` and `after` are shas;
 * zeros or NULL mean none. If they are equal, the delivery is the provider's test. Returns NULL for a ref that is
 * neither a branch nor a tag. */
struct vcs_event *payload_move(struct payload *payload, const char *ref, const char *before, const char *after);
/* The commit with that sha in the list at `path`, whose members have their sha as `id`; NULL if it is not there. */
const json_t *payload_commit(const struct payload *payload, const char *path, const char *id, const char *sha);
/* Sets the pull request's number. */
void payload_number(struct payload *payload, struct vcs_event *event, const char *path);

/* Reads a time as ms since 1970: "2026-11-21T01:25:00.5+02:00", "2026-11-21 01:25:00 UTC", or a number of ms. 0 if the
 * member is absent or not valid. */
long long payload_time(const json_t *body, const char *path);

/* The kind of an action. */
struct payload_action {
	const char *name; /* NULL: the end of a list */
	enum vcs_event_kind kind;
};
/* VCS_EVENT_KINDS if it is none of them. */
enum vcs_event_kind payload_action(const struct payload_action *actions, const char *name);

/* True if both members are there and equal (texts or numbers). */
bool payload_same(const json_t *body, const char *path, const char *other_path);

/* Compares the repositories of a pull request's head and base, by their ids at these paths. An absent id means that the
 * fork was deleted, so the head counts as a fork's. */
enum vcs_fork payload_fork(const json_t *body, const char *head, const char *base);

/* ---- GitHub's forms, which Gitea shares (payload_github.c) ---- */

/* Fills the repository, the sender and the installation. Accepts NULL for the event. */
void payload_github_common(struct payload *payload, struct vcs_event *event);
/* Reads a push. `compare` has the path of the page that compares the commits. */
void payload_github_push(struct payload *payload, const struct payload_field *compare);
/* Adds the event of a pull request, without base_changed, draft and fork. Returns NULL when payload_add does. */
struct vcs_event *payload_github_pull(struct payload *payload, enum vcs_event_kind kind);
/* Adds VCS_RENAME. */
void payload_github_rename(struct payload *payload);

/* ---- lists ---- */

/* The reader of one kind of event; `name` is NULL at the end of a list. */
struct payload_handler {
	const char *name;
	void (*read)(struct payload *payload);
};

extern const struct payload_handler payload_github[];
extern const struct payload_handler payload_gitlab[];
extern const struct payload_handler payload_bitbucket_cloud[];
extern const struct payload_handler payload_bitbucket_server[];
extern const struct payload_handler payload_azure[];
extern const struct payload_handler payload_gitea[];

/* For lists of handlers: a test of the hook. */
void payload_read_ping(struct payload *payload);

#endif
