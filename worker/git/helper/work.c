/* SPDX-License-Identifier: MPL-2.0 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/git/helper/helper.h"
#include "worker/git/helper/run.h"

/* The role in the sandbox. */

enum { BACKLOG = 16, RESULT_MAX = 48 << 20 };

/* The sandbox's network has nothing but this socket. The proxy, outside, accepts its connections. */
static int proxy_offer(int *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char kind = HELPER_LISTENS, room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&kind, 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *own = CMSG_FIRSTHDR(&message);
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -1;
	own->cmsg_level = SOL_SOCKET;
	own->cmsg_type = SCM_RIGHTS;
	own->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(own), &fd, sizeof(fd));
	*ret_port = ntohs(address.sin_port);
	return sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

/* The keys of hosts that were seen for the first time are behind those that were given. */
static void host_keys_report(struct work *work)
{
	const char *given = record_value(work->order, "host-keys");
	_cleanup_(freep) char *path = mem_printf("%s/home/known_hosts", record_value(work->order, "folder"));
	char bytes[32 * 1024];
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;

	if (file)
		fclose(file);
	bytes[len] = '\0';
	if (len > strlen(given) && text_starts(bytes, given))
		record_add(&work->result, "host-keys", bytes + strlen(given));
}

static void write_result(const struct buf *result)
{
	const char *at = buf_str(result);
	size_t left = result->len;

	while (left > 0) {
		ssize_t put = write(STDOUT_FILENO, at, left);

		if (put <= 0)
			return;
		at += put;
		left -= (size_t)put;
	}
}

static int work_do(struct work *work)
{
	static const struct {
		const char *kind;
		void (*fn)(struct work *work);
	} kinds[] = {{"look", work_look}, {"fetch", work_fetch}, {"diff", work_diff}};

	if (!remote_parse(record_value(work->order, "url"), &work->remote) || proxy_offer(&work->proxy_port) < 0 ||
		work_environment(work) < 0)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (text_equal(kinds[i].kind, record_value(work->order, "kind")))
			kinds[i].fn(work);
	host_keys_report(work);
	write_result(&work->result);
	return 0;
}

int helper_work(const char *self)
{
	_cleanup_(freep) char *order = mem_new(1, ORDER_MAX);
	_cleanup_(work_release) struct work work = {
		.self = self, .credential = -1, .result = BUF_INIT(RESULT_MAX), .errors = BUF_INIT(GIT_ERRORS_MAX)};
	ssize_t len = recv(STDIN_FILENO, order, ORDER_MAX, 0);
	int status;

	if (len <= 0)
		return 1;
	work.order = (struct bytes){order, (size_t)len};
	status = work_do(&work);
	explicit_bzero(order, (size_t)len);
	return status;
}

/* ---- look ---- */

/* A line is "<sha>\t<ref>" or "ref: <ref>\tHEAD". The commit of an annotated tag is in a line of its own, "<ref>^{}",
 * after the tag's. */
static void look_line(struct work *work, char *line)
{
	char *tab = strchr(line, '\t');
	const char *ref = tab ? tab + 1 : "";
	_cleanup_(freep) char *both = NULL;

	if (!tab)
		return;
	*tab = '\0';
	if (text_starts(line, "ref: ") && text_equal(ref, "HEAD")) {
		record_add(&work->result, "head", line + strlen("ref: "));
	} else if (text_starts(ref, "refs/heads/") || text_starts(ref, "refs/tags/") ||
		text_starts(ref, "refs/pull/") || text_starts(ref, "refs/merge-requests/") ||
		text_starts(ref, "refs/pull-requests/")) {
		both = mem_printf("%s %s", line, ref);
		record_add(&work->result, "ref", both);
	}
}

void work_look(struct work *work)
{
	enum { REFS_MAX = 24 << 20 };
	_cleanup_(buf_release) struct buf out = BUF_INIT(REFS_MAX);
	const char *url = record_value(work->order, "url");
	char *rest, *line;

	if (git_run(work, record_value(work->order, "folder"), &out, "ls-remote", "-q", "--symref", "--", url, NULL) !=
		0) {
		work_failed_by_git(work, "Reading the refs");
		return;
	}
	record_add(&work->result, "outcome", "done");
	rest = out.len ? out.data : NULL;
	while ((line = strsep(&rest, "\n")))
		look_line(work, line);
}
