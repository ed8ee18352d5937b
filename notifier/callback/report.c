/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/callback/report.h"

#include "common/err.h"
#include "notifier/callback/outcomes.h"
#include "notifier/callback/report_rules.h"

static const char *const types[] = {"task-results", "task_results"};
static const char *const statuses[] = {"passed", "failed", "running"};
static const char *const relations[] = {"outcomes", "task-result-outcomes"};

static int attributes_read(const json_t *data, json_t *report, struct err *err)
{
	static const struct text_rule message = {.name = "message", .characters = REPORT_MESSAGE};
	static const struct text_rule url = {.name = "url", .characters = REPORT_URL, .url = true};
	const json_t *attributes = json_object_get(data, "attributes");
	const char *status = json_string_value(json_object_get(attributes, "status"));

	if (!json_is_object(attributes))
		return err_at(err, "/data/attributes", "attributes must be an object");
	if (!one_of(status, statuses, ARRAY_LEN(statuses)))
		return err_at(err, "/data/attributes/status", "status must be passed, failed or running");
	json_object_set_new(report, "status", json_string(status));
	if (text_member(attributes, "/data/attributes", &message, report, err) < 0)
		return -1;
	return text_member(attributes, "/data/attributes", &url, report, err);
}

/* A missing or null relation means that the report has no outcomes. */
static int relation_read(const json_t *data, json_t *report, struct err *err)
{
	const json_t *relationships = json_object_get(data, "relationships");
	json_t *outcomes = NULL;

	if (relationships && !json_is_null(relationships) && !json_is_object(relationships))
		return err_at(err, "/data/relationships", "relationships must be an object");
	for (size_t i = 0; !outcomes && i < ARRAY_LEN(relations); i++) {
		const json_t *relation = json_object_get(relationships, relations[i]);

		if (relation && !json_is_null(relation) &&
			outcomes_read(json_object_get(relation, "data"), relations[i], &outcomes, err) < 0)
			return -1;
	}
	json_object_set_new(report, "outcomes", outcomes ? outcomes : json_null());
	return 0;
}

int report_parse(const char *bytes, size_t len, json_t **ret_report, struct err *err)
{
	json_auto_t *document = NULL, *report = json_object();
	const json_t *data;

	if (json_parse(bytes, len, &document, err) < 0) {
		err->kind = ERR_INVALID;
		return -1;
	}
	data = json_object_get(document, "data");
	if (!json_is_object(data))
		return err_at(err, "/data", "data must be an object");
	if (!one_of(json_string_value(json_object_get(data, "type")), types, ARRAY_LEN(types)))
		return err_at(err, "/data/type", "type must be task-results");
	if (attributes_read(data, report, err) < 0 || relation_read(data, report, err) < 0)
		return -1;
	*ret_report = json_incref(report);
	return 0;
}
