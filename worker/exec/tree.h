/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_TREE_H
#define WORKER_EXEC_TREE_H

/*
 * Walks a folder tree that a job made, however deep it is. The walk follows no link. Its time is proportional to the
 * number of entries. It holds a constant number of descriptors, and 40 bytes for each level of the current path.
 *
 * A folder without the owner's permissions gets them when the walk enters it.
 */

#include <stdbool.h>

enum tree_step {
	TREE_NEXT,  /* go on with the next entry */
	TREE_ENTER, /* walk the entry, which is a folder, next */
	TREE_STOP,  /* end the walk */
};

struct tree_visit {
	/* Called for each entry of a folder: the folder's descriptor and the entry's name, borrowed for the call. */
	enum tree_step (*entry)(void *data, int folder, const char *name);
	void *data;
	/* The visitor removes entries. After each return to a folder the walk reads it from its beginning, so that the
	 * visitor sees the folder that has become empty. The walk ends if it can't enter a folder. */
	bool removes;
};

/* Walks the folder `name` of `parent`. -1 with errno if it can't be entered, or if a removing walk ended early. A
 * measuring walk may miss folders that are moved meanwhile. */
int tree_walk(int parent, const char *name, const struct tree_visit *visit);

#endif
