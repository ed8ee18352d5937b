/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_HEALTH_H
#define WORKER_RUNTIME_HEALTH_H

/* The HTTP endpoints /healthz, /readyz and /metrics. Their threads read only what is safe to read from any thread. */

struct err;
struct httpd;
struct worker;

/* Starts the server, and writes the port to the options' port file. */
int health_start(struct worker *worker, struct httpd **ret_server, struct err *err);

#endif
