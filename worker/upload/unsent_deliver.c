/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/unsent_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "proto/limits.h"
#include "worker/exec/beneath.h"
#include "worker/metrics.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/leftover.h"

enum { REFUSED_MS = 60 * 1000 };

/* ---- the result, the unrecorded resources, the state, the end ---- */

static void tell(struct unsent_entry *entry, const struct transfer_spec *spec, transfer_fn fn)
{
	struct transfer_spec asked = *spec;

	asked.expects_refusal = true;
	channel_send(&entry->channel, &asked, fn, entry);
}

static void delivery_done(struct unsent_entry *entry)
{
	const struct unsent *unsent = entry->unsent;

	unsent_note_drop(entry->unsent, entry->name);
	unsent_entry_drop(entry);
	unsent_settled(unsent);
}

/* Accepts any answer: the scheduler answers 404 if it no longer waits for the attempt. */
static void last_answered(void *data, int status, const struct buf *body)
{
	struct unsent_entry *entry = data;

	(void)body;
	log_info("everything of an earlier apply is delivered", "run", unsent_run(entry->note), "job", entry->name,
		"awaited", status >= 200 && status < 300 ? "yes" : "no", NULL);
	delivery_done(entry);
}

static void deliver_last_state(struct unsent_entry *entry)
{
	tell(entry, &(struct transfer_spec){.method = "POST", .path = "last-state", .what = "last-state"},
		last_answered);
}

