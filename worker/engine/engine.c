/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "proto/capabilities.h"
#include "worker/engine/variables.h"
#include "worker/exec/child.h"
#include "worker/exec/program.h"
#include "worker/packages/download.h"

enum { MAX_ENGINES = 64, OUTPUT_LIMIT = 64 * 1024, VERSION_MS = 60 * 1000 };

/* A binary and the version that it reported. `size` and `changed` tell whether the file is still the same. */
struct known_engine {
	struct engine engine;
	off_t size;
	struct timespec changed;
	bool valid; /* it has reported a version */
};

/* A search waits until the versions of all binaries are known. `needs` is NULL if only the capabilities are wanted, or
 * for an OPA. */
struct search {
	char *needs;
	engine_fn fn;
	loop_work_fn looked;
	struct engine_choice choice; /* to be downloaded; of an OPA from the start */
	char *url, *sha;             /* where to download it from; or NULL */
	struct err failure;          /* error of its download */
	void *data;
	struct search *next;
};

struct engines {
	struct loop *loop;
	const char *fixed;
	const char *opa;
	const char *folder;
	bool finds_opa; /* an OPA was asked for */
	struct known_engine known[MAX_ENGINES];
	size_t known_count;
	char *asking;   /* the binary whose version is being read */
	int asking_out; /* read end of its output */
	struct child *asked;
	struct loop_timer asked_timer;
	struct search *searches;
	struct downloads *downloads;
	struct search *downloading;   /* searches that wait for a download; the first one's download runs */
	bool busy;                    /* a download runs, perhaps for a search that has ended */
	struct engine_choice current; /* the engine being downloaded */
};

static void searches_go_on(struct engines *engines);

int engine_version_read(const char *text, struct version *ret_version, const char **ret_program)
{
	static const struct {
		const char *says, *const *program;
	} products[] = {
		{"Terraform v", &engine_terraform},
		{"OpenTofu v", &engine_tofu},
		{"Version: ", &program_opa},
	};

	for (size_t i = 0; i < ARRAY_LEN(products); i++) {
		if (text_starts(text, products[i].says)) {
			const char *at = text + strlen(products[i].says);
			_cleanup_(freep) char *word = mem_printf("%.*s", (int)strcspn(at, " \r\n"), at);

			*ret_program = *products[i].program;
			return version_parse(word, ret_version);
		}
	}
	return -1;
}

/* ---- available binaries ---- */

static bool paths_add(struct texts *paths, const char *path)
{
	_cleanup_(freep) char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
	struct stat info;

	if (!real || paths->count == MAX_ENGINES || stat(real, &info) < 0 || !S_ISREG(info.st_mode))
		return false;
	TEXTS_ADD(paths, real);
	return true;
}

static bool paths_add_program(struct texts *paths, const char *name, const char *folder)
{
	_cleanup_(freep) char *path = program_find(name, folder);

	return path && paths_add(paths, path);
}

/* Adds "<name>-<version>" or "<version>/<name>" of a folder. */
static void paths_add_entry(struct texts *paths, const char *folder, const char *entry, const char *name)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, entry);
	_cleanup_(freep) char *below = mem_printf("%s/%s", path, name);
	size_t len = strlen(name);

	if (text_starts(entry, name) && entry[len] == '-')
		paths_add(paths, path);
	if (*entry != '.')
		paths_add(paths, below);
}

static void paths_add_folder(const struct engines *engines, struct texts *paths, const char *folder)
{
	const char *const names[] = {engine_terraform, engine_tofu, program_opa};
	size_t count = engines->finds_opa ? ARRAY_LEN(names) : ARRAY_LEN(names) - 1;
	DIR *list = *folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		for (size_t i = 0; i < count; i++)
			paths_add_entry(paths, folder, entry->d_name, names[i]);
	if (list)
		closedir(list);
}

/* Lists the preferred binary first: the one that the options name, then those of the folder. */
static void paths_collect(const struct engines *engines, struct texts *paths)
{
	if (*engines->fixed)
		paths_add_program(paths, engines->fixed, "");
	else if (!paths_add_program(paths, "terraform", ""))
		paths_add_program(paths, "tofu", "");
	if (engines->finds_opa)
		paths_add_program(paths, engines->opa, engines->folder);
	paths_add_folder(engines, paths, engines->folder);
	paths_add_folder(engines, paths, downloads_folder(engines->downloads));
}

