/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-openpgp: reads OpenPGP keys and verifies signatures for the scheduler, in a process that can do nothing else.
 * The scheduler starts it with a socket as standard input (scheduler/helper/wire.h) and an empty environment.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "scheduler/helper/confine.h"
#include "scheduler/openpgp/operations.h"

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks needs ptrace, which the system call filter refuses. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int main(void)
{
	struct err err = ERR_INIT;

	if (openpgp_init() < 0) {
		fputs("runyard-openpgp: librnp can't be initialized\n", stderr);
		_exit(1);
	}
	if (confine("runyard-openpgp", &err) < 0) {
		fprintf(stderr, "runyard-openpgp: %s\n", err.message);
		_exit(1);
	}
	_exit(helper_serve(STDIN_FILENO, openpgp_operations) < 0 ? 1 : 0); /* without the libraries' clean-up */
}
