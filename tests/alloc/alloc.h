/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_ALLOC_ALLOC_H
#define TESTS_ALLOC_ALLOC_H

/*
 * Tests functions that use a library while the library's allocations fail, one after the other, each in a process of
 * its own. The function may report the failure in its result. It may also end the process with "out of memory" as
 * its last line.
 */

#include <stdbool.h>

struct alloc_case {
	const char *name;
	const char *libraries; /* the libraries whose allocations fail: prefixes of their file names */
	void (*run)(void);     /* called in a new process each time; checks with HOLDS */
	bool ends_itself;      /* the library itself ends the process, without a log line */
	bool none;             /* the library makes no allocations of its own: it uses the program's allocator */
};

/* A condition that must hold whichever allocation failed. */
#define HOLDS(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			alloc_check_failed(__FILE__, __LINE__, #condition);                                            \
	} while (0)

_Noreturn void alloc_check_failed(const char *file, int line, const char *what);
/* Calls `prepare` without failing allocations before each case. */
void alloc_prepare(void (*prepare)(void));
/* No allocation fails from here on, so that a case can check the result. */
void alloc_faults_end(void);

/* Defined by each program: its cases, terminated by one without a name. */
extern const struct alloc_case alloc_cases[];

#endif
