/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "worker/exec/beneath.h"
#include "worker/limits/cgroup.h"
#include "worker/metrics.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/leftover.h"
#include "worker/upload/record.h"
#include "worker/upload/unrecorded.h"
#include "worker/upload/unsent_entry.h"

enum { NOTE_LIMIT = 16 * 1024 * 1024, KEEPER_MS = 500, DISK_MS = 5000 };

static const char note_name[] = "job.json", changed_name[] = "changed";

/* The outcome of recovering the folder of an ended apply, or of an apply whose worker has died. */
enum recovered { RECOVERED, RECOVER_KEEPER_RUNS, RECOVER_NOT_KEPT /* the disk is full */ };

int unsent_open(const struct unsent_spec *spec, struct unsent **ret_unsent, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/unsent", spec->data_dir);
	int folder = folder_make(path, false, err);

	if (folder < 0)
		return -1;
	*ret_unsent = mem_new(1, sizeof(**ret_unsent));
	**ret_unsent = (struct unsent){.spec = *spec, .path = mem_text(path), .folder = folder};
	metric_set(M_STATES_PENDING, "", 0);
	return 0;
}

void unsent_settled(const struct unsent *unsent)
{
	unsent->spec.settled(unsent->spec.data);
}

struct unsent_entry *unsent_entry_new(struct unsent *unsent, enum unsent_kind kind, const char *name)
{
	struct unsent_entry *entry = mem_new(1, sizeof(*entry));

	*entry = (struct unsent_entry){.unsent = unsent, .kind = kind, .name = mem_text(name), .next = unsent->entries};
	unsent->entries = entry;
	metric_set(M_STATES_PENDING, "", (double)unsent_count(unsent));
	return entry;
}

void unsent_entry_drop(struct unsent_entry *entry)
{
	struct unsent_entry **at = &entry->unsent->entries;

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	metric_set(M_STATES_PENDING, "", (double)unsent_count(entry->unsent));
	loop_timer_clear(entry->unsent->spec.loop, &entry->timer);
	channel_close(&entry->channel);
	rescue_free(entry->rescue);
	json_decref(entry->note);
	free(entry->name);
	free(entry);
}

static struct unsent_entry *entry_find(const struct unsent *unsent, enum unsent_kind kind, const char *name)
{
	struct unsent_entry *entry = unsent->entries;

	while (entry && (entry->kind != kind || !text_equal(entry->name, name)))
		entry = entry->next;
	return entry;
}

void unsent_free(struct unsent *unsent)
{
	if (!unsent)
		return;
	while (unsent->entries)
		unsent_entry_drop(unsent->entries);
	close(unsent->folder);
	free(unsent->path);
	free(unsent);
}

/* ---- notes ---- */

char *unsent_file(const char *name, const char *kind)
{
	return mem_printf("%s.%s", name, kind);
}

int unsent_note_read(int folder, const char *path, json_t **ret_note, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(NOTE_LIMIT);

	if (beneath_read(folder, path, &text, err) < 0 || json_parse(buf_str(&text), text.len, ret_note, err) < 0)
		return -1;
	return 0;
}

static int note_write(struct unsent *unsent, const char *name, const json_t *note, bool durably)
{
	_cleanup_(freep) char *text = json_text(note), *path = unsent_file(name, "json"),
			      *part = unsent_file(name, "part");
	_cleanup_(closep) int fd = -1;
	struct err err = ERR_INIT;

	if (beneath_write(unsent->folder, part, 0600, text_bytes(text), &err) < 0 ||
		(fd = beneath_open(unsent->folder, part, O_RDONLY, 0)) < 0 || (durably && fsync(fd) < 0) ||
		renameat(unsent->folder, part, unsent->folder, path) < 0)
		return -1;
	return durably ? fsync(unsent->folder) : 0;
}

void unsent_note_drop(struct unsent *unsent, const char *name)
{
	_cleanup_(freep) char *path = unsent_file(name, "json");

	unlinkat(unsent->folder, path, 0);
}

/* Files and folders to sync. terraform syncs its own files in them. */
struct syncing {
	int fds[4];
};

