/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/syntax/tree.h"

#define OPERATOR(name, text) text,
const char *const operator_texts[] = {
	"",
#include "worker/policy/sentinel/syntax/operators.def"
};
#undef OPERATOR
