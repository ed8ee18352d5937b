/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Runs each case once to count its allocations, then once for each allocation with that one failing.
 * RUNYARD_ALLOCATIONS is the most allocations per case, drawn evenly and starting at RUNYARD_SEED, so that all are
 * covered over the seeds; 0 is all.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "tests/alloc/alloc.h"

enum { CHECK_FAILED = 70, MAX_SECONDS = 300, OUTPUT_SIZE = 64 << 10, DEFAULT_ALLOCATIONS = 40 };

_Atomic int64_t *alloc_use(const char *libraries, int64_t how);

static _Atomic int64_t *numbers;
static long *call_count; /* the number of allocations of a case; shared with children */

void alloc_check_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: this condition is false: %s\n", file, line, what);
	_exit(CHECK_FAILED);
}

void alloc_prepare(void (*prepare)(void))
{
	int64_t how = atomic_exchange(&numbers[0], 0);

	prepare();
	atomic_store(&numbers[0], how);
}

void alloc_faults_end(void)
{
	if (atomic_exchange(&numbers[0], 0) != 0)
		*call_count = (long)atomic_load(&numbers[2]);
}

static long environment_number(const char *variable, long fallback)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : fallback;
}

/* The exit status, as of waitpid, and the output. */
static int run_case(const struct alloc_case *one, int64_t how, char stderr_text[OUTPUT_SIZE])
{
	int file = memfd_create("stderr", MFD_CLOEXEC), status = 0;
	ssize_t len;
	pid_t child;

	numbers = alloc_use(one->libraries, how);
	child = fork();
	if (child == 0) {
		dup2(file, STDERR_FILENO);
		alarm(MAX_SECONDS); /* a hanging case ends by SIGALRM */
		one->run();
		alloc_faults_end();
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	len = pread(file, stderr_text, OUTPUT_SIZE - 1, 0);
	stderr_text[len > 0 ? len : 0] = '\0';
	close(file);
	return status;
}

static const char *last_line(const char *stderr_text)
{
	size_t len = strlen(stderr_text);

	while (len && stderr_text[len - 1] == '\n')
		len--;
	while (len && stderr_text[len - 1] != '\n')
		len--;
	return stderr_text + len;
}

static bool is_valid_exit(const struct alloc_case *one, int status, const char *stderr_text)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	/* The sanitizer's own allocations: it uses the C library's at the start of a thread. */
	if (strstr(stderr_text, "AddressSanitizer: CHECK failed"))
		return true;
	/* By an assertion, by exit, or by an access to an invalid address. An invalid write to valid memory does not
	 * count. */
	if (one->ends_itself)
		return !(WIFEXITED(status) && WEXITSTATUS(status) == CHECK_FAILED) &&
			(!strstr(stderr_text, "ERROR: ") ||
				strstr(stderr_text, "AddressSanitizer: SEGV on unknown address"));
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(last_line(stderr_text), "out of memory");
}

static int run_one_call(const struct alloc_case *one, long n)
{
	static char stderr_text[OUTPUT_SIZE];
	int status = run_case(one, -n, stderr_text);

	printf("%s: call %ld: status %x\n%s\n", one->name, n, (unsigned)status, stderr_text);
	return !is_valid_exit(one, status, stderr_text);
}

static int run_all_calls(const struct alloc_case *one)
{
	long max = environment_number("RUNYARD_ALLOCATIONS", DEFAULT_ALLOCATIONS), calls, step;
	int failed = 0, ended = 0, tried = 0;
	static char stderr_text[OUTPUT_SIZE];
	int status = run_case(one, INT64_MIN, stderr_text);

	calls = *call_count;
	if (status != 0 || (calls == 0) != one->none) {
		printf("%s: no call fails, %ld calls: status %x\n%s\n", one->name, calls, (unsigned)status,
			stderr_text);
		return 1;
	}
	step = max && calls > max ? (calls + max - 1) / max : 1;
	for (long n = 1 + environment_number("RUNYARD_SEED", 1) % step; n <= calls; n += step) {
		status = run_case(one, -n, stderr_text);
		tried++;
		ended += status != 0;
		if (is_valid_exit(one, status, stderr_text))
			continue;
		failed++;
		printf("%s: call %ld of %ld: status %x\n%s\n", one->name, n, calls, (unsigned)status, stderr_text);
	}
	printf("%s: %d of %ld calls failed in turn, %d ended the process, %d wrong\n", one->name, tried, calls, ended,
		failed);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	/* A case's name and the number of one allocation: runs only that one, for a debugger. */
	setvbuf(stdout, NULL, _IONBF, 0);
	call_count = mmap(NULL, sizeof(*call_count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (const struct alloc_case *one = alloc_cases; one->name; one++)
		if (argc < 2 || text_equal(argv[1], one->name))
			failed += argc < 3 ? run_all_calls(one) : run_one_call(one, strtol(argv[2], NULL, 10));
	return failed > 0;
}
