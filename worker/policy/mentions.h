/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_MENTIONS_H
#define WORKER_POLICY_MENTIONS_H

#include "common/buf.h"

/* Searches the files of policies for words, to find out what the policies may need. */

bool has_word(const struct buf *text, const char *word);
/* True if mentions() is true for a file below the folder. Reads only files whose names end with `ending`; "" means all
 * files. Also true if one of them can't be read: it is a link, or has more than 16 MiB. */
bool folder_mentions(int root, const char *folder, const char *ending, bool (*mentions)(const struct buf *text));

#endif
