/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The program runyard-network; holder.h describes it. Like the keeper, it is statically linked and uses only libc.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/keeper/proc_tree.h"
#include "worker/network/holder.h"

enum { RULE_PRIORITY = 1000, LOCAL_PRIORITY = 32765, SWEEP_MS = 5, ARGUMENTS_MAX = 64 };

/* Prints the error with errno's text into the answer. Returns -1. */
static int failed(struct holder_answer *answer, const char *what)
{
	snprintf(answer->error, sizeof(answer->error), "%s: %s", what, strerror(errno));
	return -1;
}

/* ---- in the namespaces ---- */

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t wrote = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return wrote < 0 ? -1 : 0;
}

/* Maps the worker's user to itself, so that bwrap runs here as it does outside. */
static int map_user(uid_t user, gid_t group)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", user, user);
	snprintf(groups, sizeof(groups), "%u %u 1", group, group);
	if (write_file("/proc/self/setgroups", "deny") < 0 || write_file("/proc/self/uid_map", users) < 0)
		return -1;
	return write_file("/proc/self/gid_map", groups);
}

static int loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int status = fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);

	if (fd >= 0)
		close(fd);
	return status;
}

struct rule_message {
	struct nlmsghdr header;
	struct fib_rule_hdr rule;
	char attributes[128];
};

static void attribute_add(struct rule_message *message, int type, const void *value, size_t len)
{
	struct rtattr *attribute = (struct rtattr *)((char *)message + NLMSG_ALIGN(message->header.nlmsg_len));

	attribute->rta_type = (unsigned short)type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(attribute), value, len);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

static void rule_encode(const struct holder_rule *rule, uint32_t priority, struct rule_message *message)
{
	const struct fib_rule_port_range ports = {rule->port, rule->port};
	bool ipv4 = rule->bits >= 96 && memcmp(rule->address, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0;

	*message = (struct rule_message){
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(message->rule)),
			.nlmsg_type = RTM_NEWRULE,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
		.rule = {.family = ipv4 ? AF_INET : AF_INET6,
			.dst_len = (unsigned char)(ipv4 ? rule->bits - 96 : rule->bits),
			.table = rule->allow ? RT_TABLE_MAIN : RT_TABLE_UNSPEC,
			.action = rule->allow ? FR_ACT_TO_TBL : FR_ACT_PROHIBIT},
	};
	attribute_add(message, FRA_PRIORITY, &priority, sizeof(priority));
	if (message->rule.dst_len > 0)
		attribute_add(message, FRA_DST, ipv4 ? rule->address + 12 : rule->address, ipv4 ? 4 : 16);
	if (rule->port)
		attribute_add(message, FRA_DPORT_RANGE, &ports, sizeof(ports));
	if (!ipv4) /* applies to outgoing packets, not to incoming ones */
		attribute_add(message, FRA_IIFNAME, "lo", sizeof("lo"));
}

/* Encodes the addition or deletion of IPv6's rule for the local table. */
static void local_encode(uint16_t type, uint32_t priority, struct rule_message *message)
{
	*message = (struct rule_message){
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(message->rule)),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (type == RTM_NEWRULE ? NLM_F_CREATE : 0)},
		.rule = {.family = AF_INET6, .table = RT_TABLE_LOCAL, .action = FR_ACT_TO_TBL},
	};
	attribute_add(message, FRA_PRIORITY, &priority, sizeof(priority));
}

/* Sends one message and reads the kernel's acknowledgement. */
static int netlink_do(int fd, const struct rule_message *message)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} reply;

	if (send(fd, message, message->header.nlmsg_len, 0) < 0)
		return -1;
	if (recv(fd, &reply, sizeof(reply), 0) < (ssize_t)NLMSG_LENGTH(sizeof(int))) {
		errno = EPROTO;
		return -1;
	}
	errno = -reply.error.error;
	return reply.error.error ? -1 : 0;
}

/* Moves IPv6's rule for the local table after our rules. By default it precedes all rules, and the table also has
 * multicast routes. */
static int local_move(int fd)
{
	struct rule_message message;

	local_encode(RTM_NEWRULE, LOCAL_PRIORITY, &message);
	if (netlink_do(fd, &message) < 0)
		return errno == EAFNOSUPPORT || errno == EOPNOTSUPP ? 0 : -1;
	local_encode(RTM_DELRULE, 0, &message);
	return netlink_do(fd, &message);
}

static int rules_add(const struct holder_request *request)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int status = fd < 0 ? -1 : 0;

	for (uint32_t i = 0; status == 0 && i < request->count; i++) {
		struct rule_message message;

		rule_encode(&request->rules[i], RULE_PRIORITY + i, &message);
		status = netlink_do(fd, &message);
		/* A kernel without IPv6 needs no such rule. */
		if (status < 0 && message.rule.family == AF_INET6 && (errno == EAFNOSUPPORT || errno == EOPNOTSUPP))
			status = 0;
	}
	if (status == 0)
		status = local_move(fd);
	if (fd >= 0)
		close(fd);
	return status;
}

static int namespaces_make(const struct holder_request *request, struct holder_answer *answer)
{
	uid_t user = geteuid();
	gid_t group = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return failed(answer, "user and network namespaces can't be made");
	if (map_user(user, group) < 0)
		return failed(answer, "the user can't be mapped");
	if (loopback_up() < 0)
		return failed(answer, "the loopback interface can't be set up");
	if (rules_add(request) < 0)
		return failed(answer, "a routing rule can't be added");
	return 0;
}

