/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/payload.h"

#include "common/err.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_handler *const handlers[VCS_DIALECTS] = {
	[VCS_GITHUB] = payload_github,
	[VCS_GITLAB] = payload_gitlab,
	[VCS_BITBUCKET_CLOUD] = payload_bitbucket_cloud,
	[VCS_BITBUCKET_SERVER] = payload_bitbucket_server,
	[VCS_AZURE] = payload_azure,
	[VCS_GITEA] = payload_gitea,
};

int vcs_payload_read(
	enum vcs_dialect dialect, const char *name, const json_t *body, struct vcs_events *ret_events, struct err *err)
{
	struct payload payload = {.name = text_or_empty(name), .body = body, .events = VCS_EVENTS_INIT, .err = err};
	const struct payload_handler *handler = handlers[dialect];

	if (!json_is_object(body))
		return err_set(err, ERR_INVALID, "The payload is not an object.");
	while (handler && handler->name && !text_equal(handler->name, payload.name))
		handler++;
	if (handler && handler->name)
		handler->read(&payload);
	if (payload.failed) {
		vcs_events_release(&payload.events);
		return -1;
	}
	*ret_events = payload.events;
	return 0;
}