static void sync_all(void *data)
{
	struct syncing *syncing = data;

	for (size_t i = 0; i < ARRAY_LEN(syncing->fds); i++) {
		if (syncing->fds[i] >= 0)
			fsync(syncing->fds[i]);
		closep(&syncing->fds[i]);
	}
	free(syncing);
}

static void note_sync(struct unsent *unsent, const struct workdir *dir)
{
	struct syncing *syncing = mem_new(1, sizeof(*syncing));

	*syncing = (struct syncing){{beneath_open(dir->top, note_name, O_RDONLY, 0),
		beneath_open(dir->root, "state", O_RDONLY | O_DIRECTORY, 0),
		beneath_open(dir->top, ".", O_RDONLY | O_DIRECTORY, 0),
		beneath_open(dir->jobs, ".", O_RDONLY | O_DIRECTORY, 0)}};
	loop_work(unsent->spec.loop, sync_all, NULL, syncing);
}

int unsent_note(struct unsent *unsent, const struct workdir *dir, const struct unsent_job *job, struct err *err)
{
	json_auto_t *note = json_pack("{ss ss ss ss ss ss}", "job", job->job, "token", job->token, "run", job->run,
		"organization", job->organization, "folder", job->folder, "digest", text_or_empty(job->digest));
	_cleanup_(freep) char *text = json_text(note);

	if (beneath_write(dir->top, note_name, 0600, text_bytes(text), err) < 0)
		return -1;
	note_sync(unsent, dir);
	return 0;
}

const char *unsent_run(const json_t *note)
{
	return text_or_empty(json_string_at(note, "run"));
}

/* ---- keeping ---- */

static int keep_state(struct unsent *unsent, int top, const char *name)
{
	_cleanup_(freep) char *state = unsent_file(name, "tfstate");

	return leftover_move(top, unsent->folder, state);
}

/* Writes the note first, because a state without a note would never be found again. */
static int keep(struct unsent *unsent, int top, const char *name, const json_t *note, bool owed)
{
	int code;

	if (note_write(unsent, name, note, owed) == 0 && (!owed || keep_state(unsent, top, name) == 0))
		return 0;
	code = errno;
	unsent_note_drop(unsent, name); /* else the scheduler would be told that there is no state */
	log_error("the unsent results of an apply can't be kept: its folder stays, and it is tried again", "job", name,
		"why", strerror(code), NULL);
	return -1;
}

static json_t *result_json(const struct job_result *result)
{
	_cleanup_(freep) char *text = job_result_encode(result);
	struct err err = ERR_INIT;
	json_t *value = NULL;

	json_parse(text, strlen(text), &value, &err);
	return value;
}

static void recover_later(struct unsent *unsent, int jobs, const char *name, enum recovered why);

int unsent_ended(struct unsent *unsent, const struct workdir *dir, const struct unsent_end *end)
{
	json_auto_t *note = NULL;
	struct err err = ERR_INIT;

	if (unsent_note_read(dir->top, note_name, &note, &err) < 0) {
		if (!end->owed)
			rescue_free(end->rescue);
		return end->owed ? -1 : 0;
	}
	if (end->result)
		json_object_set_new(note, "result", result_json(end->result));
	if (end->unrecorded)
		json_object_set(note, "unrecorded", end->unrecorded);
	if (keep(unsent, dir->top, dir->name, note, end->owed) < 0) {
		recover_later(unsent, dir->jobs, dir->name, RECOVER_NOT_KEPT);
		return -1;
	}
	if (!end->result || end->owed || json_array_size(end->unrecorded))
		unsent_deliver(unsent, dir->name, end->rescue);
	else
		unsent_unconfirmed(unsent, dir->name, note, end->rescue);
	return 0;
}

void unsent_forget(const struct workdir *dir)
{
	beneath_remove(dir->top, note_name);
}

/* The mark is a second name of the note: it needs no inode, of which a full disk may have none. Some filesystems have
 * no such links. */
void unsent_changed(const struct workdir *dir)
{
	struct err err = ERR_INIT;

	if (linkat(dir->top, note_name, dir->top, changed_name, 0) == 0)
		return;
	if (beneath_write(dir->top, changed_name, 0600, text_bytes(""), &err) < 0)
		log_warn("the worker can't note that an apply changes resources", "why", err.message, NULL);
}

