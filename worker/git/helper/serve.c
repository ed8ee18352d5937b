/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/guard.h"
#include "worker/git/helper/helper.h"
#include "worker/git/helper/proxy.h"
#include "worker/git/records.h"
#include "worker/git/remote.h"
#include "worker/git/upstream.h"

/* The role outside of the sandbox: the proxy, and the sandbox's parent. */

enum { MESSAGE_MAX = REMOTE_URL_MAX + 2, ROUND_MS = 1000, RESULT_MAX = 4096 };

/* The order is in the worker's memory file, which no program gets. */
static int order_read(struct buf *order)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (buf_read(order, STDIN_FILENO) < 0 || null < 0)
		return -1;
	dup2(null, STDIN_FILENO);
	close(null);
	return 0;
}

static int program_start(char *const *program, int theirs, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, theirs, STDIN_FILENO);
	code = posix_spawn(ret_pid, program[0], &actions, NULL, program, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

/* The descriptor in the message, or -1. */
static int message_fd(struct msghdr *message)
{
	const struct cmsghdr *part = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
		part->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

struct serving {
	struct proxy *proxy;
	struct upstreams upstreams;
};

static void remote_permit(struct serving *serving, const struct remote *remote)
{
	proxy_permit(serving->proxy, remote->host, remote->port,
		upstream_for(&serving->upstreams, remote->scheme, remote->host, remote->port));
}

/* False at the end of the sandbox. */
static bool message_came(struct serving *serving, int control)
{
	char bytes[MESSAGE_MAX], room[CMSG_SPACE(sizeof(int))];
	struct iovec part = {bytes, sizeof(bytes) - 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	ssize_t got = recvmsg(control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct remote remote;
	int fd;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	bytes[got] = '\0';
	fd = message_fd(&message);
	if (fd >= 0 && *bytes == HELPER_LISTENS)
		proxy_listen(serving->proxy, fd);
	else
		closep(&fd);
	if (*bytes == HELPER_URL && remote_parse(bytes + 1, &remote))
		remote_permit(serving, &remote);
	return true;
}

static void proxy_run(struct serving *serving, int control)
{
	struct proxy *proxy = serving->proxy;
	struct pollfd fds[PROXY_FDS + 1];
	size_t count;

	do {
		count = proxy_poll(proxy, fds);
		fds[count] = (struct pollfd){.fd = control, .events = POLLIN};
		if (poll(fds, (nfds_t)count + 1, ROUND_MS) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		proxy_polled(proxy, fds);
	} while (!proxy_result(proxy)->exceeded && (!fds[count].revents || message_came(serving, control)));
}

static int program_end(pid_t pid, bool kill_it)
{
	int status = 0;

	if (kill_it)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Follows what the sandbox has written. */
static void result_write(const struct proxy_result *result)
{
	_cleanup_(buf_release) struct buf records = BUF_INIT(RESULT_MAX);

	if (result->exceeded)
		record_add(&records, "exceeded", "1");
	if (*result->refused)
		record_add(&records, "refused", result->refused);
	if (*result->failed)
		record_add(&records, "unreachable", result->failed);
	(void)!write(STDOUT_FILENO, buf_str(&records), records.len);
}

/* Sends the sandbox the order without the logins of the operator's proxies. */
static int order_send(struct bytes order, int control)
{
	_cleanup_(buf_release) struct buf theirs = BUF_INIT(ORDER_MAX);
	struct record record;
	int status;

	for (size_t at = 0; record_next(order, &at, &record);)
		if (!text_equal(record.name, UPSTREAM_HTTPS) && !text_equal(record.name, UPSTREAM_HTTP))
			record_add(&theirs, record.name, record.value);
	status = send(control, theirs.data, theirs.len, MSG_NOSIGNAL) == (ssize_t)theirs.len ? 0 : -1;
	explicit_bzero(theirs.data, theirs.len);
	return status;
}

static int serve(char *const *program, const struct buf *order, const struct guard *guard)
{
	struct bytes records = buf_bytes(order);
	struct serving serving = {.upstreams = upstreams_read(records)};
	long long limit = 0;
	struct remote remote;
	int sockets[2], status;
	pid_t pid;

	text_number(record_value(records, "max-bytes"), 0, INT64_MAX / 2, &limit);
	if (!remote_parse(record_value(records, "url"), &remote) ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0 ||
		program_start(program, sockets[1], &pid) != 0) {
		fprintf(stderr, "git can't be started\n");
		return 1;
	}
	close(sockets[1]);
	serving.proxy = proxy_new(guard, limit);
	remote_permit(&serving, &remote);
	if (order_send(records, sockets[0]) == 0)
		proxy_run(&serving, sockets[0]);
	status = program_end(pid, proxy_result(serving.proxy)->exceeded);
	result_write(proxy_result(serving.proxy));
	proxy_free(serving.proxy);
	return status;
}

int helper_serve(char *const *program)
{
	_cleanup_(buf_release) struct buf order = BUF_INIT(ORDER_MAX);
	struct err err = ERR_INIT;
	struct guard *guard = NULL;
	int status;

	if (order_read(&order) < 0 || guard_parse(record_value(buf_bytes(&order), "vcs-allow"), &guard, &err) < 0) {
		fprintf(stderr, "the order can't be read\n");
		return 1;
	}
	status = serve(program, &order, guard);
	explicit_bzero(order.data, order.len);
	guard_free(guard);
	return status;
}
