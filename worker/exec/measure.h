/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_MEASURE_H
#define WORKER_EXEC_MEASURE_H

#include <stdint.h>

/* The bytes of disk that the files below a folder take. Links are not followed and other file systems not entered;
 * files that can't be looked at, and what lies more than a hundred folders deep, don't count. */
int64_t measure_folder(int folder);

#endif
