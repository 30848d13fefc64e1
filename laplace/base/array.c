/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays; see array.h. */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

bool lpl_reach_index(void *array, size_t *room, size_t index, size_t size)
{
	size_t wanted = *room < FIRST_ROOM ? FIRST_ROOM : *room;
	char *bytes;

	if (index < *room)
		return true;
	while (wanted <= index) {
		if (wanted > SIZE_MAX / 2)
			return false;
		wanted *= 2;
	}
	if (wanted > SIZE_MAX / size)
		return false;
	/* copied, not cast: a pointer to any type may be kept here, but not read as a void * */
	memcpy(&bytes, array, sizeof(bytes));
	bytes = realloc(bytes, wanted * size);
	if (bytes == NULL)
		return false;
	memset(bytes + *room * size, 0, (wanted - *room) * size);
	memcpy(array, &bytes, sizeof(bytes));
	*room = wanted;
	return true;
}
