/* SPDX-License-Identifier: MPL-2.0 */
/* Input of services to a notifier. The first byte selects: a callback, an answer with its headers, a claimed
 * request. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/http/answer.h"
#include "notifier/callback/report.h"
#include "notifier/callback/report_rules.h"
#include "notifier/delivery/delivery.h"
#include "proto/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void read_report(const char *text, size_t len)
{
	json_t *report = NULL;
	struct err err = ERR_INIT;

	if (report_parse(text, len, &report, &err) < 0) {
		if (err.kind != ERR_INVALID)
			abort();
		return;
	}
	if (!json_string_at(report, "status") || json_array_size(json_at(report, "outcomes")) > MAX_TASK_OUTCOMES)
		abort();
	json_decref(report);
}

static void read_answer(const char *text, size_t len)
{
	json_auto_t *headers = json_object();
	_cleanup_(freep) char *clean = answer_clean(text, len, "hunter22");
	json_auto_t *shown = json_string(clean);

	if (!shown || strstr(clean, "hunter22"))
		abort(); /* not UTF-8, or contains the secret */
	answer_header_add(headers, text, len);
	if (json_object_size(headers) > MAX_HEADERS)
		abort();
}

static void read_request(const char *text, size_t len)
{
	json_auto_t *claimed = json_loadb(text, len, 0, NULL);

	if (claimed)
		delivery_free(delivery_new(claimed, 0));
}

static void (*const readers[])(const char *text, size_t len) = {read_report, read_answer, read_request};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (len)
		readers[*bytes % ARRAY_LEN(readers)]((const char *)bytes + 1, len - 1);
	return 0;
}
