/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_FOLDER_H
#define POLICY_COMMAND_FOLDER_H

/* The names in folders. */

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

/* True if something stands before the ending. */
bool name_ends(const char *name, const char *ending);

/* The wanted names in the folder, in order; none if there is no such folder. The caller frees each and the array.
 * False, with a message and without names, if the folder can't be read. */
bool folder_list(
	const char *folder, int (*wanted)(const struct dirent *entry), struct dirent ***ret_entries, size_t *ret_count);

/* The files of the working directory's configuration, ended by NULL: all *.hcl, or else sentinel.json, and behind them
 * those that override them (configuration/override.h). NULL if there are none. Free with folder_free_names. False with
 * a message if the folder can't be read. */
bool folder_config(char ***ret_names);
void folder_free_names(char **names);

#endif
