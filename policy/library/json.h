/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_JSON_H
#define POLICY_LIBRARY_JSON_H

/*
 * JSON (RFC 8259) to values and back.
 *
 * Numbers without a fraction and an exponent are ints if they fit, all others floats. Members keep their order; of two
 * with the same name the last counts. An escaped surrogate without its other half is U+FFFD.
 */

#include "policy/core/output.h"
#include "policy/values/value.h"

struct json_error {
	const char *message; /* "a comma or ] is missing" */
	size_t offset;
};

/* Reads one document. False if it is none, with what is wrong in *ret_error. Strings without escapes refer to the
 * text, which must live as long as the run. Fails (core/run.h) at the limits: at the place in the text if run->at is in
 * a source with this text. */
bool json_read(struct run *run, const char *text, size_t len, struct value *ret_value, struct json_error *ret_error);

/* The same for the content of a file, which may begin with a byte order mark, as sources and HCL may. */
bool json_read_file(
	struct run *run, const char *text, size_t len, struct value *ret_value, struct json_error *ret_error);

/* Appends the value. Members and elements that are undefined or functions are left out. False, with nothing appended,
 * if the value itself is one of these. A number that JSON does not have (NaN) fails. */
bool json_write(struct run *run, struct output *output, struct value value);

#endif
