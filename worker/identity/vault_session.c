/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/identity/vault_session.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/loop/loop.h"
#include "worker/exec/child.h"
#include "worker/exec/sandbox.h"
#include "worker/identity/vault_order.h"

enum { CHUNK = 64 * 1024, MAX_ALL = 64 * 1024 * 1024, MAX_SAID = 2048 };

struct vault_session {
	struct loop *loop;
	struct child *child;
	int output;      /* read end, or -1 */
	struct buf line; /* the incomplete last line */
	size_t total;    /* bytes read */
	struct buf said;
	bool outlives;
	struct loop_timer timer;
	void (*event)(void *data, const json_t *event);
	void (*ended)(void *data, enum keeper_why why, const char *said);
	void *data;
};

static void session_kill(struct vault_session *session)
{
	if (session->child)
		child_kill(session->child);
}

/* ---- output ---- */

static void line_came(struct vault_session *session, const char *line, size_t len)
{
	json_auto_t *event = NULL;
	struct err err = ERR_INIT;

	if (len > 0 && *line == '{' && json_parse(line, len, &event, &err) == 0) {
		session->event(session->data, event);
		return;
	}
	if (buf_append(&session->said, line, len) == 0)
		buf_text(&session->said, " ");
}

static void lines_take(struct vault_session *session)
{
	char *end;

	while ((end = memchr(session->line.data, '\n', session->line.len))) {
		size_t len = (size_t)(end - session->line.data);

		line_came(session, session->line.data, len);
		buf_consume(&session->line, len + 1);
	}
}

static void output_close(struct vault_session *session)
{
	if (session->output < 0)
		return;
	loop_unwatch(session->loop, session->output);
	closep(&session->output);
}

/* A program that writes too much is killed. False if there is nothing more to read now. */
static bool output_read(struct vault_session *session)
{
	char chunk[CHUNK];
	ssize_t got = read(session->output, chunk, sizeof(chunk));

	if (got == 0)
		output_close(session);
	if (got <= 0)
		return false;
	session->total += (size_t)got;
	if (session->total > MAX_ALL || buf_append(&session->line, chunk, (size_t)got) < 0) {
		output_close(session);
		session_kill(session);
		return false;
	}
	lines_take(session);
	return session->output >= 0;
}

static void output_came(void *data, int fd, unsigned events)
{
	(void)fd;
	(void)events;
	output_read(data);
}

/* ---- the end ---- */

static void release(struct vault_session *session)
{
	loop_timer_clear(session->loop, &session->timer);
	output_close(session);
	if (session->line.len)
		explicit_bzero(session->line.data, session->line.len);
	buf_release(&session->line);
	buf_release(&session->said);
	free(session);
}

/* Runs when all processes are gone, so the pipe has the rest of the output. */
static void program_ended(void *data, const struct keeper_report *report)
{
	struct vault_session *session = data;

	session->child = NULL;
	while (session->output >= 0 && output_read(session))
		;
	session->ended(session->data, report->why, buf_str(&session->said));
	release(session);
}

static void finished_late(void *data)
{
	session_kill(data);
}

void vault_session_finish(struct vault_session *session, int64_t kill_ms)
{
	if (!session->child)
		return;
	child_interrupt(session->child);
	if (!session->timer.due_ms || session->timer.due_ms > clock_mono_ms() + kill_ms)
		loop_timer_set(session->loop, &session->timer, kill_ms, finished_late, session);
}

void vault_session_free(struct vault_session *session)
{
	if (!session)
		return;
	child_abandon(session->child);
	release(session);
}

/* ---- the start ---- */

static int input_make(const char *order, int *ret_fd, struct err *err)
{
	_cleanup_(closep) int fd = -1;
	const struct buf bytes = {.data = (char *)order, .len = strlen(order)};

	if (memory_file("order", &bytes, &fd, err) < 0)
		return -1;
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret_fd < 0 ? err_errno(err, "dup") : 0;
}

static int start(struct vault_session *session, const struct vault_session_spec *spec, int out, struct err *err)
{
	const struct sandbox_start *prepared = spec->start;
	_cleanup_(closep) int in = -1;
	struct child_spec child = {
		.ended = program_ended,
		.data = session,
		.argv = prepared->argv.items,
		.env = prepared->env.items ? prepared->env.items : (char *[]){NULL},
		.folder = prepared->folder,
		.network = spec->network,
		.terms = spec->terms,
	};

	if (input_make(spec->order, &in, err) < 0)
		return -1;
	memcpy(child.fds, (int[CHILD_MAX_FDS]){in, out, out, prepared->args_fd, prepared->second_fd},
		sizeof(child.fds));
	return child_start(session->loop, &child, &session->child, err);
}

int vault_session_open(const struct vault_session_spec *spec, struct vault_session **ret_session, struct err *err)
{
	struct vault_session *session = mem_new(1, sizeof(*session));
	_cleanup_(closep) int out = -1;
	int pipe_fds[2];

	*session = (struct vault_session){.loop = spec->loop,
		.output = -1,
		.line = BUF_INIT(MAX_VAULT_EVENT),
		.said = BUF_INIT(MAX_SAID),
		.event = spec->event,
		.ended = spec->ended,
		.data = spec->data};
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		release(session);
		return err_errno(err, "pipe");
	}
	out = pipe_fds[1];
	session->output = pipe_fds[0];
	fcntl(session->output, F_SETFL, O_NONBLOCK);
	loop_watch(session->loop, session->output, EPOLLIN, output_came, session);
	if (start(session, spec, out, err) < 0) {
		release(session);
		return -1;
	}
	*ret_session = session;
	return 0;
}

struct child *vault_session_child(const struct vault_session *session)
{
	return session->child;
}

void vault_session_renew(struct vault_session *session, const struct keeper_lease *lease)
{
	if (session->child && !session->outlives)
		child_renew(session->child, lease);
}

void vault_session_outlive(struct vault_session *session)
{
	vault_session_renew(session, &(struct keeper_lease){0});
	session->outlives = true;
}
