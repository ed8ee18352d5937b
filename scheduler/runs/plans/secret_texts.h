/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_PLANS_SECRET_TEXTS_H
#define SCHEDULER_RUNS_PLANS_SECRET_TEXTS_H

/*
 * Searches many texts for any of some secrets. A text is read once, however many secrets there are: its bytes are
 * looked up by the first four bytes of the secrets. Secrets under four bytes are too common to look for.
 */

#include "common/json/json.h"

struct secret_texts;

/* From an array of texts, of which other values are ignored. Borrows the array, which must live as long. */
struct secret_texts *secret_texts_new(const json_t *secrets);
/* NULL-safe. */
void secret_texts_free(struct secret_texts *secrets);
static inline void secret_texts_freep(struct secret_texts **secrets)
{
	secret_texts_free(*secrets);
}

/* True if the text holds a secret. The work over all calls is bounded: beyond it, each text counts as secret. */
bool secret_texts_in(struct secret_texts *secrets, const char *text, size_t len);
/* The same for a string, and for the digits of a number. Other values hold none. */
bool secret_texts_in_value(struct secret_texts *secrets, const json_t *value);

/* Notes each string in a value that was blanked. A document may have copies of it that nothing marks: an attribute that
 * a provider computes from a sensitive one. Strings under four bytes, and those beyond a limit, are not noted. */
void secret_texts_note(struct secret_texts *secrets, const json_t *value);
/* True for a string that is equal to a noted one. */
bool secret_texts_noted(const struct secret_texts *secrets, const json_t *value);

#endif
