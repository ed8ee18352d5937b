/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_MEASURE_H
#define WORKER_EXEC_MEASURE_H

#include <stdint.h>

/* The bytes of disk that the files below a folder take, at any depth, and 512 for each entry's inode. Links are not
 * followed and other file systems not entered; entries that can't be read don't count. Counting ends soon after `most`:
 * a larger tree takes no more time. */
int64_t measure_folder(int folder, int64_t most);

#endif
