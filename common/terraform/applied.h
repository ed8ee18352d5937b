/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_APPLIED_H
#define COMMON_TERRAFORM_APPLIED_H

/*
 * Collects the resources that terraform or tofu reports as created, changed or destroyed during an apply, and finds
 * those that a state lacks. Pure.
 *
 * Reports are lines of the engine's output: the hooks "apply_complete" of its JSON form, and its plain form
 * ("ADDRESS: Creation complete after 3s [id=ID]"). For a destroyed resource, the line before has the id
 * ("apply_start", "Destroying... [id=ID]"). A job can print such lines itself. Therefore the number of reports, the
 * length of each text and the form of an address are bounded.
 *
 * A resource is missing
 *
 *  - if it was created or changed, and the state has no instance of that address with that id;
 *  - if it was destroyed, and the state still has an instance of that address with that id.
 *
 * An id is compared only if both sides have one. Some resources have no id, and a log has "(sensitive value)" in
 * place of a secret.
 *
 * A job also writes the state. A state with more than APPLIED_PARTS_MAX resources and instances, which no real one has,
 * is not compared: nothing is missing.
 */

#include <jansson.h>

#include "common/base.h"
#include "common/json/json_scan.h"

struct buf;

enum {
	APPLIED_MAX = 100 * 1000,
	APPLIED_PARTS_MAX = 1000 * 1000,
	APPLIED_TEXT_MAX = 1024,
	APPLIED_MISSING_MAX = 1000,
};

struct applied;

struct applied *applied_new(void);
void applied_free(struct applied *applied);
static inline void applied_freep(struct applied **applied)
{
	applied_free(*applied);
}

/* Takes one line of the output, without its end. Lines that report nothing are ignored. */
void applied_line(struct applied *applied, const char *line, size_t len);
/* The same for all lines of a text. An unfinished last line is ignored. */
void applied_text(struct applied *applied, const char *text, size_t len);
/* Returns the missing resources in the order of the reports, at most APPLIED_MISSING_MAX. The result is a new
 * reference to an array of {action, address, type, provider, id}. action: create, update or delete; id: "" if unknown.
 * `state`: the text of a state of version 4, or empty if there is none. */
json_t *applied_missing(const struct applied *applied, struct json_span state);

/* Appends a string literal of HCL, escaped so that nothing in it is evaluated. */
void applied_quote(struct buf *out, const char *text);
/* True if the text is the address of a resource instance in the form of configurations: module.a["x"].type.name[0]. */
bool applied_address_valid(const char *address);

#endif
