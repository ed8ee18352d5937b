/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/download.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "worker/exec/beneath.h"
#include "worker/exec/child.h"
#include "worker/exec/program.h"
#include "worker/packages/providers.h"

enum {
	SUMS_LIMIT = 1 << 20,
	ENGINE_LIMIT = 1 << 30, /* bytes, both of an archive and of the engine in it */
	STEP_MS = 10 * 60 * 1000,
	GPGV_MS = 60 * 1000,
	COOL_DOWN_MS = 5 * 60 * 1000,
	CHUNK = 256 * 1024,
};

static const char sums_name[] = "sums", signature_name[] = "sums.sig", archive_name[] = "archive.zip",
		  draft_name[] = "engine";

const char *const program_opa = "opa";

/* One maker's release site. */
struct site {
	const char *const *engine;
	const char *folder_prefix; /* prefix of a version's folder */
	const char *signature;     /* suffix of the signature's file name; NULL: the maker signs nothing, and the
				      program is not packed */
};

enum { SITES = 3 };

static const struct site sites[SITES] = {
	{&engine_terraform, "", ".sig"},
	{&engine_tofu, "v", ".gpgsig"},
	{&program_opa, "v", NULL},
};

struct downloads {
	struct downloads_spec spec;
	char *path, *part_path;
	int folder, part; /* part: holds the files of the current download */
	char *gpgv;       /* path, or NULL */
	int64_t failed_until_ms[SITES];

	/* the current download */
	size_t site;
	struct engine_choice choice;
	char *url;                 /* that the caller gave, or NULL */
	char sum[SHA256_HEX_SIZE]; /* checksum of the archive */
	int archive;               /* file, or -1 */
	struct fetch *fetch;
	struct child *child;
	struct loop_timer timer;
	struct err err;
	bool mirror_failed; /* the mirror failed; false: it lacks the version */
	download_fn fn;
	void *data;
};

static size_t site_of(const char *engine)
{
	size_t site = 0;

	while (site < SITES - 1 && !text_equal(*sites[site].engine, engine))
		site++;
	return site;
}

static const char *mirror_of(const struct downloads *downloads, size_t site)
{
	const char *const mirrors[SITES] = {
		downloads->spec.terraform_mirror, downloads->spec.tofu_mirror, downloads->spec.opa_mirror};

	return mirrors[site];
}

static bool is_signed(const struct downloads *downloads)
{
	return sites[downloads->site].signature;
}

static char *keyring_of(const struct downloads *downloads, size_t site)
{
	return mem_printf("%s/%s.gpg", downloads->spec.keys, *sites[site].engine);
}

const char *downloads_folder(const struct downloads *downloads)
{
	return downloads->path;
}

/* Whether the signatures of that maker can be checked, if there are any. */
static bool can_verify(const struct downloads *downloads, size_t site)
{
	_cleanup_(freep) char *keyring = keyring_of(downloads, site);

	return !sites[site].signature || (*downloads->spec.keys && downloads->gpgv && access(keyring, R_OK) == 0);
}

bool downloads_named(const struct downloads *downloads, const char *engine)
{
	return *mirror_of(downloads, site_of(engine));
}

bool downloads_can(const struct downloads *downloads, const char *engine)
{
	size_t site = site_of(engine);

	return *mirror_of(downloads, site) && clock_mono_ms() >= downloads->failed_until_ms[site] &&
		can_verify(downloads, site);
}

/* ---- the end ---- */

static void download_end(struct downloads *downloads)
{
	download_fn fn = downloads->fn;
	const struct err err = downloads->err;
	bool failed = err.kind != ERR_NONE;

	loop_timer_clear(downloads->spec.loop, &downloads->timer);
	closep(&downloads->archive);
	beneath_remove(downloads->part, sums_name);
	beneath_remove(downloads->part, signature_name);
	beneath_remove(downloads->part, archive_name);
	beneath_remove(downloads->part, draft_name);
	if (failed && downloads->mirror_failed && !downloads->url)
		downloads->failed_until_ms[downloads->site] = clock_mono_ms() + COOL_DOWN_MS;
	if (failed)
		log_warn("an engine can't be downloaded", "engine", downloads->choice.engine, "version",
			downloads->choice.version, "why", err.message, NULL);
	else
		log_info("engine downloaded", "engine", downloads->choice.engine, "version", downloads->choice.version,
			NULL);
	downloads->fn = NULL;
	fn(downloads->data, failed ? &err : NULL);
}

static void download_fail(struct downloads *downloads, bool mirror_failed, const char *why)
{
	if (downloads->err.kind == ERR_NONE)
		err_set(&downloads->err, ERR_INVALID, "%s", why);
	downloads->mirror_failed = mirror_failed;
	download_end(downloads);
}

/* ---- requests ---- */

