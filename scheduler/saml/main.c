/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-saml: reads the XML of SAML 2.0 for the scheduler, in a process that can do nothing else. The scheduler
 * starts it with a socket as standard input (scheduler/helper/wire.h) and an empty environment.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "scheduler/helper/confine.h"
#include "scheduler/saml/serve.h"

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

	if (serve_init() < 0) {
		fputs("runyard-saml: Lasso can't be initialized\n", stderr);
		_exit(1);
	}
	if (confine("runyard-saml", &err) < 0) {
		fprintf(stderr, "runyard-saml: %s\n", err.message);
		_exit(1);
	}
	_exit(helper_serve(STDIN_FILENO, saml_operations) < 0 ? 1 : 0); /* without the libraries' clean-up */
}
