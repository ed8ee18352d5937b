/* SPDX-License-Identifier: MPL-2.0 */
#include <strings.h>

#include "scheduler/api/api.h"
#include "scheduler/http/scope.h"

/* Subscriptions and feature sets, which site admins' clients read before they use a feature. All organizations have the
 * same single feature set. Its name is that of the request, and a subscription changes nothing. */

static const char feature_set[] = "fs-everything";

static json_t *feature_set_resource(const char *name)
{
	return resource_new("feature-sets", feature_set,
		json_pack("{ss ss sb}", "name", name, "identifier", feature_set, "is-current", 1), NULL);
}

int feature_sets_index(struct request *req, struct response *res, struct err *err)
{
	const char *asked = query(req, "q");
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	page.total = 1;
	if (page.number > 1)
		return respond_page(req, res, &page, json_array(), NULL);
	return respond_page(
		req, res, &page, json_pack("[o]", feature_set_resource(asked && *asked ? asked : "Everything")), NULL);
}

int subscriptions_create(struct request *req, struct response *res, struct err *err)
{
	const char *wanted = body_relation(req, "feature-set");
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "subscription", err) < 0)
		return -1;
	if (strcasecmp(text_or_empty(wanted), feature_set) != 0)
		return err_at(err, "/data/relationships/feature-set", "Feature set must exist");
	return respond_resource(res, 201,
		resource_new("subscriptions", scope.organization.text, json_pack("{sb}", "is-active", 1),
			json_pack("{so so}", "organization", to_one("organizations", scope.organization_name),
				"feature-set", to_one("feature-sets", feature_set))));
}
