/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/audit_note.h"

#include <string.h>

#include "scheduler/rights/rights.h"

void audit_underscores(char *text)
{
	for (; *text; text++)
		if (*text == '-')
			*text = '_';
}

void audit_singular(const char *type, char *ret_name, size_t size)
{
	size_t len;

	text_copy(ret_name, size, text_or_empty(type));
	audit_underscores(ret_name);
	len = strlen(ret_name);
	if (len > 3 && strcmp(ret_name + len - 3, "ies") == 0)
		text_copy(ret_name + len - 3, size - len + 3, "y");
	else if (len > 1 && ret_name[len - 1] == 's' && ret_name[len - 2] != 's')
		ret_name[len - 1] = '\0';
}

static void note_id(struct id *id, const char *text)
{
	if (text && !id->text[0])
		text_copy(id->text, sizeof(id->text), text);
}

void audit_note_place(struct audit_note *audit, const struct place *place)
{
	if (!audit)
		return;
	note_id(&audit->organization, place->organization);
	note_id(&audit->project, place->project);
	note_id(&audit->workspace, place->workspace);
}

void audit_note_document(struct audit_note *audit, const json_t *resource)
{
	if (!audit || !json_string_at(resource, "id"))
		return;
	audit_singular(json_string_at(resource, "type"), audit->type, sizeof(audit->type));
	text_copy(audit->resource, sizeof(audit->resource), json_string_at(resource, "id"));
}

void audit_note_detail(struct audit_note *audit, const char *name, const char *value)
{
	if (!audit->details)
		audit->details = json_object();
	json_object_set_new(audit->details, name, json_string(value));
}

void audit_note_release(struct audit_note *audit)
{
	json_decref(audit->details);
	audit->details = NULL;
}
