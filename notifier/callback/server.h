/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_SERVER_H
#define NOTIFIER_CALLBACK_SERVER_H

/*
 * The notifier's HTTP server:
 *
 *   PATCH /api/v2/task-results/:id/callback   what a service reports; the only path that is for the outside
 *   GET   /circuits                           the circuit breakers by URL
 *   GET   /healthz /readyz /metrics
 */

struct err;
struct notifier;

struct server;

/* Starts it, settles the notifier's public URL, and writes the port file. */
int server_start(struct notifier *notifier, struct server **ret_server, struct err *err);
/* Answers what waits, and ends the threads. To be called while all other parts are there. */
void server_stop(struct server *server);

#endif
