/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/process.h"
#include "scheduler/helper/wire.h"

enum {
	WAIT_MS = 1000,  /* until the helper is free: the threads that wait serve other requests, too */
	MAX_WAITING = 8, /* requests */
};

struct helper {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	bool busy; /* a request is under way: its thread alone uses the members below */
	int waiting;
	const struct helper_spec *spec;
	char *program;
	pid_t pid; /* 0: none */
	int fd;    /* -1: none */
};

/* ---- the process ---- */

static void process_end(struct helper *helper)
{
	closep(&helper->fd);
	if (!helper->pid)
		return;
	kill(helper->pid, SIGKILL);
	while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	helper->pid = 0;
}

static int process_spawn(struct helper *helper, int socket)
{
	char *const arguments[] = {helper->program, NULL}, *const environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int code;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	code = posix_spawn(&helper->pid, helper->program, &actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

static void process_start(struct helper *helper)
{
	int sockets[2], code;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0) {
		log_warn("a helper can't be connected", "program", helper->program, "error", strerror(errno), NULL);
		return;
	}
	code = process_spawn(helper, sockets[1]);
	close(sockets[1]);
	helper->fd = sockets[0];
	if (code == 0)
		return;
	helper->pid = 0;
	closep(&helper->fd);
	log_warn("a helper can't be started", "program", helper->program, "error", strerror(code), NULL);
}

/* Between requests the helper says nothing: what can be read is the end of the connection. */
static bool process_is_there(const struct helper *helper)
{
	struct pollfd fd = {.fd = helper->fd, .events = POLLIN};

	return helper->fd >= 0 && poll(&fd, 1, 0) == 0;
}

struct helper *helper_new(const struct helper_spec *spec)
{
	struct helper *helper = mem_new(1, sizeof(*helper));
	pthread_condattr_t attributes;

	pthread_mutex_init(&helper->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&helper->freed, &attributes);
	pthread_condattr_destroy(&attributes);
	helper->spec = spec;
	helper->program = process_helper(spec->program);
	helper->fd = -1;
	process_start(helper);
	return helper;
}

void helper_free(struct helper *helper)
{
	if (!helper)
		return;
	process_end(helper);
	pthread_cond_destroy(&helper->freed);
	pthread_mutex_destroy(&helper->lock);
	free(helper->program);
	free(helper);
}

/* ---- one request ---- */

/* Waits until the socket is ready. False at the deadline. */
static bool ready_wait(int fd, short events, int64_t deadline)
{
	struct pollfd wanted = {.fd = fd, .events = events};
	int64_t left = deadline - clock_mono_ms();

	return left > 0 && poll(&wanted, 1, (int)left) > 0;
}

/* Sends (POLLOUT) or receives (POLLIN) all of the bytes. */
static int transfer(int fd, short event, char *bytes, size_t len, int64_t deadline)
{
	while (len) {
		ssize_t count = event == POLLOUT ? send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT)
						 : recv(fd, bytes, len, MSG_DONTWAIT);

		if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (!ready_wait(fd, event, deadline))
				return -1;
			continue;
		}
		if (count <= 0)
			return -1;
		bytes += count;
		len -= (size_t)count;
	}
	return 0;
}

static int request_send(const struct helper *helper, const json_t *request, int64_t deadline)
{
	size_t len = 0;
	char *text = json_text_len(request, &len), head[WIRE_HEAD];
	int result = -1;

	wire_head_write(head, len);
	if (len <= WIRE_MAX && transfer(helper->fd, POLLOUT, head, sizeof(head), deadline) == 0)
		result = transfer(helper->fd, POLLOUT, text, len, deadline);
	OPENSSL_cleanse(text, len); /* it may have a private key */
	free(text);
	return result;
}

static int answer_receive(const struct helper *helper, json_t **ret_answer, int64_t deadline)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(WIRE_MAX);
	struct err ignored = ERR_INIT;
	char head[WIRE_HEAD];
	size_t len;

	if (transfer(helper->fd, POLLIN, head, sizeof(head), deadline) < 0)
		return -1;
	len = wire_head_read(head);
	if (buf_grow(&text, len) < 0 || transfer(helper->fd, POLLIN, text.data, len, deadline) < 0)
		return -1;
	return json_parse(text.data, len, ret_answer, &ignored);
}

static void process_restart(struct helper *helper)
{
	process_end(helper);
	process_start(helper);
}

/* A process that has ended is replaced once: nothing depends on an earlier request. */
static int exchange(struct helper *helper, const json_t *request, json_t **ret_answer, struct err *err)
{
	int64_t deadline = clock_mono_ms() + helper->spec->seconds * 1000;

	if (!process_is_there(helper))
		process_restart(helper);
	for (int tries = 0; tries < 2; tries++) {
		if (helper->fd >= 0 && request_send(helper, request, deadline) == 0 &&
			answer_receive(helper, ret_answer, deadline) == 0)
			return 0;
		log_warn("a helper did not answer, and is started again", "program", helper->program, "operation",
			json_string_at(request, "do"), NULL);
		process_restart(helper);
		if (clock_mono_ms() >= deadline)
			break;
	}
	return err_set(err, ERR_UNAVAILABLE, "%s", helper->spec->unavailable);
}

/* Waits until no other request is under way. */
static int helper_take(struct helper *helper, struct err *err)
{
	struct timespec until;
	int code = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_MS / 1000;
	pthread_mutex_lock(&helper->lock);
	if (helper->busy && helper->waiting >= MAX_WAITING)
		code = EBUSY;
	helper->waiting++;
	while (helper->busy && code == 0)
		code = pthread_cond_timedwait(&helper->freed, &helper->lock, &until);
	helper->waiting--;
	if (!helper->busy)
		code = 0;
	if (code == 0)
		helper->busy = true;
	pthread_mutex_unlock(&helper->lock);
	return code == 0 ? 0 : err_set(err, ERR_UNAVAILABLE, "%s", helper->spec->busy);
}

static void helper_release(struct helper *helper)
{
	pthread_mutex_lock(&helper->lock);
	helper->busy = false;
	pthread_cond_signal(&helper->freed);
	pthread_mutex_unlock(&helper->lock);
}

static int answer_take(const json_t *message, json_t **ret_answer, struct err *err)
{
	const char *refused = json_string_at(message, "refused"), *failed = json_string_at(message, "failed");
	json_t *answer = json_object_get(message, "answer");

	if (refused)
		return err_set(err, ERR_INVALID, "%s", refused);
	if (failed || !answer)
		return err_set(err, ERR_CONFLICT, "%s", failed ? failed : "the helper gave no answer");
	*ret_answer = json_incref(answer);
	return 0;
}

int helper_ask(struct helper *helper, json_t *request, json_t **ret_answer, struct err *err)
{
	json_auto_t *taken = request, *message = NULL;
	int result;

	if (helper_take(helper, err) < 0)
		return -1;
	result = exchange(helper, taken, &message, err);
	helper_release(helper);
	return result < 0 ? -1 : answer_take(message, ret_answer, err);
}
