/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/unsent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "proto/limits.h"
#include "worker/limits/cgroup.h"
#include "worker/metrics.h"
#include "worker/upload/channel.h"
#include "worker/upload/leftover.h"
#include "worker/upload/record.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/unrecorded.h"

enum { NOTE_LIMIT = 16 * 1024 * 1024, KEEPER_MS = 500, DISK_MS = 5000, REFUSED_MS = 60 * 1000 };

static const char note_name[] = "job.json", changed_name[] = "changed";

/* An ended apply with unsent data. */
struct waiting {
	struct unsent *unsent;
	char *name; /* "<job>-<attempt>" */
	json_t *note;
	struct channel channel;
	struct loop_timer again; /* retries a refused result */
	struct rescue *rescue;   /* owned; or NULL */
	struct waiting *next;
};

/* An ended apply of which the scheduler has every state, and perhaps not the result (upload/result_sink.h). */
struct unconfirmed {
	struct unsent *unsent;
	char *name;
	json_t *note;
	struct rescue *rescue; /* owned */
	struct unconfirmed *next;
};

/* The outcome of recovering the folder of an ended apply, or of an apply whose worker has died. */
enum recovered { RECOVERED, RECOVER_KEEPER_RUNS, RECOVER_NOT_KEPT /* the disk is full */ };

/* A folder whose recovery is tried again. */
struct later {
	struct unsent *unsent;
	char *name;
	json_t *note; /* NULL: there is none, or it can't be read */
	int jobs;     /* descriptor of the parent folder; borrowed */
	struct loop_timer timer;
	struct later *next;
};

struct unsent {
	struct unsent_spec spec;
	char *path;
	int folder;
	struct waiting *waiting;
	struct later *later;
	size_t count; /* entries of both lists */
	struct unconfirmed *unconfirmed;
	bool hurried; /* the worker ends: it does not wait for the scheduler */
};

int unsent_open(const struct unsent_spec *spec, struct unsent **ret_unsent, struct err *err)
{
	char *path = mem_printf("%s/unsent", spec->data_dir);
	int folder;

	mkdir(path, 0700);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		err_errno(err, path);
		free(path);
		return -1;
	}
	*ret_unsent = mem_new(1, sizeof(**ret_unsent));
	**ret_unsent = (struct unsent){.spec = *spec, .path = path, .folder = folder};
	metric_set(M_STATES_PENDING, "", 0);
	return 0;
}

static void pending_add(struct unsent *unsent, int more)
{
	unsent->count += (size_t)more;
	metric_set(M_STATES_PENDING, "", (double)unsent->count);
}

static void settled(const struct unsent *unsent)
{
	unsent->spec.settled(unsent->spec.data);
}

static void waiting_drop(struct waiting *waiting)
{
	struct waiting **at = &waiting->unsent->waiting;

	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	pending_add(waiting->unsent, -1);
	loop_timer_clear(waiting->unsent->spec.loop, &waiting->again);
	channel_close(&waiting->channel);
	rescue_free(waiting->rescue);
	json_decref(waiting->note);
	free(waiting->name);
	free(waiting);
}

static void later_drop(struct later *later)
{
	struct later **at = &later->unsent->later;

	while (*at != later)
		at = &(*at)->next;
	*at = later->next;
	loop_timer_clear(later->unsent->spec.loop, &later->timer);
	pending_add(later->unsent, -1);
	json_decref(later->note);
	free(later->name);
	free(later);
}

static void unconfirmed_drop(struct unconfirmed **at)
{
	struct unconfirmed *unconfirmed = *at;

	*at = unconfirmed->next;
	rescue_free(unconfirmed->rescue);
	json_decref(unconfirmed->note);
	free(unconfirmed->name);
	free(unconfirmed);
}

void unsent_free(struct unsent *unsent)
{
	if (!unsent)
		return;
	while (unsent->waiting)
		waiting_drop(unsent->waiting);
	while (unsent->later)
		later_drop(unsent->later);
	while (unsent->unconfirmed)
		unconfirmed_drop(&unsent->unconfirmed);
	close(unsent->folder);
	free(unsent->path);
	free(unsent);
}

/* ---- notes ---- */

static char *file_of(const char *name, const char *kind)
{
	return mem_printf("%s.%s", name, kind);
}

static int note_read(int folder, const char *path, json_t **ret_note)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(NOTE_LIMIT);
	struct err err = ERR_INIT;

	if (beneath_read(folder, path, &text, &err) < 0 || json_parse(buf_str(&text), text.len, ret_note, &err) < 0)
		return -1;
	return 0;
}

