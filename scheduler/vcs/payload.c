/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/payload.h"

#include "common/err.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_dialect *const dialects[VCS_DIALECTS] = {
	[VCS_GITHUB] = &payload_github,
	[VCS_GITLAB] = &payload_gitlab,
	[VCS_BITBUCKET_CLOUD] = &payload_bitbucket_cloud,
	[VCS_BITBUCKET_SERVER] = &payload_bitbucket_server,
	[VCS_AZURE] = &payload_azure,
	[VCS_GITEA] = &payload_gitea,
};

static bool applies(const struct payload *payload, const struct payload_row *row, const char *name)
{
	return text_equal(row->name, name) &&
		(!row->action || text_equal(row->action, json_string_at(payload->body, payload->dialect->action))) &&
		(!row->when || row->when(payload->body));
}

static void read_event(struct payload *payload, const struct payload_row *row)
{
	struct vcs_event *event = payload_add(payload, row->kind);

	if (!event)
		return;
	event->is_new = row->is_new;
	event->removed = row->removed;
	payload_fill(payload, event, payload->body, payload->dialect->common);
	payload_fill(payload, event, payload->body, row->fields);
	if (row->finish)
		row->finish(payload, event);
}

int vcs_payload_read(
	enum vcs_dialect dialect, const char *name, const json_t *body, struct vcs_events *ret_events, struct err *err)
{
	struct payload payload = {.dialect = dialects[dialect], .body = body, .events = VCS_EVENTS_INIT, .err = err};
	const struct payload_row *row = payload.dialect ? payload.dialect->rows : NULL;

	if (!json_is_object(body))
		return err_set(err, ERR_INVALID, "The payload is not an object.");
	while (row && row->name && !applies(&payload, row, name))
		row++;
	if (row && row->read)
		row->read(&payload);
	else if (row && row->name)
		read_event(&payload, row);
	if (payload.failed) {
		vcs_events_release(&payload.events);
		return -1;
	}
	*ret_events = payload.events;
	return 0;
}