/* ---- known versions ---- */

static struct known_engine *known_find(struct engines *engines, const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return NULL;
	for (size_t i = 0; i < engines->known_count; i++) {
		struct known_engine *known = &engines->known[i];

		if (text_equal(known->engine.path, path) && known->size == info.st_size &&
			known->changed.tv_sec == info.st_mtim.tv_sec && known->changed.tv_nsec == info.st_mtim.tv_nsec)
			return known;
	}
	return NULL;
}

/* The entry for a binary: its old entry if the file has changed, otherwise a new one, or the oldest one if all are
 * taken. */
static struct known_engine *known_place(struct engines *engines, const char *path)
{
	struct known_engine *place = NULL;

	for (size_t i = 0; !place && i < engines->known_count; i++)
		if (text_equal(engines->known[i].engine.path, path))
			place = &engines->known[i];
	if (!place && engines->known_count < MAX_ENGINES)
		place = &engines->known[engines->known_count++];
	if (!place)
		place = &engines->known[0];
	free(place->engine.path);
	*place = (struct known_engine){.engine.path = mem_text(path)};
	return place;
}

static void known_record(struct engines *engines, const char *path, const char *output)
{
	struct known_engine *known = known_place(engines, path);
	struct stat info;

	if (stat(path, &info) == 0) {
		known->size = info.st_size;
		known->changed = info.st_mtim;
	}
	known->valid = engine_version_read(output, &known->engine.version, &known->engine.program) == 0;
}

/* ---- reading a version ---- */

static void version_came(void *data, const struct keeper_report *report)
{
	struct engines *engines = data;
	_cleanup_(freep) char *path = engines->asking;
	char output[OUTPUT_LIMIT];
	ssize_t len = read(engines->asking_out, output, sizeof(output) - 1);

	loop_timer_clear(engines->loop, &engines->asked_timer);
	output[len > 0 && report->status == 0 ? len : 0] = '\0';
	close(engines->asking_out);
	engines->asking = NULL;
	engines->asked = NULL;
	known_record(engines, path, output);
	searches_go_on(engines);
}

/* A binary that does not report a version in time is not used. */
static void version_late(void *data)
{
	struct engines *engines = data;

	log_warn("a binary does not say its version; it is not used", "path", engines->asking, NULL);
	child_kill(engines->asked);
}

/* Starts the binary. Its output fits into the pipe, so it is read after the program has ended. */
static int version_ask(struct engines *engines, const char *path, struct err *err)
{
	char *const argv[] = {(char *)path, "version", NULL};
	char *const env[] = {"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=/dev/null", "PATH=/usr/bin:/bin", NULL};
	struct child_spec spec = {.ended = version_came,
		.data = engines,
		.argv = argv,
		.env = env,
		.folder = "/",
		.fds = {-1, -1, -1, -1, -1}};
	int pipe_fds[2], status;

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(err, "pipe");
	spec.fds[1] = pipe_fds[1];
	status = child_start(engines->loop, &spec, &engines->asked, err);
	close(pipe_fds[1]);
	if (status < 0) {
		close(pipe_fds[0]);
		return -1;
	}
	engines->asking = mem_text(path);
	engines->asking_out = pipe_fds[0];
	loop_timer_set(engines->loop, &engines->asked_timer, VERSION_MS, version_late, engines);
	return 0;
}

/* ---- finding ---- */

static json_t *present(struct engines *engines, const struct texts *paths)
{
	json_t *list = json_array();

	for (size_t i = 0; i < paths->count; i++) {
		const struct known_engine *known = known_find(engines, paths->items[i]);

		if (known && known->valid && known->engine.program != program_opa)
			json_array_append_new(
				list, json_sprintf("%s %s", known->engine.program, known->engine.version.text));
	}
	return list;
}

/* Capabilities of the installed engines and of those that can be downloaded. */
static json_t *all_capabilities(struct engines *engines, const struct texts *paths)
{
	const char *const names[] = {engine_terraform, engine_tofu};
	json_t *list = present(engines, paths);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (downloads_can(engines->downloads, names[i]))
			json_array_append_new(list, json_sprintf("download %s", names[i]));
	return list;
}

