/* SPDX-License-Identifier: MPL-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "scheduler/api/scim/scim.h"

enum { COUNT_DEFAULT = 100, COUNT_MAX = 200 };

/* A whole number of the query, or the fallback. */
static int number_read(
	const struct request *req, const char *name, long long fallback, long long *ret_number, struct err *err)
{
	const char *text = text_or_null(query(req, name));
	char *end;

	*ret_number = fallback;
	if (!text)
		return 0;
	*ret_number = strtoll(text, &end, 10);
	return *end ? scim_wrong(err, "invalidValue", "%s must be a whole number", name) : 0;
}

static int page_of(const struct request *req, struct scim_page *ret_page, struct err *err)
{
	struct scim_page page;

	if (number_read(req, "startIndex", 1, &page.start, err) < 0 ||
		number_read(req, "count", COUNT_DEFAULT, &page.count, err) < 0)
		return -1;
	if (page.start < 1)
		page.start = 1;
	if (page.start > INT_MAX)
		page.start = INT_MAX;
	page.count = page.count < 0 ? 0 : page.count > COUNT_MAX ? COUNT_MAX : page.count;
	*ret_page = page;
	return 0;
}

/* A filter that is one equality has an index. */
static bool equality_find(const struct scim_filter *filter, const char *name, struct scim_list *list)
{
	const struct scim_node *node = &filter->nodes[filter->root];
	const char *attribute = node->attribute.name;

	if (node->kind != SCIM_CONDITION || node->comparison != SCIM_EQ || !json_is_string(node->value) ||
		*node->attribute.urn || *node->attribute.sub)
		return false;
	list->value = json_string_value(node->value);
	if (strcasecmp(attribute, name) == 0)
		list->by = SCIM_BY_NAME;
	else if (strcasecmp(attribute, "externalId") == 0)
		list->by = SCIM_BY_EXTERNAL_ID;
	else if (strcasecmp(attribute, "id") == 0)
		list->by = SCIM_BY_ID;
	else
		return false;
	return true;
}

static int filter_of(const struct request *req, const char *name, struct scim_query *q, struct err *err)
{
	const char *text = query(req, "filter");

	if (!text)
		return 0;
	if (scim_filter_parse(text, &q->filter, err) < 0)
		return -1;
	if (equality_find(&q->filter, name, &q->list))
		return 0;
	q->list.by = SCIM_BY_FILTER;
	q->list.alternatives = &q->alternatives;
	return scim_filter_alternatives(&q->filter, &q->alternatives, err);
}

struct scim_query *scim_query_read(const struct request *req, const char *name, struct err *err)
{
	struct scim_query *q = mem_new(1, sizeof(*q));

	if (page_of(req, &q->page, err) < 0 || filter_of(req, name, q, err) < 0) {
		scim_query_free(q);
		return NULL;
	}
	q->list.limit = q->page.count;
	q->list.offset = q->page.start - 1;
	return q;
}

void scim_query_free(struct scim_query *query)
{
	if (!query)
		return;
	scim_filter_release(&query->filter);
	free(query);
}

int scim_respond_list(struct response *res, const struct scim_page *page, long long total, json_t *resources)
{
	return scim_respond(res, 200,
		json_pack("{s[s] sI sI sI so}", "schemas", "urn:ietf:params:scim:api:messages:2.0:ListResponse",
			"totalResults", (json_int_t)total, "startIndex", (json_int_t)page->start, "itemsPerPage",
			(json_int_t)json_array_size(resources), "Resources", resources));
}
