/* SPDX-License-Identifier: MPL-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "worker/git/helper/helper.h"

/* No core files and no readers of its memory: it may hold credentials. */
static void protect(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	protect();
	if (argc > 3 && strcmp(argv[1], "serve") == 0 && strcmp(argv[2], "--") == 0)
		return helper_serve(argv + 3);
	if (argc == 2 && strcmp(argv[1], "work") == 0)
		return helper_work(argv[0]);
	if (argc == 2)
		return helper_ask(argv[1]);
	if (argc == 3)
		return helper_connect(argv[1], argv[2]);
	fprintf(stderr, "runyard-git is started by runyard-worker\n");
	return 2;
}
