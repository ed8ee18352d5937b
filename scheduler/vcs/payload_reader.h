/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PAYLOAD_READER_H
#define SCHEDULER_VCS_PAYLOAD_READER_H

/*
 * Tables and functions for the readers of payloads (payload_<dialect>.c). The first wrong member makes the payload
 * fail. Later calls then do nothing, so readers need not check each call.
 */

#include "scheduler/vcs/event.h"

struct err;

/* How a member of a payload becomes a member of an event. If it is absent, null or "", what the event has stays, but in
 * the REQUIRED forms. */
enum payload_form {
	PAYLOAD_LINE,    /* cut to a title's length */
	PAYLOAD_TEXT,    /* cut to a message's length */
	PAYLOAD_ID,      /* a text or a number */
	PAYLOAD_URL,     /* "" unless it begins with http:// or https:// */
	PAYLOAD_SHA,     /* a sha, or zeros for ""; REQUIRED */
	PAYLOAD_COMMIT,  /* likewise; not REQUIRED */
	PAYLOAD_BRANCH,  /* the short name of a branch, from a short or full one */
	PAYLOAD_BASE,    /* likewise; REQUIRED */
	PAYLOAD_HEAD,    /* a full ref, from the short name of a branch or a full one; REQUIRED */
	PAYLOAD_NUMBER,  /* of a pull request; REQUIRED */
	PAYLOAD_INTEGER, /* a wrong one counts as absent, as in the forms below */
	PAYLOAD_FLAG,
	PAYLOAD_TIME, /* as ms since 1970, from "2026-11-21T01:25:00.5+02:00", "2026-11-21 01:25:00 UTC" or ms */
	PAYLOAD_FORK, /* from the ids of the repositories of head and base. Without the head's, the fork was deleted. */
};

struct payload_field {
	const char *path; /* NULL: the end of a list */
	size_t offset;    /* in struct vcs_event */
	enum payload_form form;
	const char *other; /* of PAYLOAD_FORK: the base's id */
};

#define PAYLOAD_FIELD(member, form, path)                                                                              \
	{                                                                                                              \
		path, offsetof(struct vcs_event, member), PAYLOAD_##form, NULL                                         \
	}
#define PAYLOAD_FORK_OF(head, base)                                                                                    \
	{                                                                                                              \
		head, offsetof(struct vcs_event, fork), PAYLOAD_FORK, base                                             \
	}
#define PAYLOAD_END                                                                                                    \
	{                                                                                                              \
		NULL, 0, PAYLOAD_LINE, NULL                                                                            \
	}

struct payload;

/* How one kind of payload is read. The first row that applies is used. */
struct payload_row {
	const char *name;                                     /* of the provider's event; NULL: the end of a list */
	const char *action;                                   /* NULL: any */
	bool (*when)(const json_t *body);                     /* whether the row applies; NULL: it does */
	void (*read)(struct payload *);                       /* instead of all below */
	enum vcs_event_kind kind;                             /* The row makes one event of this kind. */
	const struct payload_field *fields;                   /* beside the common ones; or NULL */
	void (*finish)(struct payload *, struct vcs_event *); /* what no field does; or NULL */
	bool is_new, removed;                                 /* of the event */
};

struct payload_dialect {
	const char *action;                 /* the path of the action; or NULL */
	const struct payload_field *common; /* of all events but pings */
	const struct payload_row *rows;
};

extern const struct payload_dialect payload_github, payload_gitlab, payload_bitbucket_cloud, payload_bitbucket_server,
	payload_azure, payload_gitea;

struct payload {
	const struct payload_dialect *dialect;
	const json_t *body;
	struct vcs_events events;
	struct err *err;
	bool failed;
};

/* Refuses the payload. */
void payload_fail(struct payload *payload, const char *path, const char *expected);
/* Adds an event; valid until the next one is added. NULL if the payload has failed or has too many. */
struct vcs_event *payload_add(struct payload *payload, enum vcs_event_kind kind);
/* Fills members of the event from members of `from`. Accepts NULL for the event and for the fields. */
void payload_fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *fields);
/* Adds the event of a changed ref, with the common members: a push, a tag or a deletion. `ref` is a full name. `before`
 * and `after` are shas; zeros or NULL mean none. If they are equal, the delivery is the provider's test. Returns NULL
 * for a ref that is neither a branch nor a tag. */
struct vcs_event *payload_move(struct payload *payload, const char *ref, const char *before, const char *after);
/* Calls `read` for each item of the list at `path`. */
void payload_each(struct payload *payload, const char *path, void (*read)(struct payload *, const json_t *item));
/* The commit with that sha in the list at `path`, whose members have their sha as `id`; NULL if it is not there. */
const json_t *payload_commit(const struct payload *payload, const char *path, const char *id, const char *sha);

/* Replaces a text of an event by a copy. */
void payload_set(char **member, const char *text);
/* True if both members are there and equal (texts or numbers). */
bool payload_same(const json_t *body, const char *path, const char *other_path);
/* True for 7 to 64 hex digits in lower case. Accepts NULL. */
bool payload_is_prefix(const char *sha);

/* For rows: a test of the hook. */
void payload_read_ping(struct payload *payload);
/* GitHub's forms, which Gitea shares (payload_github.c). */
extern const struct payload_field payload_github_common[], payload_github_pull[];
void payload_github_push(struct payload *payload);

#endif
