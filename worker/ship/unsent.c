/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/ship/unsent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/fetch.h"
#include "common/log.h"
#include "common/loop.h"
#include "worker/metrics.h"
#include "worker/ship/channel.h"
#include "worker/ship/states.h"

enum { STATE_LIMIT = 512 * 1024 * 1024, NOTE_LIMIT = 16 * 1024 };

static const char note_name[] = "job.json";

/* A state that waits on the disk. */
struct waiting {
	struct unsent *unsent;
	char *name; /* "<job>-<attempt>" */
	struct channel channel;
	struct waiting *next;
};

struct unsent {
	struct unsent_spec spec;
	char *path;
	int folder;
	struct waiting *waiting;
	size_t count;
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
	return 0;
}

static void waiting_drop(struct waiting *waiting)
{
	struct waiting **at = &waiting->unsent->waiting;

	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	metric_set(M_STATES_PENDING, "", (double)--waiting->unsent->count);
	channel_close(&waiting->channel);
	free(waiting->name);
	free(waiting);
}

void unsent_free(struct unsent *unsent)
{
	if (!unsent)
		return;
	while (unsent->waiting)
		waiting_drop(unsent->waiting);
	close(unsent->folder);
	free(unsent->path);
	free(unsent);
}

int unsent_note(const struct workdir *dir, const char *job, const char *token, struct err *err)
{
	json_auto_t *note = json_pack("{ssss}", "job", job, "token", token);
	_cleanup_(freep) char *text = json_text(note);

	return beneath_write(dir->top, note_name, 0600, text, strlen(text), err);
}

/* ---- delivering ---- */

static void state_answered(void *data, int status, const struct buf *body)
{
	struct waiting *waiting = data;
	struct unsent *unsent = waiting->unsent;
	_cleanup_(freep) char *state = mem_printf("%s.tfstate", waiting->name);
	_cleanup_(freep) char *note = mem_printf("%s.json", waiting->name);
	_cleanup_(freep) char *refused = mem_printf("%s.refused", waiting->name);
	char why[300];

	answer_sentence(status, body, why, sizeof(why));
	if (status >= 200 && status < 300) {
		log_info("a state of an earlier job was delivered", "job", waiting->name, NULL);
		metric_add(M_STATES_SENT, "", 1);
		unlinkat(unsent->folder, state, 0);
	} else {
		log_error("the scheduler refused a state of an earlier job; its file is kept", "job", waiting->name,
			"why", why, "folder", unsent->path, NULL);
		renameat(unsent->folder, state, unsent->folder, refused);
	}
	unlinkat(unsent->folder, note, 0);
	waiting_drop(waiting);
}

static void deliver(struct unsent *unsent, const char *name)
{
	_cleanup_(freep) char *state = mem_printf("%s.tfstate", name);
	_cleanup_(freep) char *note = mem_printf("%s.json", name);
	_cleanup_(buf_release) struct buf text = BUF_INIT(NOTE_LIMIT);
	struct transfer_spec spec = {.method = "PUT",
		.path = "state",
		.what = "state",
		.content_type = "application/json",
		.expects_refusal = true};
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;
	struct waiting *waiting;

	if (beneath_read(unsent->folder, note, &text, &err) < 0 ||
		json_parse(buf_str(&text), text.len, &value, &err) < 0)
		return;
	spec.body_fd = beneath_open(unsent->folder, state, O_RDONLY, 0);
	if (spec.body_fd < 0)
		return;
	waiting = mem_new(1, sizeof(*waiting));
	*waiting = (struct waiting){.unsent = unsent, .name = mem_text(name), .next = unsent->waiting};
	unsent->waiting = waiting;
	metric_set(M_STATES_PENDING, "", (double)++unsent->count);
	channel_open(&waiting->channel, unsent->spec.loop, unsent->spec.fetcher, unsent->spec.scheduler_url,
		text_or_empty(json_string_at(value, "job")), text_or_empty(json_string_at(value, "token")));
	channel_send(&waiting->channel, &spec, state_answered, waiting);
}

/* ---- keeping ---- */

/* The note first: a state without one would never be found again. */
static bool move_here(struct unsent *unsent, int top, const char *name)
{
	_cleanup_(freep) char *state = mem_printf("%s.tfstate", name);
	_cleanup_(freep) char *note = mem_printf("%s.json", name);

	return renameat(top, note_name, unsent->folder, note) == 0 &&
		renameat(top, "root/" WORKDIR_STATE, unsent->folder, state) == 0;
}

void unsent_keep(struct unsent *unsent, const struct workdir *dir)
{
	if (move_here(unsent, dir->top, dir->name))
		deliver(unsent, dir->name);
	else
		log_error("an undelivered state can't be kept", "job", dir->name, NULL);
}

/* ---- after a restart ---- */

/* True if the folder holds a state that terraform wrote and that was not noted as delivered. Jobs that only plan have
 * no note of that kind. */
static bool undelivered(int top)
{
	_cleanup_(buf_release) struct buf delivered = BUF_INIT(SHA256_HEX_SIZE);
	_cleanup_(buf_release) struct buf state = BUF_INIT(STATE_LIMIT);
	char hex[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	if (beneath_read(top, "delivered", &delivered, &err) < 0 ||
		beneath_read(top, "root/" WORKDIR_STATE, &state, &err) < 0 ||
		!state_complete(buf_str(&state), state.len))
		return false;
	crypto_sha256_hex(state.data, state.len, hex);
	return !text_equal(hex, buf_str(&delivered));
}

static void recover(struct unsent *unsent, int jobs, const char *name)
{
	_cleanup_(closep) int top = beneath_open(jobs, name, O_RDONLY | O_DIRECTORY, 0);

	if (top >= 0 && undelivered(top)) {
		log_warn("a state that an earlier worker could not deliver was found", "job", name, NULL);
		if (!move_here(unsent, top, name)) {
			log_error("it can't be moved, and its folder stays", "job", name, NULL);
			return;
		}
	}
	if (beneath_remove(jobs, name) < 0)
		log_warn("an old job's folder can't be removed", "job", name, NULL);
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

static void deliver_entry(struct unsent *unsent, int folder, const char *name)
{
	static const char ending[] = ".tfstate";
	size_t len = strlen(name), ending_len = strlen(ending);

	(void)folder;
	if (len > ending_len && text_equal(name + len - ending_len, ending)) {
		_cleanup_(freep) char *job = mem_printf("%.*s", (int)(len - ending_len), name);

		deliver(unsent, job);
	}
}

void unsent_recover(struct unsent *unsent, int jobs)
{
	each_entry(jobs, recover, unsent);
	each_entry(unsent->folder, deliver_entry, unsent);
}
