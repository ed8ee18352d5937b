/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_HELPER_HELPER_H
#define WORKER_GIT_HELPER_HELPER_H

/*
 * runyard-git runs git for a worker. It is a separate program with several roles:
 *
 *  - `runyard-git serve -- PROGRAM...` runs outside of the sandbox. It reads the order from its standard input, starts
 *    the program (the sandbox with the next role in it), and connects git with the order's hosts (proxy.h).
 *  - `runyard-git work` runs in the sandbox, which has no network. It drives git and writes the result to its standard
 *    output.
 *  - `runyard-git PROMPT` is git's GIT_ASKPASS: it answers for the connection's server only.
 *  - `runyard-git HOST PORT` is git's core.gitProxy and ssh's ProxyCommand: it connects through the proxy.
 *
 * The first two roles talk over a SOCK_SEQPACKET socket, which is the second one's standard input. The order
 * (records.h) comes first. The sandbox answers with a listening socket, at which git reaches the proxy. Later it may
 * send the URLs of submodules, and git may then connect to their hosts, too.
 */

#include "common/buf.h"

/* The environment of the last two roles. */
#define HELPER_CREDENTIAL "RUNYARD_GIT_CREDENTIAL" /* number of a descriptor: server, user, password, as lines */
#define HELPER_PROXY      "RUNYARD_GIT_PROXY"      /* the proxy's port at 127.0.0.1 */

/* Kinds of messages from the sandbox: the first byte. */
#define HELPER_LISTENS 'L' /* has the listening socket */
#define HELPER_URL     'U' /* followed by a submodule's URL: git may connect to its host, too */

int helper_serve(char *const *program);
int helper_work(const char *self);
int helper_ask(const char *prompt);
int helper_connect(const char *host, const char *port);

#endif
