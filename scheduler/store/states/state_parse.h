/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_PARSE_H
#define SCHEDULER_STORE_STATES_STATE_PARSE_H

/* A parser of terraform's state files of version 4. No I/O. */

#include "common/json/json.h"

struct err;

struct state_facts {
	struct json_document document; /* owned */
	long long serial;
	const char *lineage;           /* borrowed from the document */
	const char *terraform_version; /* borrowed; may be NULL */
	const json_t *outputs;         /* borrowed: name -> {value, type, sensitive}; may be NULL */
};

/* ERR_INVALID unless it is a state of version 4 with a serial and a lineage; ERR_TOO_LARGE and ERR_UNAVAILABLE of
 * json_document_load. */
int state_parse(const void *bytes, size_t len, struct state_facts *ret_facts, struct err *err);
void state_facts_release(struct state_facts *facts);

/* [{name, type, count, module, provider}], one per resource. Types of data sources begin with "data.". A new
 * reference. */
json_t *state_resources(const struct state_facts *facts);
/* The number of instances of managed resources in such a list; data sources do not count. */
long long state_managed_count(const json_t *resources);
/* [{address, name, module, provider, type, index, engine-address, source}], one per instance of a managed resource, in
 * the file's order. Modules and addresses have the API's form ("network.aws_subnet.this[0]"), engine-address has the
 * engine's ("module.network.aws_subnet.this[0]"). `source` is the whole address of the provider. A new reference. */
json_t *state_instances(const struct state_facts *facts);
/* The API's name of an output's type: string, number, bool, array, object. */
const char *output_type_word(const json_t *type);

#endif
