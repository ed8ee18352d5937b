/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SITE_SETTING_GROUPS_H
#define SCHEDULER_API_SITE_SETTING_GROUPS_H

/* Groups of the site's settings that site admins read and change, each with a resource of its own. */

#include "scheduler/http/fields.h"

struct setting_group {
	const char *id;   /* in the API and in store/site_settings.h */
	const char *type; /* "smtp-settings" */
	const struct field *fields;
	size_t count;
	const struct field_refusal *refused;
	size_t refused_count;
	const char *always; /* JSON object: attributes that never change, or NULL */
};

/* The group as it is stored, with its defaults, as an object of attributes. A new reference. */
json_t *setting_group_attributes(const struct setting_group *group, const json_t *settings);
int setting_group_show(struct request *req, struct response *res, const struct setting_group *group, struct err *err);
/* Reads the body's attributes of the group. A new reference. ERR_INVALID for what the group refuses. */
int setting_group_read(
	const struct request *req, const struct setting_group *group, json_t **ret_changes, struct err *err);
/* Stores the changes and answers with the group. */
int setting_group_change(struct request *req, struct response *res, const struct setting_group *group,
	const json_t *changes, struct err *err);

#endif
