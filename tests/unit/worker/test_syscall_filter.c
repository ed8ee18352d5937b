/* SPDX-License-Identifier: MPL-2.0 */
/* The system calls that a job's programs may make, and those that must fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/syscall_filter.h"

enum { ANY_SUCCESS = 0 };

struct probe {
	const char *name;
	long call;
	long args[5];
	int error; /* of the call; ANY_SUCCESS: it must not fail */
};

static const long above = 0x700000000; /* bits of an int argument that the kernel ignores */

static void filter_load(const struct buf *program)
{
	const struct sock_fprog filter = {
		.len = (unsigned short)(program->len / sizeof(struct sock_filter)), .filter = (void *)program->data};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(99);
}

/* The errno of a call under the filter, 0 if it succeeds, or -1 if the filter kills the process. */
static int outcome(const struct buf *program, const struct probe *probe)
{
	const long *a = probe->args;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		filter_load(program);
		_exit(syscall(probe->call, a[0], a[1], a[2], a[3], a[4]) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_not_equal(WEXITSTATUS(status), 99);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check(const struct probe *probes, size_t count)
{
	_cleanup_(buf_release) struct buf program = BUF_INIT(SYSCALL_FILTER_LIMIT);
	struct err err = ERR_INIT;

	assert_int_equal(syscall_filter_build(&program, &err), 0);
	for (size_t i = 0; i < count; i++) {
		int error = outcome(&program, &probes[i]);

		if (error != probes[i].error)
			fail_msg("%s: errno %d instead of %d", probes[i].name, error, probes[i].error);
	}
}

/* With arguments for which an unfiltered root process would succeed, or get another errno. */
static void dangerous_calls_fail(void **state)
{
	const struct probe probes[] = {
		{"keyctl", SYS_keyctl, {0, -3}, EPERM},
		{"add_key", SYS_add_key, {(long)"user", (long)"probe", (long)"x", 1, -3}, EPERM},
		{"request_key", SYS_request_key, {(long)"user", (long)"probe"}, EPERM},
		{"bpf", SYS_bpf, {0}, EPERM},
		{"perf_event_open", SYS_perf_event_open, {0}, EPERM},
		{"userfaultfd", SYS_userfaultfd, {1}, EPERM},
		{"io_uring_setup", SYS_io_uring_setup, {1}, ENOSYS},
		{"unshare of the user namespace", SYS_unshare, {CLONE_NEWUSER}, EPERM},
		{"unshare of the mount namespace", SYS_unshare, {CLONE_NEWNS}, EPERM},
		{"setns", SYS_setns, {-1, 0}, EPERM},
		{"clone3", SYS_clone3, {0, 0}, ENOSYS},
		{"mount", SYS_mount, {0, 0, 0, 0, 0}, EPERM},
		{"umount2", SYS_umount2, {(long)"/nowhere"}, EPERM},
		{"fsopen", SYS_fsopen, {(long)"tmpfs"}, EPERM},
		{"open_tree", SYS_open_tree, {AT_FDCWD, (long)"/", 1}, EPERM},
		{"pivot_root", SYS_pivot_root, {(long)"/nowhere", (long)"/nowhere"}, EPERM},
		{"chroot", SYS_chroot, {(long)"/"}, EPERM},
		{"open_by_handle_at", SYS_open_by_handle_at, {0}, EPERM},
		{"ptrace", SYS_ptrace, {0}, EPERM},
		{"process_vm_readv", SYS_process_vm_readv, {1}, EPERM},
		{"process_vm_writev", SYS_process_vm_writev, {1}, EPERM},
		{"pidfd_getfd", SYS_pidfd_getfd, {-1}, EPERM},
		{"kexec_load", SYS_kexec_load, {0}, EPERM},
		{"init_module", SYS_init_module, {0}, EPERM},
		{"finit_module", SYS_finit_module, {-1}, EPERM},
		{"personality", SYS_personality, {0x0040000}, EPERM},
		{"memfd_secret", SYS_memfd_secret, {0}, ENOSYS},
		{"shmget", SYS_shmget, {0, 1 << 20, 0600}, EINVAL},
	};

	(void)state;
	check(probes, ARRAY_LEN(probes));
}

static void high_bits_of_int_arguments_are_ignored(void **state)
{
	const struct probe probes[] = {
		{"clone into a user namespace", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
		{"clone into a network namespace", SYS_clone, {CLONE_NEWNET | SIGCHLD}, EPERM},
		{"clone into a pid namespace, high bits", SYS_clone, {CLONE_NEWPID | SIGCHLD | above}, EPERM},
		{"TIOCSTI", SYS_ioctl, {0, TIOCSTI, 0}, EPERM},
		{"TIOCSTI, high bits", SYS_ioctl, {0, TIOCSTI | above, 0}, EPERM},
		{"TIOCLINUX", SYS_ioctl, {0, TIOCLINUX, 0}, EPERM},
		{"TIOCLINUX, high bits", SYS_ioctl, {0, TIOCLINUX | above, 0}, EPERM},
		{"AF_AX25", SYS_socket, {3, SOCK_DGRAM}, EAFNOSUPPORT},
		{"AF_KEY", SYS_socket, {15, SOCK_RAW, 2}, EAFNOSUPPORT},
		{"AF_PACKET", SYS_socket, {17, SOCK_RAW}, EAFNOSUPPORT},
		{"AF_ALG", SYS_socket, {38, SOCK_SEQPACKET}, EAFNOSUPPORT},
		{"AF_VSOCK", SYS_socket, {40, SOCK_STREAM}, EAFNOSUPPORT},
		{"AF_VSOCK, high bits", SYS_socket, {40 | above, SOCK_STREAM}, EAFNOSUPPORT},
		{"AF_ALG, high bits", SYS_socket, {38 | above, SOCK_SEQPACKET}, EAFNOSUPPORT},
		{"AF_AX25, high bits", SYS_socket, {3 | above, SOCK_DGRAM}, EAFNOSUPPORT},
	};

	(void)state;
	check(probes, ARRAY_LEN(probes));
}

#ifdef __x86_64__
static void calls_of_other_abis_fail(void **state)
{
	const struct probe probes[] = {{"getpid of x32", 0x40000000 + SYS_getpid, {0}, ENOSYS},
		{"unshare of x32", 0x40000000 + SYS_unshare, {CLONE_NEWUSER}, ENOSYS}};

	(void)state;
	check(probes, ARRAY_LEN(probes));
}
#endif

static void ordinary_calls_work(void **state)
{
	const struct probe probes[] = {
		{"getpid", SYS_getpid, {0}, ANY_SUCCESS},
		{"clone of a process", SYS_clone, {SIGCHLD}, ANY_SUCCESS},
		{"a Unix socket", SYS_socket, {1, SOCK_STREAM}, ANY_SUCCESS},
		{"an IPv4 socket", SYS_socket, {2, SOCK_STREAM}, ANY_SUCCESS},
		{"a netlink socket", SYS_socket, {16, SOCK_RAW}, ANY_SUCCESS},
		{"the current execution domain", SYS_personality, {0xffffffff}, ANY_SUCCESS},
		{"an ioctl of no terminal", SYS_ioctl, {-1, TIOCGWINSZ, 0}, EBADF},
		{"a file in memory", SYS_memfd_create, {(long)"probe", 0}, ANY_SUCCESS},
	};

	(void)state;
	check(probes, ARRAY_LEN(probes));
}

static void *thread_run(void *data)
{
	return data;
}

/* libc falls back to other calls than clone3. */
static void threads_and_programs_start(void **state)
{
	_cleanup_(buf_release) struct buf program = BUF_INIT(SYSCALL_FILTER_LIMIT);
	struct err err = ERR_INIT;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(syscall_filter_build(&program, &err), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		filter_load(&program);
		if (pthread_create(&thread, NULL, thread_run, NULL) != 0 || pthread_join(thread, NULL) != 0)
			_exit(1);
		_exit(system("true | cat") == 0 ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dangerous_calls_fail),
		cmocka_unit_test(high_bits_of_int_arguments_are_ignored),
#ifdef __x86_64__
		cmocka_unit_test(calls_of_other_abis_fail),
#endif
		cmocka_unit_test(ordinary_calls_work),
		cmocka_unit_test(threads_and_programs_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