static int note_write(struct unsent *unsent, const char *name, const json_t *note, bool durably)
{
	_cleanup_(freep) char *text = json_text(note), *path = file_of(name, "json"), *part = file_of(name, "part");
	_cleanup_(closep) int fd = -1;
	struct err err = ERR_INIT;

	if (beneath_write(unsent->folder, part, 0600, text_bytes(text), &err) < 0 ||
		(fd = beneath_open(unsent->folder, part, O_RDONLY, 0)) < 0 || (durably && fsync(fd) < 0) ||
		renameat(unsent->folder, part, unsent->folder, path) < 0)
		return -1;
	return durably ? fsync(unsent->folder) : 0;
}

static void note_drop(struct unsent *unsent, const char *name)
{
	_cleanup_(freep) char *path = file_of(name, "json");

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
	json_auto_t *note = json_pack("{ss ss ss ss ss}", "job", job->job, "token", job->token, "run", job->run,
		"folder", job->folder, "digest", text_or_empty(job->digest));
	_cleanup_(freep) char *text = json_text(note);

	if (beneath_write(dir->top, note_name, 0600, text_bytes(text), err) < 0)
		return -1;
	note_sync(unsent, dir);
	return 0;
}

/* The note's run; "" in a note of an earlier version of the worker. */
static const char *run_of(const json_t *note)
{
	return text_or_empty(json_string_at(note, "run"));
}

/* ---- sending: the result, the unrecorded resources, the state, the end ---- */

static void tell(struct waiting *waiting, const struct transfer_spec *spec, transfer_fn fn)
{
	struct transfer_spec asked = *spec;

	asked.expects_refusal = true;
	channel_send(&waiting->channel, &asked, fn, waiting);
}

static void delivery_done(struct waiting *waiting)
{
	const struct unsent *unsent = waiting->unsent;

	note_drop(waiting->unsent, waiting->name);
	waiting_drop(waiting);
	settled(unsent);
}

/* Accepts any answer: the scheduler answers 404 if it no longer waits for the attempt. */
static void last_answered(void *data, int status, const struct buf *body)
{
	struct waiting *waiting = data;

	(void)body;
	log_info("everything of an earlier apply is delivered", "run", run_of(waiting->note), "job", waiting->name,
		"awaited", status >= 200 && status < 300 ? "yes" : "no", NULL);
	delivery_done(waiting);
}

static void deliver_last_state(struct waiting *waiting)
{
	tell(waiting, &(struct transfer_spec){.method = "POST", .path = "last-state", .what = "last-state"},
		last_answered);
}

/* The workspace stays held: an operator must inspect the file. */
static void state_refused(struct waiting *waiting, const char *why)
{
	struct unsent *unsent = waiting->unsent;
	_cleanup_(freep) char *state = file_of(waiting->name, "tfstate"), *refused = file_of(waiting->name, "refused");

	log_error("the scheduler refused a state of an earlier apply; its file is kept", "run", run_of(waiting->note),
		"job", waiting->name, "why", why, "folder", unsent->path, NULL);
	renameat(unsent->folder, state, unsent->folder, refused);
	delivery_done(waiting);
}

/* The scheduler still lacks the state. */
static void state_unread(struct waiting *waiting, const char *why)
{
	const struct unsent *unsent = waiting->unsent;

	log_error("a state of an earlier apply can't be read; the worker's next start tries again", "run",
		run_of(waiting->note), "job", waiting->name, "why", why, "folder", unsent->path, NULL);
	waiting_drop(waiting);
	settled(unsent);
}

static void state_answered(void *data, int status, const struct buf *body)
{
	struct waiting *waiting = data;
	struct unsent *unsent = waiting->unsent;
	_cleanup_(freep) char *state = file_of(waiting->name, "tfstate");
	char why[300];

	if (status >= 200 && status < 300) {
		log_info("a state of an earlier apply was delivered", "run", run_of(waiting->note), "job",
			waiting->name, "kept", status == 202 ? "as detached" : "as the current one", NULL);
		metric_add(M_STATES_SENT, "", 1);
		unlinkat(unsent->folder, state, 0);
		deliver_last_state(waiting);
		return;
	}
	answer_sentence(status, body, why, sizeof(why));
	if (status == 0)
		state_unread(waiting, why);
	else
		state_refused(waiting, why);
}

