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

enum { WRONG = 70, MAX_SECONDS = 300, SAID_SIZE = 64 << 10, DRAWN = 40 };

_Atomic int64_t *alloc_use(const char *libraries, int64_t how);

static _Atomic int64_t *numbers;
static long *counted; /* the number of allocations of a case; shared with children */

void alloc_wrong(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	_exit(WRONG);
}

void alloc_before(void (*prepare)(void))
{
	int64_t how = atomic_exchange(&numbers[0], 0);

	prepare();
	atomic_store(&numbers[0], how);
}

void alloc_over(void)
{
	if (atomic_exchange(&numbers[0], 0) != 0)
		*counted = (long)atomic_load(&numbers[2]);
}

static long number_of(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : otherwise;
}

/* The exit status, as of waitpid, and the output. */
static int played(const struct alloc_case *one, int64_t how, char said[SAID_SIZE])
{
	int file = memfd_create("said", MFD_CLOEXEC), status = 0;
	ssize_t len;
	pid_t child;

	numbers = alloc_use(one->libraries, how);
	child = fork();
	if (child == 0) {
		dup2(file, STDERR_FILENO);
		alarm(MAX_SECONDS); /* a hanging case ends by SIGALRM */
		one->play();
		alloc_over();
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	len = pread(file, said, SAID_SIZE - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	close(file);
	return status;
}

static const char *last_line(const char *said)
{
	size_t len = strlen(said);

	while (len && said[len - 1] == '\n')
		len--;
	while (len && said[len - 1] != '\n')
		len--;
	return said + len;
}

static bool is_right(const struct alloc_case *one, int status, const char *said)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	/* By an assertion, by exit, or by an access to an invalid address. An invalid write to valid memory does not
	 * count. */
	if (one->ends_itself)
		return !(WIFEXITED(status) && WEXITSTATUS(status) == WRONG) &&
			(!strstr(said, "ERROR: ") || strstr(said, "AddressSanitizer: SEGV on unknown address"));
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(last_line(said), "out of memory");
}

static int call_run(const struct alloc_case *one, long n)
{
	static char said[SAID_SIZE];
	int status = played(one, -n, said);

	printf("%s: call %ld: status %x\n%s\n", one->name, n, (unsigned)status, said);
	return !is_right(one, status, said);
}

static int case_run(const struct alloc_case *one)
{
	long max = number_of("RUNYARD_ALLOCATIONS", DRAWN), calls, step;
	int failed = 0, ended = 0, turns = 0;
	static char said[SAID_SIZE];
	int status = played(one, INT64_MIN, said);

	calls = *counted;
	if (status != 0 || (calls == 0) != one->none) {
		printf("%s: of itself, with %ld calls: status %x\n%s\n", one->name, calls, (unsigned)status, said);
		return 1;
	}
	step = max && calls > max ? (calls + max - 1) / max : 1;
	for (long n = 1 + number_of("RUNYARD_SEED", 1) % step; n <= calls; n += step) {
		status = played(one, -n, said);
		turns++;
		ended += status != 0;
		if (is_right(one, status, said))
			continue;
		failed++;
		printf("%s: call %ld of %ld: status %x\n%s\n", one->name, n, calls, (unsigned)status, said);
	}
	printf("%s: %d of %ld calls failed in turn, %d ended the process, %d wrong\n", one->name, turns, calls, ended,
		failed);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	/* A case's name and the number of one allocation: runs only that one, for a debugger. */
	setvbuf(stdout, NULL, _IONBF, 0);
	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (const struct alloc_case *one = alloc_cases; one->name; one++)
		if (argc < 2 || text_equal(argv[1], one->name))
			failed += argc < 3 ? case_run(one) : call_run(one, strtol(argv[2], NULL, 10));
	return failed > 0;
}
