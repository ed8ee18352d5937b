/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/assessments/findings.h"

#include <string.h>

/* Adds the member, and a separator that no text of it contains. */
static void digest_add(struct sha256 *digest, const json_t *row, const char *member)
{
	_cleanup_(freep) char *text =
		json_text(json_object_get(row, member) ? json_object_get(row, member) : json_null());

	crypto_sha256_add(digest, text, strlen(text));
	crypto_sha256_add(digest, "\n", 1);
}

static void drift_read(const json_t *rows, struct findings *findings)
{
	struct sha256 *digest = crypto_sha256_begin();
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!json_is_true(json_object_get(row, "relevant")))
			continue;
		findings->drifted++;
		digest_add(digest, row, "address");
		digest_add(digest, row, "action");
		digest_add(digest, row, "changed");
	}
	crypto_sha256_end(digest, findings->drift_digest);
	if (!findings->drifted)
		findings->drift_digest[0] = '\0';
}

static void checks_read(const json_t *rows, struct findings *findings)
{
	struct sha256 *digest = crypto_sha256_begin();
	const json_t *row;
	bool any = false;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (text_equal(json_string_at(row, "status"), "unknown"))
			continue;
		any = true;
		digest_add(digest, row, "address");
		digest_add(digest, row, "status");
	}
	crypto_sha256_end(digest, findings->checks_digest);
	if (!any)
		findings->checks_digest[0] = '\0';
}

struct findings findings_of(const json_t *summary)
{
	const json_t *statuses = json_object_get(summary, "checks-by-status");
	struct findings findings = {
		.checks_passed = json_int_at(statuses, "pass", 0),
		.checks_failed = json_int_at(statuses, "fail", 0),
		.checks_errored = json_int_at(statuses, "error", 0),
		.checks_unknown = json_int_at(statuses, "unknown", 0),
	};

	drift_read(json_object_get(summary, "drift"), &findings);
	checks_read(json_object_get(summary, "checks"), &findings);
	return findings;
}
