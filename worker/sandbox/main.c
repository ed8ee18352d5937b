/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The program runyard-sandbox; view.h describes it. Like the keeper, it is statically linked and uses only libc.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/sandbox/view.h"

enum { MAX_VARIABLES = 64 * 1024 };

static const char *const masked[] = {VIEW_MASKED};

struct view {
	struct sock_fprog filter;
	char *texts, *end;
	int64_t tmp_bytes;
	const char *folder;
	bool offline;
	char *environment[MAX_VARIABLES + 1];
};

static _Noreturn void die(const char *what)
{
	dprintf(STDERR_FILENO, "runyard-sandbox: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* ---- the view ---- */

static char *view_load(size_t *ret_size)
{
	struct stat info;
	char *bytes;

	if (fstat(VIEW_ARGS_FD, &info) < 0 || info.st_size < (off_t)sizeof(struct view_header) ||
		info.st_size > VIEW_MAX)
		die("the view");
	bytes = malloc((size_t)info.st_size + 1);
	if (!bytes || pread(VIEW_ARGS_FD, bytes, (size_t)info.st_size, 0) != (ssize_t)info.st_size)
		die("the view");
	bytes[info.st_size] = '\0';
	*ret_size = (size_t)info.st_size;
	return bytes;
}

static void view_open(struct view *view)
{
	struct view_header header;
	size_t size;
	char *bytes = view_load(&size);

	memcpy(&header, bytes, sizeof(header));
	errno = EINVAL;
	if (sizeof(header) + (size_t)header.filter_bytes + header.text_bytes != size ||
		header.filter_bytes % sizeof(struct sock_filter))
		die("the view");
	view->filter = (struct sock_fprog){.len = (unsigned short)(header.filter_bytes / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(bytes + sizeof(header))};
	view->texts = bytes + sizeof(header) + header.filter_bytes;
	view->end = view->texts + header.text_bytes;
	view->tmp_bytes = header.tmp_bytes;
	view->offline = header.offline != 0;
	view->folder = "/";
}

/* Returns the next text of the view and moves *at behind it. */
static char *text_next(const struct view *view, char **at)
{
	char *text = *at;

	errno = EINVAL;
	if (text >= view->end)
		die("the view ends early");
	*at += strlen(text) + 1;
	return text;
}

/* ---- mounts ---- */

static void attributes_set(const char *path, uint64_t attributes)
{
	struct mount_attr set = {.attr_set = attributes};

	if (mount_setattr(AT_FDCWD, path, 0, &set, sizeof(set)) < 0)
		die(path);
}

static void bind_mount(const char *from, const char *to, uint64_t attributes)
{
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		die(to);
	attributes_set(to, attributes);
}

/* `bytes`: its limit; 0: half of the machine's memory. */
static void tmpfs_mount(const char *path, int64_t bytes)
{
	char options[64] = "mode=0755";

	if (bytes > 0)
		snprintf(options, sizeof(options), "mode=0755,size=%lld", (long long)bytes);
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		die(path);
}

/* Mounts /proc of this PID namespace. Returns a descriptor of it through which this process can still write. */
static int proc_mount(void)
{
	int writable;

	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL) < 0)
		die("/proc");
	writable = open_tree(AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (writable < 0)
		die("/proc");
	for (size_t i = 0; i < sizeof(masked) / sizeof(*masked); i++)
		if (access(masked[i], F_OK) == 0)
			bind_mount("/dev/null", masked[i], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	attributes_set("/proc", MOUNT_ATTR_RDONLY);
	return writable;
}

static void loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		die("the loopback interface");
	close(fd);
}

/* Carries out the records in their order. */
static void view_apply(struct view *view)
{
	const uint64_t own = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	size_t variables = 0;
	char *at = view->texts;

	while (at < view->end) {
		const char *name = text_next(view, &at);

		if (strcmp(name, "set") == 0 && variables < MAX_VARIABLES) {
			view->environment[variables++] = text_next(view, &at);
		} else if (strcmp(name, "bind") == 0 || strcmp(name, "ro-bind") == 0) {
			const char *from = text_next(view, &at), *to = text_next(view, &at);

			bind_mount(from, to, *name == 'r' ? own | MOUNT_ATTR_RDONLY : own);
		} else if (strcmp(name, "chdir") == 0) {
			view->folder = text_next(view, &at);
		} else {
			errno = EINVAL;
			die(name);
		}
	}
}

/* Removes the worker's folders. The names are the ones that exec/sandbox gave bwrap. A base may have no hooks. */
static void host_remove(void)
{
	static const char *const parts[] = {VIEW_HOST "/data", VIEW_HOST "/sandbox"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (umount2(parts[i], MNT_DETACH) < 0)
			die(parts[i]);
	if (umount2(VIEW_HOST "/hooks", MNT_DETACH) < 0 && errno != ENOENT)
		die(VIEW_HOST "/hooks");
}

/* Returns a descriptor as proc_mount does. */
static int mounts_make(struct view *view)
{
	int writable;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("/");
	writable = proc_mount();
	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620") < 0)
		die("/dev/pts");
	tmpfs_mount("/dev/shm", VIEW_SHM_BYTES);
	view_apply(view);
	tmpfs_mount("/tmp", view->tmp_bytes);
	host_remove();
	return writable;
}

/* ---- privileges ---- */

static void map_write(int proc, const char *file, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "self/%s", file);
	fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(file);
	close(fd);
}

/* Enters a user namespace that has the worker's user and group only. It has no rights over the mounts. */
static void user_leave(int proc, uid_t user, gid_t group)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", user, geteuid());
	snprintf(groups, sizeof(groups), "%u %u 1", group, getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		die("the user namespace");
	map_write(proc, "setgroups", "deny");
	map_write(proc, "uid_map", users);
	map_write(proc, "gid_map", groups);
	close(proc);
}

static void capabilities_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			die("a capability");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || syscall(SYS_capset, &header, none) < 0)
		die("the capabilities");
}

