/* SPDX-License-Identifier: MPL-2.0 */
/* Modules that runyard-inspect describes: an archive, or a configuration in one of its two forms. The description must
 * be complete and bounded, and the same for the same files. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "common/terraform/module_description.h"
#include "tests/fuzz/archive_input.h"
#include "worker/exec/beneath.h"
#include "worker/inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void folder_check(const json_t *folder)
{
	static const char *const lists[] = {"inputs", "outputs", "dependencies", "provider_dependencies", "resources"};
	static const char *const texts[] = {"path", "name", "readme", "required_version"};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (!json_is_array(json_object_get(folder, lists[i])))
			abort();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!json_is_string(json_object_get(folder, texts[i])))
			abort();
}

static void description_check(const json_t *description)
{
	_cleanup_(freep) char *text = json_text(description);
	const json_t *error = json_object_get(description, "error"), *folder;
	json_auto_t *again = NULL;
	struct err err = ERR_INIT;
	size_t i;

	if (strlen(text) > MODULE_DESCRIPTION_MAX || (!json_is_null(error) && !json_is_string(error)) ||
		json_parse(text, strlen(text), &again, &err) < 0)
		abort();
	folder_check(json_object_get(description, "root"));
	json_array_foreach(json_object_get(description, "submodules"), i, folder) folder_check(folder);
	json_array_foreach(json_object_get(description, "examples"), i, folder) folder_check(folder);
}

static void configuration(const char *name, const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *path = mem_text(name);
	_cleanup_(freep) char *text = mem_new(1, len + 1);
	struct inspected_file file = {path, text, len};
	json_auto_t *first = NULL, *second = NULL;

	memcpy(text, bytes, len);
	first = inspect_files(&file, 1);
	second = inspect_files(&file, 1);
	description_check(first);
	if (!json_equal(first, second))
		abort();
}

static void archive(const uint8_t *bytes, size_t len)
{
	_cleanup_(buf_release) struct buf packed = BUF_INIT(1 << 20);
	_cleanup_(closep) int fd = memfd_create("archive", MFD_CLOEXEC);
	json_auto_t *description = NULL;
	struct err err = ERR_INIT;

	archive_input(bytes, len, &packed);
	write_fully(fd, packed.data, packed.len);
	lseek(fd, 0, SEEK_SET);
	if (inspect_archive(fd, &description, &err) < 0)
		description = inspect_failed(err.message);
	description_check(description);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (len && *bytes == 't')
		configuration("main.tf", bytes + 1, len - 1);
	else if (len && *bytes == 'j')
		configuration("modules/a/main.tf.json", bytes + 1, len - 1);
	else
		archive(bytes, len);
	return 0;
}
