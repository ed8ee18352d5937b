/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/leftover.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json/json.h"
#include "common/log.h"
#include "common/terraform/state_text.h"
#include "worker/exec/beneath.h"
#include "worker/exec/workdir.h"
#include "worker/limits/quota.h"

enum { NOTE_LIMIT = 4096 };

static const char usual[] = "root/" WORKDIR_STATE;
static const char errored[] = LEFTOVER_ERRORED; /* in the job's folder, where the job has no access */
static const char delivered[] = "delivered";

/* ---- identity of a state ---- */

static bool lineage_plausible(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) || (text[len] && strchr("-_.", text[len])))
		len++;
	return !text[len] && len < LINEAGE_SIZE;
}

/* Scans the state, and does not parse it: it is a job's, and parsed it could take a hundred times its size. */
bool state_facts_read(const char *bytes, size_t len, struct state_facts *ret_facts)
{
	struct json_member members[] = {{.name = "serial"}, {.name = "lineage"}};
	json_auto_t *serial = NULL, *lineage = NULL;
	long long number;

	while (len > 0 && strchr(" \t\r\n", bytes[len - 1]))
		len--;
	if (len == 0 || bytes[len - 1] != '}') /* half-written, as usual: skips the scan */
		return false;
	if (json_scan_members((struct json_span){bytes, len}, members, ARRAY_LEN(members)) < 0)
		return false;
	serial = json_of_scalar(members[0].value, NOTE_LIMIT);
	if (json_whole(serial, 0, JSON_WHOLE_MAX, &number) < 0)
		return false;
	*ret_facts = (struct state_facts){.serial = number};
	lineage = json_of_scalar(members[1].value, NOTE_LIMIT);
	if (lineage_plausible(text_or_empty(json_string_value(lineage))))
		text_copy(ret_facts->lineage, sizeof(ret_facts->lineage), json_string_value(lineage));
	return true;
}

/* ---- the last state ---- */

/* A job can leave anything in place of its state. */
static bool is_regular(int fd, off_t *ret_size)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		return false;
	if (ret_size)
		*ret_size = info.st_size;
	return true;
}

