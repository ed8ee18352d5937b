/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/maintenance.h"
#include "scheduler/api/api.h"

/* The site's maintenance, for site admins. */

static int maintenance_show(struct request *req, struct response *res, struct err *err)
{
	struct maintenance maintenance;

	if (maintenance_read(req->store, &maintenance, err) < 0)
		return -1;
	return respond_resource(res, 200,
		resource_new("maintenance", "maintenance",
			json_pack("{sb so so}", "enabled", maintenance.on, "reason",
				json_string_or_null(maintenance.on ? maintenance.reason : NULL), "since",
				json_string_or_null(maintenance.on ? maintenance.since : NULL)),
			NULL));
}

int admin_maintenance_read(struct request *req, struct response *res, struct err *err)
{
	return maintenance_show(req, res, err);
}

int admin_maintenance_update(struct request *req, struct response *res, struct err *err)
{
	const char *reason = NULL;
	bool on = false;

	if (body_check(req, "maintenance", err) < 0 || body_bool(req, "enabled", &on, err) < 0 ||
		body_text(req, "reason", &reason, err) < 0)
		return -1;
	if (!body_has(req, "enabled"))
		return err_at(err, "/data/attributes/enabled", "Enabled can't be blank");
	if (maintenance_set(req->store, on ? text_or_empty(reason) : NULL, err) < 0)
		return -1;
	return maintenance_show(req, res, err);
}
