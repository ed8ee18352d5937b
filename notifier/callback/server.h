/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_SERVER_H
#define NOTIFIER_CALLBACK_SERVER_H

/*
 * The notifier's HTTP server:
 *
 *   PATCH /api/v2/task-results/:id/callback   the callback of a service; the only path for clients from outside
 *   GET   /circuits                           the circuit breakers by URL
 *   GET   /healthz /readyz /metrics
 */

struct err;
struct notifier;

struct server;

/* Starts the server, sets the notifier's public and internal URLs, and writes the port file. */
int server_start(struct notifier *notifier, struct server **ret_server, struct err *err);
/* Answers the open callbacks and joins the threads. All other parts must still exist. */
void server_stop(struct server *server);

#endif
