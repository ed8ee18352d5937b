/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_parse.h"
#include "scheduler/store/states/states.h"
#include "scheduler/store/states/states.sql.h"

/* The resources of a workspace's current state. They are read from the state for each request. */

/* The id is derived from the workspace and the address, so it is stable. */
static void resource_id(const char *workspace_id, const char *address, char ret_id[ID_SIZE])
{
	_cleanup_(freep) char *text = mem_printf("%s\n%s", workspace_id, address);
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(text, strlen(text), digest);
	snprintf(ret_id, ID_SIZE, "wsr-%.16s", digest);
}

static json_t *instance_resource(const char *workspace_id, const struct state_row *state, const json_t *instance)
{
	json_t *changed = time_shown(state->created_at);
	char id[ID_SIZE];

	resource_id(workspace_id, json_string_at(instance, "address"), id);
	return resource_new("resources", id,
		json_pack("{sO sO sO sO sO so sO sO so}", "address", json_object_get(instance, "address"), "name",
			json_object_get(instance, "name"), "module", json_object_get(instance, "module"), "provider",
			json_object_get(instance, "provider"), "provider-type", json_object_get(instance, "type"),
			"created-at", changed, "updated-at", changed, "name-index", json_object_get(instance, "index"),
			"modified-by-state-version-id", json_string_or_null(state->id)),
		NULL);
}

/* The instances of the state, or NULL. NULL if there is no state, or its content was deleted. */
static int instances_read(struct store *store, const struct state_row *state, json_t **ret_instances, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_STATE);
	struct state_facts facts;

	*ret_instances = NULL;
	if (!state || !state->blob_id)
		return 0;
	if (state_content(store, state->id, &bytes, err) < 0 || state_parse(bytes.data, bytes.len, &facts, err) < 0)
		return -1;
	*ret_instances = state_instances(&facts);
	state_facts_release(&facts);
	return 0;
}

int workspace_resources_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_row *state;
	json_auto_t *instances = NULL;
	struct scope scope;
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0 || scope_workspace(req, &scope, err) < 0 ||
		state_read_current(req->store, scope.workspace.text, &rows, err) < 0)
		return -1;
	state = rows.count ? row_of(state, &rows, 0) : NULL;
	if (instances_read(req->store, state, &instances, err) < 0)
		return -1;
	page.total = (long long)json_array_size(instances);
	data = json_array();
	for (long long i = page.offset; state && i < page.total && i < page.offset + page.size; i++)
		json_array_append_new(
			data, instance_resource(scope.workspace.text, state, json_array_get(instances, (size_t)i)));
	return respond_page(req, res, &page, data, NULL);
}