static const char *last_path(int top)
{
	return faccessat(top, errored, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? errored : usual;
}

/* Sets only the digest of the facts. */
static int file_read(int top, const char *path, struct buf *ret_bytes, struct state_facts *ret_facts, struct err *err)
{
	if (beneath_read(top, path, ret_bytes, err) < 0)
		return -1;
	crypto_sha256_hex(buf_str(ret_bytes), ret_bytes->len, ret_facts->digest);
	return 0;
}

/* Sets the other facts. False if the state is not complete. */
static bool facts_add(const struct buf *bytes, struct state_facts *facts)
{
	struct state_facts read;

	if (!state_facts_read(buf_str(bytes), bytes->len, &read))
		return false;
	text_copy(read.digest, sizeof(read.digest), facts->digest);
	*facts = read;
	return true;
}

int leftover_bytes(int top, struct buf *ret_bytes)
{
	struct err err = ERR_INIT;

	return beneath_read(top, last_path(top), ret_bytes, &err);
}

int leftover_read(int top, struct buf *ret_bytes, struct state_facts *ret_facts)
{
	struct err why = ERR_INIT;

	return leftover_compare(top, NULL, ret_bytes, ret_facts, &why) == LEFTOVER_CHANGED ? 0 : -1;
}

static void say_unreadable(const struct err *found, struct err *why)
{
	if (found->kind == ERR_TOO_LARGE)
		err_set(why, ERR_TOO_LARGE, "the state is larger than %d MiB, the most that the scheduler takes",
			MAX_STATE_BYTES >> 20);
	else
		err_set(why, found->kind, "the state's file can't be read: %s", found->message);
}

enum leftover leftover_compare(
	int top, const char *digest, struct buf *ret_bytes, struct state_facts *ret_facts, struct err *why)
{
	_cleanup_(buf_release) struct buf own = BUF_INIT(MAX_STATE_BYTES);
	struct buf *bytes = ret_bytes ? ret_bytes : &own;
	const char *path = last_path(top);
	struct err found = ERR_INIT;

	*ret_facts = (struct state_facts){.serial = 0};
	if (file_read(top, path, bytes, ret_facts, &found) < 0) {
		if (found.kind == ERR_NOT_FOUND)
			return LEFTOVER_NONE;
		say_unreadable(&found, why);
		return LEFTOVER_UNREADABLE;
	}
	if (!bytes->len && path == usual && !*text_or_empty(digest)) {
		*ret_facts = (struct state_facts){.serial = 0};
		return LEFTOVER_NONE;
	}
	if (text_equal(ret_facts->digest, digest))
		return LEFTOVER_KNOWN;
	if (facts_add(bytes, ret_facts))
		return LEFTOVER_CHANGED;
	err_set(why, ERR_INVALID, "the state's file holds no whole state");
	return LEFTOVER_UNREADABLE;
}

bool leftover_undelivered(int top)
{
	struct state_facts last, known;
	struct err why = ERR_INIT;
	enum leftover found;

	delivered_read(top, &known);
	found = leftover_compare(top, known.digest, NULL, &last, &why);
	return found == LEFTOVER_CHANGED || found == LEFTOVER_UNREADABLE;
}

/* The facts of the previous state: read from the file as far as possible, else those that the scheduler has. */
static void before_read(int top, struct state_facts *ret_facts)
{
	if (leftover_read(top, NULL, ret_facts) < 0)
		delivered_read(top, ret_facts);
}

static void lineage_choose(struct state_facts *facts, const struct state_facts *before)
{
	unsigned char bytes[16];

	if (*before->lineage)
		text_copy(facts->lineage, sizeof(facts->lineage), before->lineage);
	if (*facts->lineage)
		return;
	crypto_random(bytes, sizeof(bytes));
	crypto_hex(bytes, sizeof(bytes), facts->lineage);
}

static int errored_write(int top, const struct buf *state, struct err *err)
{
	_cleanup_(closep) int fd = -1;

	if (beneath_write(top, LEFTOVER_PART, 0600, buf_bytes(state), err) < 0)
		return -1;
	fd = beneath_open(top, LEFTOVER_PART, O_RDONLY, 0);
	if (fd < 0 || fsync(fd) < 0 || renameat(top, LEFTOVER_PART, top, errored) < 0 || fsync(top) < 0)
		return err_errno(err, errored);
	return 0;
}

static int errored_take(int top, const struct buf *state, struct state_facts *facts, struct err *err)
{
	_cleanup_(buf_release) struct buf numbered = BUF_INIT(MAX_STATE_BYTES), whole = BUF_INIT(MAX_STATE_BYTES);
	struct state_facts before;

	before_read(top, &before);
	lineage_choose(facts, &before);
	if (*before.digest && facts->serial <= before.serial)
		facts->serial = before.serial + 1;
	if (state_renumber(buf_str(state), state->len, facts->serial, &numbered) < 0 ||
		state_relineage(buf_str(&numbered), numbered.len, facts->lineage, &whole) < 0)
		return err_set(err, ERR_INVALID, "%s is no state", errored);
	return errored_write(top, &whole, err);
}

/* Keeps a file that can't be used in the place of the last state, so that the last state counts as unreadable.
 * Anything but a regular file is replaced by an empty file. */
static void errored_keep(int top, const char *folder)
{
	_cleanup_(freep) char *from = mem_printf("root/%s", folder), *path = mem_printf("%s/%s", from, errored);
	_cleanup_(closep) int at = beneath_open(top, from, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_(closep) int fd = beneath_open(top, path, O_RDONLY, 0);
	struct err err = ERR_INIT;

	if (at >= 0 && is_regular(fd, NULL) && renameat(at, errored, top, errored) == 0)
		return;
	if (beneath_write(top, errored, 0600, text_bytes(""), &err) < 0)
		log_error("a state that can't be read can't be kept", "error", err.message, NULL);
}

void leftover_errored(int top, const char *folder)
{
	_cleanup_(freep) char *path = mem_printf("root/%s/%s", folder, errored);
	_cleanup_(buf_release) struct buf state = BUF_INIT(MAX_STATE_BYTES);
	struct state_facts facts = {.serial = 0};
	struct err err = ERR_INIT;

	if (file_read(top, path, &state, &facts, &err) < 0 && err.kind == ERR_NOT_FOUND)
		return;
	if (err.kind == ERR_NONE && !state.len)
		return; /* the reserve, which terraform did not need */
	if (err.kind == ERR_NONE && !facts_add(&state, &facts))
		err_set(&err, ERR_INVALID, "%s holds no whole state", errored);
	if (err.kind == ERR_NONE && errored_take(top, &state, &facts, &err) == 0) {
		log_warn(
			"terraform could not save its state where it belongs; what it left instead is delivered", NULL);
		return;
	}
	log_error("a state that terraform could not save can't be delivered", "error", err.message, NULL);
	errored_keep(top, folder);
}

/* Writes an empty file as a marker that there was a state. */
static int marker_write(int folder, const char *name)
{
	struct err err = ERR_INIT;

	return beneath_write(folder, name, 0600, text_bytes(""), &err) < 0 ? -1 : fsync(folder);
}

int leftover_move(int top, int folder, const char *name)
{
	const char *path = last_path(top);
	_cleanup_(closep) int fd = beneath_open(top, path, O_RDONLY, 0);
	off_t size = 0;

	if (fd < 0 && errno == ENOENT)
		return -1;
	if (!is_regular(fd, &size) || size > LEFTOVER_MAX)
		return marker_write(folder, name);
	quota_follow(&quota_kernel, fd, folder);
	if (fsync(fd) < 0 || renameat(top, path, folder, name) < 0)
		return -1;
	return fsync(folder);
}

/* ---- delivered states ---- */

/* Rewrites the record in place. If the worker dies before the write, no delivered state is known, and the next worker
 * sends the state again. */
void delivered_write(int top, const struct state_facts *facts)
{
	json_auto_t *note = json_pack(
		"{ss sI ss}", "digest", facts->digest, "serial", (json_int_t)facts->serial, "lineage", facts->lineage);
	_cleanup_(freep) char *text = json_text(note);
	_cleanup_(closep) int fd = beneath_open(top, delivered, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write_fully(fd, text, strlen(text)) < 0)
		log_warn("what was delivered can't be noted", "why", strerror(errno), NULL);
}

void delivered_read(int top, struct state_facts *ret_facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(NOTE_LIMIT);
	json_auto_t *note = NULL;
	struct err err = ERR_INIT;

	*ret_facts = (struct state_facts){.serial = 0};
	if (beneath_read(top, delivered, &text, &err) < 0 || json_parse(buf_str(&text), text.len, &note, &err) < 0)
		return;
	text_copy(ret_facts->digest, sizeof(ret_facts->digest), json_string_at(note, "digest"));
	text_copy(ret_facts->lineage, sizeof(ret_facts->lineage), json_string_at(note, "lineage"));
	ret_facts->serial = json_int_at(note, "serial", 0);
}
