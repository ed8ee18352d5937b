/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATE_PARSE_H
#define SCHEDULER_STORE_STATE_PARSE_H

/* What a state file of terraform's version 4 says. No I/O. */

#include "common/json.h"

struct err;

struct state_facts {
	json_t *document; /* owned */
	long long serial;
	const char *lineage;           /* borrowed from the document */
	const char *terraform_version; /* the same; may be NULL */
	const json_t *outputs;         /* the same: name -> {value, type, sensitive}; may be NULL */
};

/* ERR_INVALID if it is no state of version 4 with a serial and a lineage. */
int state_parse(const void *bytes, size_t len, struct state_facts *ret_facts, struct err *err);
void state_facts_release(struct state_facts *facts);

/* [{name, type, count, module, provider}], one for each resource; data sources' types begin with "data.". New. */
json_t *state_resources(const struct state_facts *facts);
/* How many instances of managed resources such a list has: data sources are only read. */
long long state_managed_count(const json_t *resources);
/* [{address, name, module, provider, type, index}], one for each instance of a managed resource, in their order;
 * modules and addresses as the API has them ("network.aws_subnet.this[0]"). New. */
json_t *state_instances(const struct state_facts *facts);
/* The coarse word for an output's type: string, number, bool, array, object. */
const char *output_type_word(const json_t *type);

#endif