/* ---- the processes ---- */

static void program_become(const struct view *view, char **argv)
{
	if (chdir(view->folder) < 0)
		die(view->folder);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &view->filter, 0, 0) < 0)
		die("the filter of system calls");
	execve(argv[0], argv, (char **)view->environment);
	die(argv[0]);
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for that child and reaps all others. Returns its exit code. */
static int child_wait(pid_t child)
{
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) != child)
		if (pid < 0 && errno != EINTR)
			die("the program");
	return exit_code(status);
}

/* Dies with its parent from now on. `parent` is the read end of a pipe whose write end only the parent has. */
static void follow(int parent)
{
	struct pollfd gone = {.fd = parent, .events = POLLIN};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || poll(&gone, 1, 0) != 0)
		_exit(1);
}

/* The first process of the PID namespace. */
static void first_process(struct view *view, char **argv, uid_t user, gid_t group, int parent)
{
	pid_t pid;

	if (view->offline)
		loopback_up();
	user_leave(mounts_make(view), user, group);
	capabilities_drop();
	follow(parent);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the program can't read or change this process */
	pid = fork();
	if (pid < 0)
		die("the program");
	if (pid == 0)
		program_become(view, argv);
	for (int fd = 0; fd <= VIEW_BASE_FD; fd++)
		close(fd); /* so that the reader of the program's output sees its end */
	_exit(child_wait(pid));
}

static void base_join(void)
{
	int user = ioctl(VIEW_BASE_FD, NS_GET_USERNS);

	if (user < 0 || setns(user, CLONE_NEWUSER) < 0 || setns(VIEW_BASE_FD, CLONE_NEWNS) < 0)
		die("the base");
	close(user);
	close(VIEW_BASE_FD);
}

static int run(char **argv)
{
	static struct view view;
	uid_t user = geteuid();
	gid_t group = getegid();
	pid_t parent = getppid(), pid;
	int alive[2];

	view_open(&view);
	close(VIEW_ARGS_FD);
	base_join();
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (view.offline ? CLONE_NEWNET : 0)) < 0)
		die("the namespaces");
	if (sethostname("runyard", 7) < 0)
		die("the host's name");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		return 1;
	if (pipe2(alive, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		die("the first process");
	if (pid == 0) {
		close(alive[1]);
		first_process(&view, argv, user, group, alive[0]);
	}
	return child_wait(pid);
}

/* ---- the base ---- */

static int base_send(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	char byte = 0;
	struct iovec bytes = {&byte, 1};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.space = {0}};
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	if (fd < 0)
		die("the base");
	control.header =
		(struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	return sendmsg(VIEW_BASE_FD, &message, MSG_NOSIGNAL) < 0 ? 1 : 0;
}

/* Becomes bwrap, in the user namespace that is given. */
static _Noreturn void make(char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (fcntl(VIEW_USER_FD, F_SETFD, FD_CLOEXEC) == 0 && setns(VIEW_USER_FD, CLONE_NEWUSER) < 0)
		die("the network's user namespace");
	execv(argv[0], argv);
	die(argv[0]);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "base") == 0)
		return base_send();
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	if (argc > 2 && strcmp(argv[1], "make") == 0)
		make(argv + 2);
	fputs("runyard-sandbox is started by runyard-worker alone\n", stderr);
	return 2;
}
