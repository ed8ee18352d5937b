/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/sandbox/base.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "worker/exec/program.h"
#include "worker/sandbox/view.h"

enum { MAX_BASES = 32, ANSWER_SECONDS = 30, FDS_END = VIEW_BASE_FD + 1 };

struct base {
	char *key; /* base_key */
	int fd;
};

struct bases {
	struct loop *loop;
	const struct sandbox *sandbox;
	bool proven;                  /* a program was started in a base */
	bool failed;                  /* the last base could not be made, which the log says */
	bool unusable;                /* programs can't be started in a base */
	struct base items[MAX_BASES]; /* most recently used first */
	size_t count;
};

/* One base that a thread makes. */
struct making {
	struct bases *bases;
	char *key;
	struct texts argv; /* of runyard-sandbox */
	int user;          /* user namespace, or -1; owned */
	int fd;            /* the result, or -1 */
	bool tried;        /* starts a program in it, to test the machine */
	bool unusable;     /* ...which failed */
	struct err err;
	void (*ready)(void *data, int base);
	void *data;
};

/* Each program has a /tmp of its own, which would hide folders that the operator mounts below /tmp. */
static bool mounts_are_seen(const struct sandbox *sandbox)
{
	static const char hidden[] = "/tmp/";

	return !text_starts(sandbox->binds, hidden) && !strstr(sandbox->binds, ",/tmp/") &&
		!text_starts(text_or_empty(sandbox->trust), hidden) &&
		!text_starts(text_or_empty(sandbox->mirror), hidden);
}

/* ---- the cache ---- */