/* Whether a state is too large to upload. The answer to an oversized upload could get lost, and the worker would
 * send it forever. */
static bool too_large(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_size > MAX_STATE_BYTES;
}

static void deliver_state(struct waiting *waiting)
{
	_cleanup_(freep) char *state = file_of(waiting->name, "tfstate");
	struct transfer_spec spec = {
		.method = "PUT", .path = "state", .what = "state", .content_type = "application/json"};

	spec.body_fd = beneath_open(waiting->unsent->folder, state, O_RDONLY, 0);
	if (spec.body_fd < 0 && errno == ENOENT) {
		deliver_last_state(waiting);
	} else if (spec.body_fd < 0) {
		state_unread(waiting, strerror(errno));
	} else if (too_large(spec.body_fd)) {
		close(spec.body_fd);
		state_refused(waiting, "it is larger than the scheduler takes (proto/limits.h)");
	} else {
		tell(waiting, &spec, state_answered);
	}
}

/* A scheduler of an earlier version answers 404. */
static void unrecorded_answered(void *data, int status, const struct buf *body)
{
	struct waiting *waiting = data;
	char why[300];

	if (status < 200 || status >= 300) {
		answer_sentence(status, body, why, sizeof(why));
		log_warn("the scheduler refused a list of unrecorded resources", "run", run_of(waiting->note), "job",
			waiting->name, "why", why, NULL);
	}
	deliver_state(waiting);
}

/* Sends the unrecorded resources. An empty list means that the scheduler need not compute them. An earlier version
 * of the worker kept no list. */
static void deliver_unrecorded(struct waiting *waiting)
{
	json_t *resources = json_object_get(waiting->note, "unrecorded");
	json_auto_t *document = json_pack("{sO*}", "resources", resources);
	_cleanup_(freep) char *text = json_text(document);

	if (!resources) {
		deliver_state(waiting);
		return;
	}
	tell(waiting,
		&(struct transfer_spec){.method = "PUT",
			.path = "unrecorded-resources",
			.what = "unrecorded resources",
			.content_type = "application/json",
			.body = text,
			.body_len = strlen(text)},
		unrecorded_answered);
}

static void deliver_all(struct unsent *unsent, const char *name, struct rescue *rescue);

static void deliver_again(void *data)
{
	struct waiting *waiting = data;
	struct unsent *unsent = waiting->unsent;
	_cleanup_(freep) char *name = mem_text(waiting->name);
	struct rescue *rescue = waiting->rescue;

	waiting->rescue = NULL;
	waiting_drop(waiting);
	deliver_all(unsent, name, rescue);
}

/* The result may already be known, if it is sent for the second time. After a refused result the worker does not
 * send last-state, because that would end the attempt as lost. */
static void result_answered(void *data, int status, const struct buf *body)
{
	struct waiting *waiting = data;
	char why[300];

	if ((status >= 200 && status < 300) || answer_ends_attempt(status)) {
		deliver_unrecorded(waiting);
		return;
	}
	answer_sentence(status, body, why, sizeof(why));
	log_error("the scheduler refuses the result of an earlier apply: it is kept and sent again", "run",
		run_of(waiting->note), "job", waiting->name, "why", why, NULL);
	loop_timer_set(waiting->unsent->spec.loop, &waiting->again, REFUSED_MS, deliver_again, waiting);
	settled(waiting->unsent);
}

