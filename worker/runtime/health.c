/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/health.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/http/httpd.h"
#include "common/log.h"
#include "common/process.h"
#include "worker/runtime/disk.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/scheduler.h"

static bool ready(void *data, struct buf *why)
{
	const struct worker *worker = data;

	if (atomic_load(&worker->drain) != DRAIN_NONE)
		buf_text(why, "this worker drains: it takes no more jobs\n");
	else if (atomic_load(&worker->paused))
		buf_text(
			why, "an operator has drained this worker or its pool: it takes no jobs until it is resumed\n");
	if (!atomic_load(&worker->capable) && !worker->forwards)
		buf_text(why, "this worker can run nothing: it has no engine (--engine, --engine-dir, PATH)\n");
	else if (!scheduler_ready(worker->scheduler))
		buf_text(why, "the scheduler does not answer\n");
	if (disk_low(worker->disk))
		buf_text(why, "the disk of --data-dir is nearly full (--min-free-disk, --min-free-inodes)\n");
	return why->len == 0;
}

static void handle(void *data, const struct http_request *request, struct http_answer *answer)
{
	if (!httpd_observe(request, ready, data, answer))
		answer->status = 404;
}

int health_start(struct worker *worker, struct httpd **ret_server, struct err *err)
{
	const struct httpd_spec spec = {
		.address = worker->options.listen,
		.threads = 1,
		.max_connections = 64,
		.data = worker,
		.handle = handle,
	};

	struct httpd *server = NULL;

	if (httpd_start(&spec, &server, err) < 0)
		return err_context(err, "--listen");
	if (port_file_write(worker->options.port_file, httpd_port(server), err) < 0) {
		httpd_stop(server);
		return -1;
	}
	*ret_server = server;
	return 0;
}