static void key_add_file(struct buf *key, const char *path)
{
	struct stat info;

	if (path && stat(path, &info) == 0)
		buf_printf(key, "%s %ju %ju %jd.%09ld\n", path, (uintmax_t)info.st_dev, (uintmax_t)info.st_ino,
			(intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* Names all that a base is made from and that can change. A user namespace's inode is not used again while a base in
 * it exists. */
static char *base_key(const struct sandbox *sandbox, const char *engine, int user)
{
	struct buf key = BUF_INIT(65536);
	_cleanup_(freep) char *binds = mem_text(sandbox->binds);
	char *rest = binds, *path;
	struct stat info = {.st_ino = 0};

	if (user >= 0)
		fstat(user, &info);
	buf_printf(&key, "%ju\n", (uintmax_t)info.st_ino);
	key_add_file(&key, engine);
	key_add_file(&key, sandbox->trust);
	key_add_file(&key, sandbox->hooks);
	while ((path = strsep(&rest, ",")))
		key_add_file(&key, *path ? path : NULL);
	return buf_take(&key);
}

static struct base base_remove(struct bases *bases, size_t at)
{
	struct base base = bases->items[at];

	bases->count--;
	memmove(bases->items + at, bases->items + at + 1, (bases->count - at) * sizeof(base));
	return base;
}

static void base_add(struct bases *bases, struct base base)
{
	if (bases->count == MAX_BASES) {
		struct base oldest = base_remove(bases, MAX_BASES - 1);

		free(oldest.key);
		close(oldest.fd);
	}
	memmove(bases->items + 1, bases->items, bases->count * sizeof(base));
	bases->items[0] = base;
	bases->count++;
}

/* Returns the base's descriptor, or -1. */
static int base_find(struct bases *bases, const char *key)
{
	for (size_t i = 0; i < bases->count; i++) {
		if (!text_equal(bases->items[i].key, key))
			continue;
		base_add(bases, base_remove(bases, i));
		return bases->items[0].fd;
	}
	return -1;
}

/* ---- in a thread ---- */

/* A memory file for what a program writes to its standard error. */
static int errors_open(void)
{
	_cleanup_(closep) int fd = memfd_create("errors", MFD_CLOEXEC);

	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FDS_END);
}

/* Appends it to the error. */
static int failed(int errors, struct err *err)
{
	char said[200];
	ssize_t got = pread(errors, said, sizeof(said) - 1, 0);

	said[got > 0 ? got : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (*said)
		err_context(err, "%s", said);
	return -1;
}

static int socket_receive(int fd, struct err *err)
{
	const struct timeval max = {.tv_sec = ANSWER_SECONDS};
	char byte;
	struct iovec bytes = {&byte, 1};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int base, high;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &max, sizeof(max));
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return err_set(err, ERR_INTERNAL, "bwrap made no file system");
	memcpy(&base, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(base));
	high = fcntl(base, F_DUPFD_CLOEXEC, FDS_END);
	close(base);
	return high < 0 ? err_errno(err, "the base") : high;
}

/* Returns the base. */
static int base_make(const struct making *making, struct err *err)
{
	_cleanup_(closep) int ours = -1, theirs = -1, errors = errors_open();
	int sockets[2], pid, base;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return err_errno(err, "socketpair");
	ours = sockets[0];
	theirs = fcntl(sockets[1], F_DUPFD_CLOEXEC, FDS_END);
	close(sockets[1]);
	pid = program_spawn(making->argv.items, (struct program_fds){errors, making->user, theirs}, err);
	if (pid < 0)
		return -1;
	closep(&theirs);
	base = socket_receive(ours, err);
	if (base < 0)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return base < 0 ? failed(errors, err) : base;
}

/* Starts a program in the base, to test the machine. */
static int base_try(const struct bases *bases, int base, struct err *err)
{
	char *const argv[] = {bases->sandbox->program, "run", "/usr/bin/true", NULL};
	const struct buf *filter = &bases->sandbox->filter;
	const struct view_header header = {.filter_bytes = (uint32_t)filter->len};
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(VIEW_MAX);
	_cleanup_(closep) int view = -1, high = -1, errors = errors_open();
	int pid, status = -1;

	buf_append(&bytes, &header, sizeof(header));
	buf_append(&bytes, filter->data, filter->len);
	if (memory_file("view", &bytes, &view, err) < 0 || (high = fcntl(view, F_DUPFD_CLOEXEC, FDS_END)) < 0)
		return -1;
	pid = program_spawn(argv, (struct program_fds){errors, high, base}, err);
	if (pid < 0)
		return -1;
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return 0;
	err_set(err, ERR_INTERNAL, "runyard-sandbox can't start a program");
	return failed(errors, err);
}

static void make(void *data)
{
	struct making *making = data;

	making->fd = base_make(making, &making->err);
	if (making->fd < 0) { /* exec/child.c kills children that it does not know after it lost a keeper */
		making->err = (struct err)ERR_INIT;
		making->fd = base_make(making, &making->err);
	}
	if (making->fd >= 0 && making->tried && base_try(making->bases, making->fd, &making->err) < 0) {
		close(making->fd);
		making->fd = -1;
		making->unusable = true;
	}
}

/* ---- in the loop ---- */

static void made(void *data)
{
	struct making making = *(struct making *)data;
	struct bases *bases = making.bases;

	free(data);
	texts_release(&making.argv);
	closep(&making.user);
	if (making.fd >= 0) {
		bases->proven = true;
		bases->failed = false;
		base_add(bases, (struct base){making.key, making.fd});
	} else {
		if (!bases->failed)
			log_warn("the file system of jobs can't be prepared, so bwrap starts each program, which takes "
				 "longer",
				"why", making.err.message, NULL);
		bases->failed = true;
		bases->unusable = bases->unusable || making.unusable;
		free(making.key);
	}
	making.ready(making.data, making.fd);
}

void bases_get(struct bases *bases, const char *engine, int user, void (*ready)(void *data, int base), void *data)
{
	struct making *making;
	char *key;
	int found;

	if (!bases->sandbox->bwrap || bases->unusable || !mounts_are_seen(bases->sandbox)) {
		ready(data, -1);
		return;
	}
	key = base_key(bases->sandbox, engine, user);
	found = base_find(bases, key);
	if (found >= 0) {
		free(key);
		ready(data, found);
		return;
	}
	making = mem_new(1, sizeof(*making));
	*making = (struct making){.bases = bases,
		.key = key,
		.user = user >= 0 ? fcntl(user, F_DUPFD_CLOEXEC, FDS_END) : -1,
		.fd = -1,
		.tried = !bases->proven,
		.ready = ready,
		.data = data};
	TEXTS_ADD(&making->argv, bases->sandbox->program, "make");
	sandbox_base_arguments(bases->sandbox, engine, &making->argv);
	loop_work(bases->loop, make, made, making);
}

struct bases *bases_new(struct loop *loop, const struct sandbox *sandbox)
{
	struct bases *bases = mem_new(1, sizeof(*bases));

	bases->loop = loop;
	bases->sandbox = sandbox;
	return bases;
}

void bases_free(struct bases *bases)
{
	if (!bases)
		return;
	while (bases->count) {
		struct base base = base_remove(bases, 0);

		free(base.key);
		close(base.fd);
	}
	free(bases);
}