static void deliver_result(struct waiting *waiting, const json_t *result)
{
	_cleanup_(freep) char *text = json_text(result);

	tell(waiting,
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
	const struct waiting *waiting = data;
	_cleanup_(freep) char *path = file_of(waiting->name, "tfstate");
	struct err err = ERR_INIT;
	struct state_facts facts;

	if (beneath_read(waiting->unsent->folder, path, state, &err) < 0 && err.kind != ERR_NOT_FOUND)
		return false;
	if (err.kind == ERR_NONE && !state_facts_read(buf_str(state), state->len, &facts))
		return false;
	rescue_head(waiting->note, head);
	return true;
}

static bool unconfirmed_collect(void *data, json_t *head, struct buf *state)
{
	const struct unconfirmed *unconfirmed = data;
	const struct unsent *unsent = unconfirmed->unsent;

	(void)state;
	if (!unsent->hurried && unsent->spec.reachable(unsent->spec.data))
		return false;
	rescue_head(unconfirmed->note, head);
	return true;
}

/* Takes the rescue. */
static void unconfirmed_add(struct unsent *unsent, const char *name, json_t *note, struct rescue *rescue)
{
	struct unconfirmed *unconfirmed;

	if (!rescue)
		return;
	unconfirmed = mem_new(1, sizeof(*unconfirmed));
	*unconfirmed = (struct unconfirmed){.unsent = unsent,
		.name = mem_text(name),
		.note = json_incref(note),
		.rescue = rescue,
		.next = unsent->unconfirmed};
	unsent->unconfirmed = unconfirmed;
	rescue_source(rescue, unconfirmed_collect, unconfirmed);
	rescue_end(rescue);
}

/* Takes the rescue. */
static void deliver_all(struct unsent *unsent, const char *name, struct rescue *rescue)
{
	_cleanup_(freep) char *path = file_of(name, "json");
	struct waiting *waiting;
	json_t *note = NULL;

	if (note_read(unsent->folder, path, &note) < 0) {
		log_error("a note of an earlier apply can't be read", "folder", unsent->path, "note", path, NULL);
		rescue_free(rescue);
		return;
	}
	waiting = mem_new(1, sizeof(*waiting));
	*waiting = (struct waiting){
		.unsent = unsent, .name = mem_text(name), .note = note, .rescue = rescue, .next = unsent->waiting};
	rescue_source(rescue, rescue_collect, waiting);
	rescue_end(rescue);
	unsent->waiting = waiting;
	pending_add(unsent, 1);
	channel_open(&waiting->channel,
		&(struct channel_spec){.loop = unsent->spec.loop,
			.fetcher = unsent->spec.fetcher,
			.scheduler_url = unsent->spec.scheduler_url,
			.job = text_or_empty(json_string_at(note, "job")),
			.token = text_or_empty(json_string_at(note, "token"))});
	if (json_at(note, "result"))
		deliver_result(waiting, json_at(note, "result"));
	else
		deliver_unrecorded(waiting);
}

/* ---- keeping ---- */

static int keep_state(struct unsent *unsent, int top, const char *name)
{
	_cleanup_(freep) char *state = file_of(name, "tfstate");

	return leftover_move(top, unsent->folder, state);
}

/* Writes the note first, because a state without a note would never be found again. */
static int keep(struct unsent *unsent, int top, const char *name, const json_t *note, bool owed)
{
	int code;

	if (note_write(unsent, name, note, owed) == 0 && (!owed || keep_state(unsent, top, name) == 0))
		return 0;
	code = errno;
	note_drop(unsent, name); /* else the scheduler would be told that there is no state */
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

	if (note_read(dir->top, note_name, &note) < 0) {
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
		deliver_all(unsent, dir->name, end->rescue);
	else
		unconfirmed_add(unsent, dir->name, note, end->rescue);
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

static bool kept_already(const struct unsent *unsent, const char *name)
{
	_cleanup_(freep) char *path = file_of(name, "json");

	return faccessat(unsent->folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void unsent_confirmed(struct unsent *unsent, const char *job, int attempt, bool awaited)
{
	_cleanup_(freep) char *name = mem_printf("%s-%d", job, attempt);
	struct unconfirmed **at = &unsent->unconfirmed;
	const struct waiting *waiting = unsent->waiting;

	while (*at && !text_equal((*at)->name, name))
		at = &(*at)->next;
	if (*at)
		unconfirmed_drop(at);
	while (waiting && !text_equal(waiting->name, name))
		waiting = waiting->next;
	if (!waiting && awaited && kept_already(unsent, name))
		deliver_all(unsent, name, NULL);
	else if (!waiting)
		note_drop(unsent, name);
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

/* Recovers an apply. Other jobs, and applies that had not started, have no note. */
static int recover_apply(struct unsent *unsent, int top, const char *name)
{
	json_auto_t *note = NULL, *unrecorded = NULL;
	bool owed;

	if (note_read(top, note_name, &note) < 0)
		return 0;
	leftover_errored(top, text_or_empty(json_string_at(note, "folder")));
	unrecorded = unrecorded_find(top);
	if (state_is_missing(top, note) && !json_array_size(unrecorded)) {
		log_error("an apply of an earlier worker left no state: it changed resources, and its workspace stays "
			  "held",
			"run", run_of(note), "job", name, NULL);
		return 0;
	}
	owed = leftover_undelivered(top);
	log_info("an apply whose folder stayed is brought to its end", "run", run_of(note), "job", name, "state",
		owed ? "to be delivered" : "delivered", NULL);
	if (unrecorded)
		json_object_set(note, "unrecorded", unrecorded);
	/* The existing note may have the result. */
	if (kept_already(unsent, name))
		return owed ? keep_state(unsent, top, name) : 0;
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

	if (top >= 0 && record_is_open(top))
		return RECOVER_KEEPER_RUNS;
	group_end(unsent, name);
	if (top >= 0 && recover_apply(unsent, top, name) < 0)
		return RECOVER_NOT_KEPT;
	if (beneath_remove(jobs, name) < 0)
		log_warn("an old job's folder can't be removed", "job", name, NULL);
	return RECOVERED;
}

/* ---- retries ---- */

static void later_run(void *data);

static void later_wait(struct later *later, enum recovered why)
{
	loop_timer_set(later->unsent->spec.loop, &later->timer, why == RECOVER_NOT_KEPT ? DISK_MS : KEEPER_MS,
		later_run, later);
}

static void later_run(void *data)
{
	struct later *later = data;
	struct unsent *unsent = later->unsent;
	enum recovered came = recover(unsent, later->jobs, later->name);

	if (came != RECOVERED) {
		later_wait(later, came);
		return;
	}
	if (kept_already(unsent, later->name))
		deliver_all(unsent, later->name, NULL);
	later_drop(later);
	settled(unsent);
}

static void recover_later(struct unsent *unsent, int jobs, const char *name, enum recovered why)
{
	_cleanup_(closep) int top = beneath_open(jobs, name, O_RDONLY | O_DIRECTORY, 0);
	struct later *later = mem_new(1, sizeof(*later));

	*later = (struct later){.unsent = unsent, .name = mem_text(name), .jobs = jobs, .next = unsent->later};
	if (top >= 0)
		note_read(top, note_name, &later->note);
	unsent->later = later;
	pending_add(unsent, 1);
	later_wait(later, why);
}

static void recover_entry(struct unsent *unsent, int jobs, const char *name)
{
	enum recovered came = recover(unsent, jobs, name);

	if (came == RECOVER_KEEPER_RUNS)
		log_info("the keeper of an earlier worker waits for the end of an apply", "job", name, NULL);
	if (came != RECOVERED)
		recover_later(unsent, jobs, name, came);
}

static void each_entry(
	int folder, void (*each)(struct unsent *unsent, int folder, const char *name), struct unsent *unsent)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!list) {
		closep(&fd);
		return;
	}
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.')
			each(unsent, folder, entry->d_name);
	closedir(list);
}

static void deliver_entry(struct unsent *unsent, int folder, const char *file)
{
	static const char ending[] = ".json";
	size_t len = strlen(file), ending_len = strlen(ending);

	(void)folder;
	if (len > ending_len && text_equal(file + len - ending_len, ending)) {
		_cleanup_(freep) char *name = mem_printf("%.*s", (int)(len - ending_len), file);

		deliver_all(unsent, name, NULL);
	}
}

void unsent_recover(struct unsent *unsent, int jobs)
{
	each_entry(jobs, recover_entry, unsent);
	each_entry(unsent->folder, deliver_entry, unsent);
}

/* ---- listing ---- */

size_t unsent_sending(const struct unsent *unsent)
{
	size_t count = 0;

	for (const struct waiting *waiting = unsent->waiting; waiting; waiting = waiting->next)
		count += waiting->again.due_ms == 0;
	return count;
}

void unsent_hurry(struct unsent *unsent)
{
	unsent->hurried = true;
	for (const struct unconfirmed *at = unsent->unconfirmed; at; at = at->next)
		rescue_hurry(at->rescue);
	for (const struct waiting *waiting = unsent->waiting; waiting; waiting = waiting->next)
		rescue_hurry(waiting->rescue);
}

size_t unsent_rescued(const struct unsent *unsent, size_t *ret_results)
{
	size_t count = 0;

	*ret_results = 0;
	for (const struct unconfirmed *at = unsent->unconfirmed; at; at = at->next)
		*ret_results += rescue_is_final(at->rescue);
	for (const struct waiting *waiting = unsent->waiting; waiting; waiting = waiting->next)
		count += rescue_is_final(waiting->rescue);
	return count;
}

size_t unsent_count(const struct unsent *unsent)
{
	return unsent->count;
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
	for (const struct waiting *waiting = unsent->waiting; waiting; waiting = waiting->next)
		note_list(waiting->note, waiting->name, each, data);
	for (const struct later *later = unsent->later; later; later = later->next)
		note_list(later->note, later->name, each, data);
}