/* The part of a file's name before its suffix: "terraform_1.11.4", or "opa". */
static char *file_stem(const struct downloads *downloads)
{
	const struct engine_choice *choice = &downloads->choice;

	return is_signed(downloads) ? mem_printf("%s_%s", choice->engine, choice->version) : mem_text(choice->engine);
}

/* The suffixes of the names of the program's file and of the file with its checksum. */
static char *archive_ending(const struct downloads *downloads)
{
	return mem_printf("_%s%s", providers_platform(), is_signed(downloads) ? ".zip" : "_static");
}

static char *sums_ending(const struct downloads *downloads)
{
	_cleanup_(freep) char *archive = archive_ending(downloads);

	return is_signed(downloads) ? mem_text("_SHA256SUMS") : mem_printf("%s.sha256", archive);
}

/* The URL of a file of the version, by its suffix. */
static char *file_url(const struct downloads *downloads, const char *ending)
{
	_cleanup_(freep) char *stem = file_stem(downloads);

	if (downloads->url)
		return mem_text(downloads->url);
	return mem_printf("%s/%s%s/%s%s", mirror_of(downloads, downloads->site), sites[downloads->site].folder_prefix,
		downloads->choice.version, stem, ending);
}

static void file_get(struct downloads *downloads, const char *ending, int fd, fetch_fn fn)
{
	_cleanup_(freep) char *url = file_url(downloads, ending);
	const struct fetch_request request = {.method = "GET",
		.url = url,
		.answer_fd = fd,
		.answer_limit = fd > 0 ? (size_t)ENGINE_LIMIT : (size_t)SUMS_LIMIT,
		.timeout_ms = STEP_MS,
		.redirects = true};

	downloads->fetch = fetch_start(downloads->spec.fetcher, &request, fn, downloads);
}

/* Returns false and ends the download if the answer is no success. */
static bool answer_check(struct downloads *downloads, const char *ending, const struct fetch_answer *answer)
{
	_cleanup_(freep) char *url = file_url(downloads, ending);
	_cleanup_(freep) char *shown = fetch_shown(url, false);

	downloads->fetch = NULL;
	if (answer->status == 200)
		return true;
	if (answer->status == 0)
		err_set(&downloads->err, ERR_INVALID, "no answer to %s: %s", shown,
			text_or_empty(answer->too_large ? "it is too large" : answer->error));
	else
		err_set(&downloads->err, ERR_INVALID, "status %d of %s", answer->status, shown);
	download_fail(downloads, answer->status != 404, "");
	return false;
}

/* ---- the archive ---- */

/* Unpacks the engine from the archive, whose checksum is signed. */
static int engine_unpack(struct downloads *downloads, struct archive *archive, int draft)
{
	struct archive_entry *entry;
	size_t size = 0;
	ssize_t got;

	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		_cleanup_(freep) char *chunk = NULL;

		if (!text_equal(archive_entry_pathname(entry), downloads->choice.engine))
			continue;
		chunk = mem_new(CHUNK, 1);
		while ((got = archive_read_data(archive, chunk, CHUNK)) > 0) {
			size += (size_t)got;
			if (size > ENGINE_LIMIT)
				return err_set(&downloads->err, ERR_TOO_LARGE, "the engine is too large");
			if (write(draft, chunk, (size_t)got) != got)
				return err_errno(&downloads->err, downloads->path);
		}
		if (got == 0 && size > 0)
			return 0;
		break;
	}
	return err_set(&downloads->err, ERR_INVALID, "the archive holds no %s", downloads->choice.engine);
}

static int engine_extract(struct downloads *downloads)
{
	_cleanup_(closep) int draft =
		beneath_open(downloads->part, draft_name, O_WRONLY | O_CREAT | O_TRUNC | O_EXCL, 0755);
	struct archive *archive = mem_check(archive_read_new());
	int status;

	if (draft < 0) {
		archive_read_free(archive);
		return err_errno(&downloads->err, downloads->path);
	}
	archive_read_support_format_zip(archive);
	lseek(downloads->archive, 0, SEEK_SET);
	if (archive_read_open_fd(archive, downloads->archive, CHUNK) != ARCHIVE_OK)
		status = err_set(&downloads->err, ERR_INVALID, "the archive can't be read");
	else
		status = engine_unpack(downloads, archive, draft);
	archive_read_free(archive);
	if (status == 0 && fsync(draft) < 0)
		return err_errno(&downloads->err, downloads->path);
	return status;
}

/* Makes the checked file, which is the program itself, executable. */
static int program_take(struct downloads *downloads)
{
	if (fchmod(downloads->archive, 0755) < 0 || fsync(downloads->archive) < 0 ||
		renameat(downloads->part, archive_name, downloads->part, draft_name) < 0)
		return err_errno(&downloads->err, downloads->path);
	return 0;
}

/* ---- room ---- */

