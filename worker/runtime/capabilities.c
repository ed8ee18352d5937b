/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/capabilities.h"

#include <unistd.h>

#include "common/log.h"
#include "common/process.h"
#include "proto/capabilities.h"
#include "worker/exec/program.h"
#include "worker/packages/download.h"
#include "worker/runtime/accept.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/job_source.h"

static bool program_exists(const struct worker *worker, const char *program)
{
	_cleanup_(freep) char *path = *program ? program_find(program, worker->options.engine_dir) : NULL;

	return path;
}

static void program_add(json_t *list, const char *name, bool there)
{
	if (there)
		json_array_append_new(list, json_string(name));
}

static void helper_add(json_t *list, const char *name, const char *helper)
{
	_cleanup_(freep) char *path = process_helper(helper);

	if (access(path, X_OK) == 0)
		json_array_append_new(list, json_string(name));
}

static json_t *list_make(const struct worker *worker)
{
	const struct options *options = &worker->options;
	json_t *list = engines_capabilities(worker->host.engines);
	bool has_engine = capabilities_engine(list);

	program_add(list, "opa", program_exists(worker, options->opa) || downloads_can(worker->downloads, program_opa));
	if (*options->sentinel)
		program_add(list, "sentinel", program_exists(worker, options->sentinel));
	else if (json_array_size(list) > 0)
		helper_add(list, "sentinel", "runyard-policy");
	if (has_engine || *options->price_books || *options->infracost)
		json_array_append_new(list, json_string("cost"));
	if (has_engine) {
		json_array_append_new(list, json_string(capability_query));
		json_array_append_new(list, json_string(capability_test));
		json_array_append_new(list, json_string(capability_provider_sets));
		helper_add(list, capability_identity, "runyard-vault");
	}
	if (worker->forwards)
		json_array_append_new(list, json_string(capability_forward));
	return list;
}

/* A worker that takes no stage of runs needs nothing. */
static bool list_suffices(const struct worker *worker, const json_t *list)
{
	return json_array_size(list) > (worker->forwards ? 1 : 0) || !accept_stages(worker->options.accept);
}

char *capabilities_text(const struct worker *worker)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096);
	const json_t *item;
	size_t i;

	json_array_foreach(worker->capabilities, i, item)
	{
		buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(item));
	}
	return text.len ? buf_take(&text) : mem_text("none");
}

struct look {
	struct worker *worker;
	loop_work_fn fn;
	void *data;
};

static void list_take(struct worker *worker, json_t *list, bool capable)
{
	bool first = !worker->capabilities, could = worker->capable;
	_cleanup_(freep) char *text = NULL;

	json_decref(worker->capabilities);
	worker->capabilities = list;
	atomic_store(&worker->capable, capable);
	text = capabilities_text(worker);
	if (!first)
		log_info("the worker's capabilities have changed", "capabilities", text, NULL);
	if (!worker->capable && worker->forwards)
		log_info("this worker has no engine: it sends requests, and claims no jobs", NULL);
	else if (!worker->capable)
		log_error("this worker can run nothing and claims nothing: install terraform or tofu (--engine, "
			  "--engine-dir)",
			NULL);
	if (!first && worker->capable && !could)
		job_source_go_on(worker->source);
}

static void looked(void *data)
{
	struct look look = *(struct look *)data;
	json_t *list = list_make(look.worker);
	bool capable = list_suffices(look.worker, list);

	free(data);
	accept_refusals(look.worker->options.accept, list);
	if (json_equal(list, look.worker->capabilities))
		json_decref(list);
	else
		list_take(look.worker, list, capable);
	if (look.fn)
		look.fn(look.data);
}

void capabilities_look(struct worker *worker, loop_work_fn fn, void *data)
{
	struct look *look = mem_new(1, sizeof(*look));

	*look = (struct look){worker, fn, data};
	engines_look(worker->host.engines, looked, look);
}