/* Starts a process in new namespaces. It writes its answer to `out` and waits to be killed. Returns its pid. */
static pid_t namespaces_start(const struct holder_request *request, int out)
{
	pid_t parent = getpid(), pid = fork();
	struct holder_answer answer = {.error = ""};

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	namespaces_make(request, &answer);
	if (getppid() != parent || write(out, &answer, sizeof(answer)) < 0 || *answer.error)
		_exit(1);
	while (true)
		pause();
}

/* ---- outside of the namespaces ---- */

/* Extracts pasta's error: the last line that is not about syslog. */
static void last_line(char *text, char *ret_line, size_t size)
{
	char *rest = text, *line;

	ret_line[0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (*line && !strstr(line, "to syslog"))
			snprintf(ret_line, size, "%s", line);
}

static void read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t got;

	while (len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
}

/* Runs in the child that becomes pasta. */
static void pasta_exec(const char *path, char **argv, int errors)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL); /* pasta of 2023 treats an ignored SIGPIPE as an error */
	dup2(errors, STDERR_FILENO);
	execv(path, argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(127);
}

/* Starts pasta. It goes into the background when the namespace's interface is set up: the started process ends then. */
static int pasta_start(const char *path, char **argv, struct holder_answer *answer)
{
	char said[4096], line[200];
	int errors[2], status = -1;
	pid_t pid;

	if (pipe2(errors, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return failed(answer, path);
	if (pid == 0)
		pasta_exec(path, argv, errors[1]);
	close(errors[1]);
	read_all(errors[0], said, sizeof(said));
	close(errors[0]);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	last_line(said, line, sizeof(line));
	snprintf(answer->error, sizeof(answer->error), "pasta failed: %s", *line ? line : "it gave no reason");
	return -1;
}

/* `argv` is pasta's path, its name and its arguments; the namespaces of `pid` are appended. */
static int pasta_connect(int argc, char **argv, pid_t pid, struct holder_answer *answer)
{
	char *all[ARGUMENTS_MAX + 5], user[64], net[64];

	if (argc > ARGUMENTS_MAX) {
		errno = E2BIG;
		return failed(answer, "pasta");
	}
	snprintf(user, sizeof(user), "/proc/%d/ns/user", pid);
	snprintf(net, sizeof(net), "/proc/%d/ns/net", pid);
	memcpy(all, argv, (size_t)argc * sizeof(*argv));
	memcpy(all + argc, (char *[]){"--userns", user, "--netns", net, NULL}, 5 * sizeof(*all));
	return pasta_start(all[0], all + 1, answer);
}

static int open_namespaces(pid_t pid, int fds[2])
{
	static const char *const names[] = {"user", "net"};
	char path[64];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, names[i]);
		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (fds[i] < 0)
			return -1;
	}
	return 0;
}

/* `fds`: the two namespaces, or NULL. */
static int answer_send(const struct holder_answer *answer, const int *fds)
{
	struct iovec bytes = {(void *)answer, sizeof(*answer)};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {.space = {0}};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

	if (fds) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), fds, 2 * sizeof(int));
	}
	return sendmsg(HOLDER_FD, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static int network_make(int argc, char **argv, const struct holder_request *request, struct holder_answer *answer)
{
	int ready[2], fds[2] = {-1, -1}, status = -1;
	pid_t pid = -1;

	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = namespaces_start(request, ready[1])) < 0)
		return failed(answer, "a process can't be started");
	close(ready[1]);
	if (read(ready[0], answer, sizeof(*answer)) != (ssize_t)sizeof(*answer))
		failed(answer, "the namespaces' process ended");
	if (!*answer->error && pasta_connect(argc, argv, pid, answer) == 0)
		status = open_namespaces(pid, fds) < 0 ? failed(answer, "the namespaces can't be opened")
						       : answer_send(answer, fds);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	close(ready[0]);
	return status;
}

/* Returns true if no child is left. */
static bool reap(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid < 0 && errno == ECHILD;
}

/* Returns when no child is left, or when the worker is gone. */
static void wait_for_end(int signals)
{
	struct pollfd watched[] = {{.fd = signals, .events = POLLIN}, {.fd = HOLDER_FD, .events = POLLIN}};
	struct signalfd_siginfo info;

	while (!reap()) {
		if (poll(watched, 2, -1) < 0)
			continue;
		if (watched[1].revents)
			return;
		if (read(signals, &info, sizeof(info)) < 0 && errno != EAGAIN)
			return;
	}
}

static void kill_rest(void)
{
	while (!reap()) {
		proc_tree_kill(getpid());
		poll(NULL, 0, SWEEP_MS);
	}
}

int main(int argc, char **argv)
{
	static struct holder_request request;
	struct holder_answer answer = {.error = ""};
	sigset_t ended;
	int signals;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	if (argc < 3 || signals < 0 || fcntl(HOLDER_FD, F_SETFD, FD_CLOEXEC) < 0 ||
		recv(HOLDER_FD, &request, sizeof(request), 0) != (ssize_t)sizeof(request) ||
		request.count > HOLDER_RULES_MAX || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		fputs("runyard-network is started by runyard-worker alone\n", stderr);
		return 2;
	}
	if (network_make(argc - 1, argv + 1, &request, &answer) < 0)
		answer_send(&answer, NULL);
	else
		wait_for_end(signals);
	kill_rest();
	return 1;
}