static const struct engine *engine_chosen(
	struct engines *engines, const struct texts *paths, const struct engine_choice *choice)
{
	for (size_t i = 0; choice->engine && i < paths->count; i++) {
		const struct known_engine *known = known_find(engines, paths->items[i]);

		if (known && known->valid && known->engine.program == choice->engine &&
			text_equal(known->engine.version.text, choice->version))
			return &known->engine;
	}
	return NULL;
}

static void search_free(struct search *search)
{
	free(search->needs);
	free(search->url);
	free(search->sha);
	free(search);
}

/* Explains why no engine was found. */
static void search_explain(
	const struct engines *engines, const struct search *search, const json_t *capabilities, struct err *err)
{
	_cleanup_(buf_release) struct buf sentence = BUF_INIT(sizeof(err->message));

	if (search->failure.kind != ERR_NONE) {
		err_set(err, ERR_INVALID, "%s %s can't be downloaded: %s", search->choice.engine,
			search->choice.version, search->failure.message);
	} else if (!search->needs && downloads_named(engines->downloads, search->choice.engine)) {
		err_set(err, ERR_INVALID, "%s %s can't be downloaded: its mirror failed less than five minutes ago",
			search->choice.engine, search->choice.version);
	} else if (!search->needs) {
		err_set(err, ERR_NOT_FOUND, "this worker has no %s %s", search->choice.engine, search->choice.version);
	} else if (!capabilities_engine(capabilities)) {
		err_set(err, ERR_INVALID, "this worker has no terraform or tofu that works");
	} else {
		capabilities_refusal(search->needs, "this worker lacks", capabilities, &sentence);
		err_set(err, ERR_INVALID, "%s", buf_str(&sentence));
	}
}

static void search_answer(
	const struct engines *engines, struct search *search, const struct engine *engine, const json_t *capabilities)
{
	struct err err = ERR_INIT;

	if (!engine)
		search_explain(engines, search, capabilities, &err);
	search->fn(search->data, engine, engine ? NULL : &err);
	search_free(search);
}

static void download_next(struct engines *engines);

/* Needs were already compared with what can be downloaded. A failed mirror does not matter for an address of the site.
 */
static bool can_download(const struct engines *engines, const struct search *search, const struct engine_choice *choice)
{
	if (search->needs)
		return choice->engine;
	return search->url ? downloads_named(engines->downloads, choice->engine)
			   : downloads_can(engines->downloads, choice->engine);
}

static void search_end(struct engines *engines, struct search *search, const struct texts *paths)
{
	json_auto_t *capabilities = all_capabilities(engines, paths);
	struct search **last = &engines->downloading;
	const struct engine *engine;
	struct engine_choice choice = search->choice;

	if (search->looked) {
		search->looked(search->data);
		search_free(search);
		return;
	}
	if (search->needs)
		capabilities_meet(capabilities, search->needs, &choice);
	engine = engine_chosen(engines, paths, &choice);
	if (engine || !can_download(engines, search, &choice) || search->failure.kind != ERR_NONE) {
		search_answer(engines, search, engine, capabilities);
		return;
	}
	search->choice = choice;
	while (*last)
		last = &(*last)->next;
	search->next = NULL;
	*last = search;
	download_next(engines);
}

/* The first binary whose version is not known yet, or NULL. */
static const char *first_unknown(struct engines *engines, const struct texts *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!known_find(engines, paths->items[i]))
			return paths->items[i];
	return NULL;
}

/* Records the version of a downloaded OPA by its name. Such a program is never started outside of a sandbox, because
 * only its checksum is known, from the mirror or the site, and no signature of its maker. */
static bool downloaded_opa_record(struct engines *engines, const char *path)
{
	_cleanup_(freep) char *prefix = mem_printf("%s/%s-", downloads_folder(engines->downloads), program_opa);
	_cleanup_(freep) char *says = NULL;

	if (!text_starts(path, prefix))
		return false;
	says = mem_printf("Version: %s", path + strlen(prefix));
	known_record(engines, path, says);
	return true;
}

