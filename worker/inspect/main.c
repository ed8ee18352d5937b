/* SPDX-License-Identifier: MPL-2.0 */
/* runyard-inspect reads a module's archive from its standard input, and writes the description (inspect.h) to its
 * standard output. It needs no file, and no network. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "worker/inspect/inspect.h"

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks needs ptrace, which a worker's sandbox forbids. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int main(void)
{
	json_auto_t *described = NULL;
	struct err err = ERR_INIT;
	_cleanup_(freep) char *text = NULL;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (inspect_archive(STDIN_FILENO, &described, &err) < 0)
		described = inspect_failed(err.message);
	text = json_text(described);
	return fputs(text, stdout) < 0 || fflush(stdout) != 0;
}