/* 0 for a file that does not exist. */
static long long file_bytes(const struct unsent *unsent, const char *name)
{
	struct stat info;

	return fstatat(unsent->folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_size : 0;
}

/* The end of a refused state's name, from the first dot on. A note of an earlier version of the worker has no
 * organization. The caller frees it. */
static char *refused_ending(const json_t *note)
{
	const char *organization = text_or_empty(json_string_at(note, "organization"));

	return mem_printf("%s%s.refused", *organization ? "." : "", organization);
}

/* Each organization has room for one state of LEFTOVER_MAX, or for several smaller ones. Only the operator removes
 * refused states, and they belong to no job's limits. An organization must not take the room of another. */
static bool has_room(const struct unsent *unsent, const char *state, const char *ending)
{
	_cleanup_(list_closep) DIR *list = beneath_list(unsent->folder, ".");
	long long bytes = file_bytes(unsent, state);
	const char *name;

	while (list && (name = list_next(list)))
		if (text_equal(name + strcspn(name, "."), ending))
			bytes += file_bytes(unsent, name);
	return bytes <= LEFTOVER_MAX;
}

/* The workspace stays held: an operator must inspect the file. Instead of a state for which there is no room, an empty
 * file says that there was one. */
static void state_refused(struct unsent_entry *entry, const char *why)
{
	struct unsent *unsent = entry->unsent;
	_cleanup_(freep) char *state = unsent_file(entry->name, "tfstate"), *ending = refused_ending(entry->note),
			      *refused = mem_printf("%s%s", entry->name, ending);
	bool kept = has_room(unsent, state, ending);
	struct err err = ERR_INIT;

	log_error("the scheduler refused a state of an earlier apply", "run", unsent_run(entry->note), "job",
		entry->name, "why", why, "folder", unsent->path, "kept",
		kept ? "yes" : "no: its organization has too many bytes of refused states in the folder", NULL);
	/* The note goes first: the next start would take a note without a state for a delivered state, and send
	 * last-state. It does not touch a state without a note. */
	unsent_note_drop(unsent, entry->name);
	if (kept)
		renameat(unsent->folder, state, unsent->folder, refused);
	else if (beneath_write(unsent->folder, refused, 0600, text_bytes(""), &err) == 0)
		unlinkat(unsent->folder, state, 0);
	delivery_done(entry);
}

/* The scheduler still lacks the state. */
static void state_unread(struct unsent_entry *entry, const char *why)
{
	const struct unsent *unsent = entry->unsent;

	log_error("a state of an earlier apply can't be read; the worker's next start tries again", "run",
		unsent_run(entry->note), "job", entry->name, "why", why, "folder", unsent->path, NULL);
	unsent_entry_drop(entry);
	unsent_settled(unsent);
}

static void state_answered(void *data, int status, const struct buf *body)
{
	struct unsent_entry *entry = data;
	struct unsent *unsent = entry->unsent;
	_cleanup_(freep) char *state = unsent_file(entry->name, "tfstate");
	char why[300];

	if (status >= 200 && status < 300) {
		log_info("a state of an earlier apply was delivered", "run", unsent_run(entry->note), "job",
			entry->name, "kept", status == 202 ? "as detached" : "as the current one", NULL);
		metric_add(M_STATES_SENT, "", 1);
		unlinkat(unsent->folder, state, 0);
		deliver_last_state(entry);
		return;
	}
	answer_sentence(status, body, why, sizeof(why));
	if (status == 0)
		state_unread(entry, why);
	else
		state_refused(entry, why);
}

/* Whether a state is too large to upload. The answer to an oversized upload could get lost, and the worker would
 * send it forever. */
static bool too_large(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_size > MAX_STATE_BYTES;
}

static void deliver_state(struct unsent_entry *entry)
{
	_cleanup_(freep) char *state = unsent_file(entry->name, "tfstate");
	struct transfer_spec spec = {
		.method = "PUT", .path = "state", .what = "state", .content_type = "application/json"};

	spec.body_fd = beneath_open(entry->unsent->folder, state, O_RDONLY, 0);
	if (spec.body_fd < 0 && errno == ENOENT) {
		deliver_last_state(entry);
	} else if (spec.body_fd < 0) {
		state_unread(entry, strerror(errno));
	} else if (too_large(spec.body_fd)) {
		close(spec.body_fd);
		state_refused(entry, "it is larger than the scheduler takes (proto/limits.h)");
	} else {
		tell(entry, &spec, state_answered);
	}
}

/* A scheduler of an earlier version answers 404. */
static void unrecorded_answered(void *data, int status, const struct buf *body)
{
	struct unsent_entry *entry = data;
	char why[300];

	if (status < 200 || status >= 300) {
		answer_sentence(status, body, why, sizeof(why));
		log_warn("the scheduler refused a list of unrecorded resources", "run", unsent_run(entry->note), "job",
			entry->name, "why", why, NULL);
	}
	deliver_state(entry);
}

/* Sends the unrecorded resources. An empty list means that the scheduler need not compute them. An earlier version
 * of the worker kept no list. */
static void deliver_unrecorded(struct unsent_entry *entry)
{
	json_t *resources = json_object_get(entry->note, "unrecorded");
	json_auto_t *document = json_pack("{sO*}", "resources", resources);
	_cleanup_(freep) char *text = json_text(document);

	if (!resources) {
		deliver_state(entry);
		return;
	}
	tell(entry,
		&(struct transfer_spec){.method = "PUT",
			.path = "unrecorded-resources",
			.what = "unrecorded resources",
			.content_type = "application/json",
			.body = text,
			.body_len = strlen(text)},
		unrecorded_answered);
}

static void deliver_again(void *data)
{
	struct unsent_entry *entry = data;
	struct unsent *unsent = entry->unsent;
	_cleanup_(freep) char *name = mem_text(entry->name);
	struct rescue *rescue = entry->rescue;

	entry->rescue = NULL;
	unsent_entry_drop(entry);
	unsent_deliver(unsent, name, rescue);
}

/* The result may already be known, if it is sent for the second time. After a refused result the worker does not
 * send last-state, because that would end the attempt as lost. */
static void result_answered(void *data, int status, const struct buf *body)
{
	struct unsent_entry *entry = data;
	char why[300];

	if ((status >= 200 && status < 300) || answer_ends_attempt(status)) {
		deliver_unrecorded(entry);
		return;
	}
	answer_sentence(status, body, why, sizeof(why));
	log_error("the scheduler refuses the result of an earlier apply: it is kept and sent again", "run",
		unsent_run(entry->note), "job", entry->name, "why", why, NULL);
	loop_timer_set(entry->unsent->spec.loop, &entry->timer, REFUSED_MS, deliver_again, entry);
	unsent_settled(entry->unsent);
}

static void deliver_result(struct unsent_entry *entry, const json_t *result)
{
	_cleanup_(freep) char *text = json_text(result);

	tell(entry,
		&(struct transfer_spec){.method = "POST",
			.path = "result",
			.what = "result",
			.content_type = "application/json",
			.body = text,
			.body_len = strlen(text)},
		result_answered);
}

/* The content of a final rescue object but the state. */
static void rescue_head(const json_t *note, json_t *head)
{
	json_t *result = json_object_get(note, "result"), *unrecorded = json_object_get(note, "unrecorded");

	json_object_set_new(head, "final", json_true());
	if (result)
		json_object_set(head, "result", result);
	if (unrecorded)
		json_object_set(head, "unrecorded", unrecorded);
}

/* Everything that is unsent. */
static bool rescue_collect(void *data, json_t *head, struct buf *state)
{
	const struct unsent_entry *entry = data;
	_cleanup_(freep) char *path = unsent_file(entry->name, "tfstate");
	struct err err = ERR_INIT;
	struct state_facts facts;

	if (beneath_read(entry->unsent->folder, path, state, &err) < 0 && err.kind != ERR_NOT_FOUND)
		return false;
	if (err.kind == ERR_NONE && !state_facts_read(buf_str(state), state->len, &facts))
		return false;
	rescue_head(entry->note, head);
	return true;
}

static bool unconfirmed_collect(void *data, json_t *head, struct buf *state)
{
	const struct unsent_entry *entry = data;
	const struct unsent *unsent = entry->unsent;

	(void)state;
	if (!unsent->hurried && unsent->spec.reachable(unsent->spec.data))
		return false;
	rescue_head(entry->note, head);
	return true;
}

/* Takes the note and the rescue. */
static struct unsent_entry *entry_add(
	struct unsent *unsent, enum unsent_kind kind, const char *name, json_t *note, struct rescue *rescue)
{
	struct unsent_entry *entry = unsent_entry_new(unsent, kind, name);

	entry->note = note;
	entry->rescue = rescue;
	rescue_source(rescue, kind == UNSENT_UNCONFIRMED ? unconfirmed_collect : rescue_collect, entry);
	rescue_end(rescue);
	return entry;
}

void unsent_unconfirmed(struct unsent *unsent, const char *name, json_t *note, struct rescue *rescue)
{
	if (rescue)
		entry_add(unsent, UNSENT_UNCONFIRMED, name, json_incref(note), rescue);
}

void unsent_deliver(struct unsent *unsent, const char *name, struct rescue *rescue)
{
	_cleanup_(freep) char *path = unsent_file(name, "json");
	struct unsent_entry *entry;
	json_t *note = NULL;
	struct err err = ERR_INIT;

	if (unsent_note_read(unsent->folder, path, &note, &err) < 0) {
		log_error("a note of an earlier apply can't be read", "folder", unsent->path, "note", path, "why",
			err.message, NULL);
		rescue_free(rescue);
		return;
	}
	entry = entry_add(unsent, UNSENT_SENDING, name, note, rescue);
	channel_open(&entry->channel,
		&(struct channel_spec){.loop = unsent->spec.loop,
			.fetcher = unsent->spec.fetcher,
			.scheduler_url = unsent->spec.scheduler_url,
			.job = text_or_empty(json_string_at(note, "job")),
			.token = text_or_empty(json_string_at(note, "token"))});
	if (json_at(note, "result"))
		deliver_result(entry, json_at(note, "result"));
	else
		deliver_unrecorded(entry);
}