/* Finds the engine that was downloaded first and that no job uses; "" if there is none. Returns the number of
 * engines. */
static size_t oldest_find(const struct downloads *downloads, char ret_name[NAME_MAX + 1])
{
	DIR *list = opendir(downloads->path);
	struct dirent *entry;
	struct stat info;
	time_t oldest = 0;
	size_t count = 0;

	*ret_name = '\0';
	while (list && (entry = readdir(list))) {
		_cleanup_(freep) char *path = mem_printf("%s/%s", downloads->path, entry->d_name);

		if (entry->d_name[0] == '.' || stat(path, &info) < 0 || !S_ISREG(info.st_mode))
			continue;
		count++;
		if ((!*ret_name || info.st_mtime < oldest) && !downloads->spec.in_use(downloads->spec.data, path)) {
			oldest = info.st_mtime;
			text_copy(ret_name, NAME_MAX + 1, entry->d_name);
		}
	}
	if (list)
		closedir(list);
	return count;
}

static int room_make(struct downloads *downloads)
{
	char oldest[NAME_MAX + 1];

	while (oldest_find(downloads, oldest) >= DOWNLOADS_MAX) {
		if (!*oldest)
			return err_set(&downloads->err, ERR_BUSY, "jobs use all %d downloaded engines: try again later",
				DOWNLOADS_MAX);
		log_info("a downloaded engine is removed to make room", "engine", oldest, NULL);
		if (unlinkat(downloads->folder, oldest, 0) < 0)
			return err_errno(&downloads->err, downloads->path);
	}
	return 0;
}

/* ---- the steps, in their order ---- */

static void archive_check(void *data)
{
	struct downloads *downloads = data;
	char sum[SHA256_HEX_SIZE];

	if (crypto_sha256_file(downloads->archive, sum) < 0)
		err_errno(&downloads->err, downloads->path);
	else if (text_equal(sum, downloads->sum))
		(void)(is_signed(downloads) ? engine_extract(downloads) : program_take(downloads));
	else if (is_signed(downloads))
		err_set(&downloads->err, ERR_INVALID, "the archive is not the one that the signed sums name");
	else
		err_set(&downloads->err, ERR_INVALID, "its SHA-256 is %s, and not %s, as %s says", sum, downloads->sum,
			downloads->url ? "the site" : "the mirror");
}

static void archive_checked(void *data)
{
	struct downloads *downloads = data;
	_cleanup_(freep) char *name = mem_printf("%s-%s", downloads->choice.engine, downloads->choice.version);

	if (downloads->err.kind == ERR_NONE && room_make(downloads) == 0 &&
		renameat(downloads->part, draft_name, downloads->folder, name) < 0)
		err_errno(&downloads->err, downloads->path);
	downloads->mirror_failed = downloads->err.kind == ERR_INVALID;
	download_end(downloads);
}

static void archive_came(void *data, struct fetch_answer *answer)
{
	struct downloads *downloads = data;
	_cleanup_(freep) char *ending = archive_ending(downloads);

	if (answer_check(downloads, ending, answer))
		loop_work(downloads->spec.loop, archive_check, archive_checked, downloads);
}

/* Finds the line "<sum>  terraform_1.11.4_linux_amd64.zip". */
static int sum_find(struct downloads *downloads)
{
	_cleanup_(buf_release) struct buf sums = BUF_INIT(SUMS_LIMIT);
	_cleanup_(freep) char *stem = file_stem(downloads);
	_cleanup_(freep) char *ending = archive_ending(downloads);
	_cleanup_(freep) char *name = mem_printf("%s%s", stem, ending);
	char *rest, *line;

	if (beneath_read(downloads->part, sums_name, &sums, &downloads->err) < 0)
		return -1;
	for (rest = sums.data; (line = strsep(&rest, "\r\n"));) {
		size_t len = strcspn(line, " ");

		if (len == SHA256_HEX_SIZE - 1 && text_equal(line + len + strspn(line + len, " *"), name)) {
			text_copy(downloads->sum, sizeof(downloads->sum), line);
			return 0;
		}
	}
	return err_set(&downloads->err, ERR_INVALID, "the maker has no %s", name);
}

