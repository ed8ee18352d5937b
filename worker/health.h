/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_HEALTH_H
#define WORKER_HEALTH_H

/* /healthz, /readyz and /metrics. Their threads read what is safe from any thread and nothing else. */

struct err;
struct httpd;
struct worker;

/* Starts the server, and writes the port to the options' port file. */
int health_start(struct worker *worker, struct httpd **ret_server, struct err *err);

#endif
