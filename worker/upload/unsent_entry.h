/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_UNSENT_ENTRY_H
#define WORKER_UPLOAD_UNSENT_ENTRY_H

/* For unsent_list.c and unsent_deliver.c alone: an ended apply of which the scheduler does not know everything. */

#include "common/json/json.h"
#include "worker/upload/channel.h"
#include "worker/upload/unsent.h"

enum unsent_kind {
	UNSENT_SENDING,     /* its data is being sent */
	UNSENT_LATER,       /* the recovery of its folder is tried again */
	UNSENT_UNCONFIRMED, /* the scheduler has every state, and perhaps not the result (upload/result_sink.h) */
};

struct unsent_entry {
	struct unsent *unsent;
	enum unsent_kind kind;
	char *name;              /* "<job>-<attempt>"; owned */
	json_t *note;            /* owned; NULL: there is none, or it can't be read */
	struct channel channel;  /* SENDING */
	int jobs;                /* LATER: descriptor of the folder's parent; borrowed */
	struct loop_timer timer; /* repeats a refused result, or the recovery */
	struct rescue *rescue;   /* owned; or NULL */
	struct unsent_entry *next;
};

struct unsent {
	struct unsent_spec spec;
	char *path;
	int folder;
	struct unsent_entry *entries;
	bool hurried; /* the worker ends: it does not wait for the scheduler */
};

struct unsent_entry *unsent_entry_new(struct unsent *unsent, enum unsent_kind kind, const char *name);
void unsent_entry_drop(struct unsent_entry *entry);
/* One more apply has nothing left to send. */
void unsent_settled(const struct unsent *unsent);

/* The name of a file: unsent_file("job-1", "json"). The caller frees it. */
char *unsent_file(const char *name, const char *kind);
/* ERR_NOT_FOUND, ERR_INTERNAL if it can't be read now, others if it is damaged. */
int unsent_note_read(int folder, const char *path, json_t **ret_note, struct err *err);
void unsent_note_drop(struct unsent *unsent, const char *name);
/* The note's run; "" in a note of an earlier version of the worker. */
const char *unsent_run(const json_t *note);

/* Sends what the folder has of that apply. Takes the rescue. */
void unsent_deliver(struct unsent *unsent, const char *name, struct rescue *rescue);
/* Waits for the confirmation of the result. Takes the rescue; without one there is nothing to wait for. */
void unsent_unconfirmed(struct unsent *unsent, const char *name, json_t *note, struct rescue *rescue);

#endif