static void searches_go_on(struct engines *engines)
{
	_cleanup_(texts_release) struct texts paths = {.items = NULL};
	struct err err = ERR_INIT;
	const char *unknown;

	paths_collect(engines, &paths);
	while ((unknown = first_unknown(engines, &paths))) {
		if (downloaded_opa_record(engines, unknown))
			continue;
		if (version_ask(engines, unknown, &err) == 0)
			return; /* version_came continues */
		known_record(engines, unknown, "");
	}
	while (engines->searches) {
		struct search *search = engines->searches;

		engines->searches = search->next;
		search_end(engines, search, &paths);
	}
}

static void search_add(struct engines *engines, struct search *search)
{
	search->next = engines->searches;
	engines->searches = search;
	if (!engines->asking)
		searches_go_on(engines);
}

static void search_begin(struct engines *engines, struct search search)
{
	struct search *item = mem_new(1, sizeof(*item));

	*item = search;
	search_add(engines, item);
}

/* ---- downloading ---- */

static bool is_choice(const struct search *search, const struct engine_choice *choice)
{
	return search->choice.engine == choice->engine && text_equal(search->choice.version, choice->version);
}

/* Repeats the searches for this engine, which then read the version of the binary. */
static void download_ended(void *data, const struct err *err)
{
	struct engines *engines = data;
	struct search *search, *ready = NULL;

	engines->busy = false;
	for (struct search **at = &engines->downloading; (search = *at);) {
		if (!is_choice(search, &engines->current)) {
			at = &search->next;
			continue;
		}
		*at = search->next;
		if (err)
			search->failure = *err;
		else
			err_set(&search->failure, ERR_INVALID, "the downloaded program is not that version");
		search->next = ready;
		ready = search;
	}
	while ((search = ready)) {
		ready = search->next;
		search_add(engines, search);
	}
	download_next(engines);
}

static void download_next(struct engines *engines)
{
	if (engines->busy || !engines->downloading)
		return;
	engines->busy = true;
	engines->current = engines->downloading->choice;
	downloads_get(engines->downloads,
		&(struct download_wanted){engines->current, engines->downloading->url, engines->downloading->sha},
		download_ended, engines);
}

void engines_leave(struct engines *engines, const void *data)
{
	struct search **at = &engines->downloading, *search;
	struct err err = ERR_INIT;

	while (*at && (*at)->data != data)
		at = &(*at)->next;
	search = *at;
	if (!search)
		return;
	*at = search->next;
	err_set(&err, ERR_INVALID, "%s %s was not downloaded in time", search->choice.engine, search->choice.version);
	search->fn(search->data, NULL, &err);
	search_free(search);
}

void engines_find(struct engines *engines, const char *needs, engine_fn fn, void *data)
{
	search_begin(engines, (struct search){.needs = mem_text(needs), .fn = fn, .data = data});
}

void engines_find_opa(struct engines *engines, const struct download_wanted *wanted, engine_fn fn, void *data)
{
	engines->finds_opa = true;
	search_begin(engines,
		(struct search){.choice = wanted->choice,
			.url = wanted->url ? mem_text(wanted->url) : NULL,
			.sha = wanted->sha ? mem_text(wanted->sha) : NULL,
			.fn = fn,
			.data = data});
}

void engines_look(struct engines *engines, loop_work_fn fn, void *data)
{
	search_begin(engines, (struct search){.looked = fn, .data = data});
}

json_t *engines_capabilities(struct engines *engines)
{
	_cleanup_(texts_release) struct texts paths = {.items = NULL};

	paths_collect(engines, &paths);
	return all_capabilities(engines, &paths);
}

struct engines *engines_new(const struct engines_spec *spec)
{
	struct engines *engines = mem_new(1, sizeof(*engines));

	engines->loop = spec->loop;
	engines->fixed = spec->fixed;
	engines->opa = spec->opa;
	engines->folder = spec->folder;
	engines->downloads = spec->downloads;
	return engines;
}

static void searches_free(struct search *search)
{
	while (search) {
		struct search *next = search->next;

		search_free(search);
		search = next;
	}
}

void engines_free(struct engines *engines)
{
	if (!engines)
		return;
	searches_free(engines->searches);
	searches_free(engines->downloading);
	for (size_t i = 0; i < engines->known_count; i++)
		free(engines->known[i].engine.path);
	if (engines->asking)
		close(engines->asking_out);
	loop_timer_clear(engines->loop, &engines->asked_timer);
	child_abandon(engines->asked);
	free(engines->asking);
	free(engines);
}
