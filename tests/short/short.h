/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SHORT_SHORT_H
#define TESTS_SHORT_SHORT_H

/*
 * A function that uses a library, with each call that the library makes for memory failing in turn: in a process of its
 * own each time, which may say so in what the function returns, or end with "out of memory" as its last line.
 */

#include <stdbool.h>

struct short_case {
	const char *name;
	const char *libraries; /* whose calls fail: the beginnings of their files' names */
	void (*play)(void);    /* in a new process each time; says what was wrong by HOLDS */
	bool ends_itself;      /* the library itself ends the process, and with no line of ours */
	bool none;             /* the library makes no such call: its memory is the program's */
};

/* What has to be true whatever failed. */
#define HOLDS(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			short_wrong(__FILE__, __LINE__, #condition);                                                   \
	} while (0)

_Noreturn void short_wrong(const char *file, int line, const char *what);
/* Does this with nothing failing, before a case begins. */
void short_before(void (*prepare)(void));
/* Nothing fails from here on: for looking at what is left. */
void short_over(void);

/* The program's own: its cases, ended by one without a name. */
extern const struct short_case short_cases[];

#endif