static bool kept_already(const struct unsent *unsent, const char *name, const char *kind)
{
	_cleanup_(freep) char *path = unsent_file(name, kind);

	return faccessat(unsent->folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void unsent_confirmed(struct unsent *unsent, const char *job, int attempt, bool awaited)
{
	_cleanup_(freep) char *name = mem_printf("%s-%d", job, attempt);
	struct unsent_entry *unconfirmed = entry_find(unsent, UNSENT_UNCONFIRMED, name);

	if (unconfirmed)
		unsent_entry_drop(unconfirmed);
	if (entry_find(unsent, UNSENT_SENDING, name))
		return;
	if (awaited && kept_already(unsent, name, "json"))
		unsent_deliver(unsent, name, NULL);
	else
		unsent_note_drop(unsent, name);
}

/* ---- after a restart ---- */

/* True if the engine changed something but the state here is the one that the apply began with. The note of an
 * earlier worker has no digest. */
static bool state_is_missing(int top, const json_t *note)
{
	const char *before = json_string_at(note, "digest");
	struct state_facts last = {.serial = 0};

	if (!before || faccessat(top, changed_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	leftover_read(top, NULL, &last);
	return text_equal(last.digest, before);
}

/* Recovers an apply. Other jobs, and applies that had not started, have no note. Of a damaged note, nothing can be
 * sent.
 */
static int recover_apply(struct unsent *unsent, int top, const char *name)
{
	json_auto_t *note = NULL, *unrecorded = NULL;
	struct err err = ERR_INIT;
	bool owed;

	if (unsent_note_read(top, note_name, &note, &err) < 0)
		return err.kind == ERR_INTERNAL ? -1 : 0;
	leftover_errored(top, text_or_empty(json_string_at(note, "folder")));
	unrecorded = unrecorded_find(top);
	if (state_is_missing(top, note) && !json_array_size(unrecorded)) {
		log_error("an apply of an earlier worker left no state: it changed resources, and its workspace stays "
			  "held",
			"run", unsent_run(note), "job", name, NULL);
		return 0;
	}
	owed = leftover_undelivered(top);
	log_info("an apply whose folder stayed is brought to its end", "run", unsent_run(note), "job", name, "state",
		owed ? "to be delivered" : "delivered", NULL);
	if (unrecorded)
		json_object_set(note, "unrecorded", unrecorded);
	/* The existing note may have the result. A kept state is newer than what is left in the folder. */
	if (kept_already(unsent, name, "json"))
		return owed && !kept_already(unsent, name, "tfstate") ? keep_state(unsent, top, name) : 0;
	return keep(unsent, top, name, note, owed);
}

/* Kills the processes that a killed keeper left in the job's control group. */
static void group_end(const struct unsent *unsent, const char *name)
{
	_cleanup_(freep) char *job = mem_text(name);
	char *attempt = strrchr(job, '-');

	if (attempt)
		*attempt = '\0';
	cgroup_end_earlier(unsent->spec.groups, job);
}

static enum recovered recover(struct unsent *unsent, int jobs, const char *name)
{
	_cleanup_(closep) int top = beneath_open(jobs, name, O_RDONLY | O_DIRECTORY, 0);

	/* For lack of memory or of descriptors, the folder can't be opened now. It may have the only state of an apply.
	 */
	if (top < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		return RECOVER_NOT_KEPT;
	if (top >= 0 && record_is_open(top))
		return RECOVER_KEEPER_RUNS;
	group_end(unsent, name);
	if (top >= 0 && recover_apply(unsent, top, name) < 0)
		return RECOVER_NOT_KEPT;
	/* A folder that can't be removed has an earlier state, which must not be sent later. */
	beneath_remove(top, note_name);
	if (beneath_remove(jobs, name) < 0)
		log_warn("an old job's folder can't be removed", "job", name, NULL);
	return RECOVERED;
}

/* ---- retries ---- */

static void later_run(void *data);

static void later_wait(struct unsent_entry *entry, enum recovered why)
{
	loop_timer_set(entry->unsent->spec.loop, &entry->timer, why == RECOVER_NOT_KEPT ? DISK_MS : KEEPER_MS,
		later_run, entry);
}

static void later_run(void *data)
{
	struct unsent_entry *entry = data;
	struct unsent *unsent = entry->unsent;
	enum recovered came = recover(unsent, entry->jobs, entry->name);

	if (came != RECOVERED) {
		later_wait(entry, came);
		return;
	}
	if (kept_already(unsent, entry->name, "json"))
		unsent_deliver(unsent, entry->name, NULL);
	unsent_entry_drop(entry);
	unsent_settled(unsent);
}

static void recover_later(struct unsent *unsent, int jobs, const char *name, enum recovered why)
{
	_cleanup_(closep) int top = beneath_open(jobs, name, O_RDONLY | O_DIRECTORY, 0);
	struct unsent_entry *entry = unsent_entry_new(unsent, UNSENT_LATER, name);
	struct err ignored = ERR_INIT;

	entry->jobs = jobs;
	if (top >= 0)
		unsent_note_read(top, note_name, &entry->note, &ignored);
	later_wait(entry, why);
}

static void recover_entry(struct unsent *unsent, int jobs, const char *name)
{
	enum recovered came = recover(unsent, jobs, name);

	if (came == RECOVER_KEEPER_RUNS)
		log_info("the keeper of an earlier worker waits for the end of an apply", "job", name, NULL);
	if (came != RECOVERED)
		recover_later(unsent, jobs, name, came);
}

static void deliver_file(struct unsent *unsent, const char *file)
{
	static const char ending[] = ".json";
	size_t len = strlen(file), ending_len = strlen(ending);

	if (len > ending_len && text_equal(file + len - ending_len, ending)) {
		_cleanup_(freep) char *name = mem_printf("%.*s", (int)(len - ending_len), file);

		unsent_deliver(unsent, name, NULL);
	}
}

void unsent_recover(struct unsent *unsent, int jobs)
{
	_cleanup_(list_closep) DIR *folders = beneath_list(jobs, "."), *files = NULL;
	const char *name;

	while (folders && (name = list_next(folders)))
		if (*name != '.')
			recover_entry(unsent, jobs, name);
	files = beneath_list(unsent->folder, ".");
	while (files && (name = list_next(files)))
		deliver_file(unsent, name);
}

/* ---- listing ---- */

size_t unsent_sending(const struct unsent *unsent)
{
	size_t count = 0;

	for (const struct unsent_entry *entry = unsent->entries; entry; entry = entry->next)
		count += entry->kind == UNSENT_SENDING && entry->timer.due_ms == 0;
	return count;
}

void unsent_hurry(struct unsent *unsent)
{
	unsent->hurried = true;
	for (const struct unsent_entry *entry = unsent->entries; entry; entry = entry->next)
		rescue_hurry(entry->rescue);
}

size_t unsent_rescued(const struct unsent *unsent, size_t *ret_results)
{
	size_t counts[] = {[UNSENT_SENDING] = 0, [UNSENT_LATER] = 0, [UNSENT_UNCONFIRMED] = 0};

	for (const struct unsent_entry *entry = unsent->entries; entry; entry = entry->next)
		counts[entry->kind] += rescue_is_final(entry->rescue);
	*ret_results = counts[UNSENT_UNCONFIRMED];
	return counts[UNSENT_SENDING];
}

size_t unsent_count(const struct unsent *unsent)
{
	size_t count = 0;

	for (const struct unsent_entry *entry = unsent->entries; entry; entry = entry->next)
		count += entry->kind != UNSENT_UNCONFIRMED;
	return count;
}

/* Lists the attempt of a note. A note of an earlier version of the worker has no run. */
static void note_list(const json_t *note, const char *name, listed_fn each, void *data)
{
	const char *attempt = strrchr(name, '-');
	const struct listed_attempt listed = {.job = json_string_at(note, "job"),
		.token = json_string_at(note, "token"),
		.run = json_string_at(note, "run"),
		.attempt = attempt ? (int)strtol(attempt + 1, NULL, 10) : 0,
		.applies = true};

	if (listed.job && listed.token && listed.run)
		each(data, &listed);
}

void unsent_each(const struct unsent *unsent, listed_fn each, void *data)
{
	for (const struct unsent_entry *entry = unsent->entries; entry; entry = entry->next)
		if (entry->kind != UNSENT_UNCONFIRMED)
			note_list(entry->note, entry->name, each, data);
}
