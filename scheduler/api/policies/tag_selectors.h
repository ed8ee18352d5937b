/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POLICIES_TAG_SELECTORS_H
#define SCHEDULER_API_POLICIES_TAG_SELECTORS_H

#include "scheduler/api/api.h"

/* The attribute `tag-selectors` of the body as policy_set_tags_include takes it, a new reference. Stays as it is if the
 * body does not have it. */
int body_tag_selectors(const struct request *req, json_t **ret_selectors, struct err *err);
/* The same from a list, with errors at the pointer. */
int tag_selectors_parse(const json_t *list, const char *pointer, json_t **ret_selectors, struct err *err);

#endif