static void archive_get(struct downloads *downloads)
{
	_cleanup_(freep) char *ending = archive_ending(downloads);

	downloads->archive = beneath_open(downloads->part, archive_name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (downloads->archive < 0) {
		err_errno(&downloads->err, downloads->path);
		download_end(downloads);
		return;
	}
	file_get(downloads, ending, downloads->archive, archive_came);
}

/* Continues with the checksum of the sums, which are not signed or whose signature is right. */
static void sums_use(struct downloads *downloads)
{
	if (sum_find(downloads) < 0)
		download_end(downloads);
	else
		archive_get(downloads);
}

static void gpgv_ended(void *data, const struct keeper_report *report)
{
	struct downloads *downloads = data;

	downloads->child = NULL;
	loop_timer_clear(downloads->spec.loop, &downloads->timer);
	if (report->why == KEEPER_ENDED && WIFEXITED(report->status) && WEXITSTATUS(report->status) == 0)
		sums_use(downloads);
	else
		download_fail(downloads, true, "the signature of the sums is not one of the maker's (--engine-keys)");
}

static void gpgv_late(void *data)
{
	struct downloads *downloads = data;

	child_kill(downloads->child);
}

static int gpgv_start(struct downloads *downloads)
{
	_cleanup_(freep) char *keyring = keyring_of(downloads, downloads->site);
	char *const argv[] = {downloads->gpgv, "--quiet", "--homedir", downloads->part_path, "--keyring", keyring,
		(char *)signature_name, (char *)sums_name, NULL};
	char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	const struct child_spec spec = {.ended = gpgv_ended,
		.data = downloads,
		.argv = argv,
		.env = env,
		.folder = downloads->part_path,
		.fds = {-1, -1, -1, -1, -1}};

	if (child_start(downloads->spec.loop, &spec, &downloads->child, &downloads->err) < 0)
		return -1;
	loop_timer_set(downloads->spec.loop, &downloads->timer, GPGV_MS, gpgv_late, downloads);
	return 0;
}

static int keep(struct downloads *downloads, const char *name, const struct buf *bytes)
{
	return beneath_write(downloads->part, name, 0600, buf_bytes(bytes), &downloads->err);
}

static void signature_came(void *data, struct fetch_answer *answer)
{
	struct downloads *downloads = data;
	_cleanup_(freep) char *ending = mem_printf("_SHA256SUMS%s", sites[downloads->site].signature);

	if (!answer_check(downloads, ending, answer))
		return;
	if (keep(downloads, signature_name, &answer->body) < 0 || gpgv_start(downloads) < 0)
		download_end(downloads);
}

static void signature_get(struct downloads *downloads)
{
	_cleanup_(freep) char *ending = mem_printf("_SHA256SUMS%s", sites[downloads->site].signature);

	file_get(downloads, ending, 0, signature_came);
}

static void sums_came(void *data, struct fetch_answer *answer)
{
	struct downloads *downloads = data;
	_cleanup_(freep) char *ending = sums_ending(downloads);

	if (!answer_check(downloads, ending, answer))
		return;
	if (keep(downloads, sums_name, &answer->body) < 0)
		download_end(downloads);
	else if (is_signed(downloads))
		signature_get(downloads);
	else
		sums_use(downloads);
}

void downloads_get(struct downloads *downloads, const struct download_wanted *wanted, download_fn fn, void *data)
{
	_cleanup_(freep) char *ending = NULL;

	downloads->choice = wanted->choice;
	downloads->site = site_of(wanted->choice.engine);
	free(downloads->url);
	downloads->url = wanted->url ? mem_text(wanted->url) : NULL;
	downloads->err = (struct err)ERR_INIT;
	downloads->mirror_failed = false;
	downloads->fn = fn;
	downloads->data = data;
	ending = sums_ending(downloads);
	if (downloads->url) {
		text_copy(downloads->sum, sizeof(downloads->sum), wanted->sha);
		archive_get(downloads);
	} else {
		file_get(downloads, ending, 0, sums_came);
	}
}

/* ---- the whole ---- */

int downloads_open(const struct downloads_spec *spec, struct downloads **ret_downloads, struct err *err)
{
	struct downloads *downloads = mem_new(1, sizeof(*downloads));

	downloads->spec = *spec;
	downloads->archive = -1;
	downloads->path = mem_printf("%s/engines", spec->data_dir);
	downloads->part_path = mem_printf("%s/.part", downloads->path);
	downloads->gpgv = program_find("gpgv", "/usr/bin");
	mkdir(downloads->path, 0755);
	downloads->folder = open(downloads->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (downloads->folder >= 0)
		beneath_remove(downloads->folder, ".part");
	mkdir(downloads->part_path, 0700);
	downloads->part = open(downloads->part_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (downloads->folder < 0 || downloads->part < 0) {
		err_errno(err, downloads->path);
		downloads_free(downloads);
		return -1;
	}
	*ret_downloads = downloads;
	return 0;
}

void downloads_stop(struct downloads *downloads)
{
	if (!downloads)
		return;
	fetch_abort(downloads->fetch);
	child_abandon(downloads->child);
	loop_timer_clear(downloads->spec.loop, &downloads->timer);
}

void downloads_free(struct downloads *downloads)
{
	if (!downloads)
		return;
	closep(&downloads->archive);
	closep(&downloads->part);
	closep(&downloads->folder);
	free(downloads->url);
	free(downloads->gpgv);
	free(downloads->part_path);
	free(downloads->path);
	free(downloads);
}
