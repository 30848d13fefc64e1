/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Growing arrays: a pointer, and a size_t: how many elements it has room for.
 * Both begin as 0; free() frees the array.
 */
#ifndef LAPLACE_BASE_ARRAY_H
#define LAPLACE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Let the array reach `index`: it may move, what is new is zeroed, and it at least doubles, so
 * that adding one by one costs little.  false: no memory (or too many), nothing changed.
 */
#define lpl_reach(array, room, index) \
	lpl_reach_index(&(array), &(room), (index), sizeof(*(array)))

/*
 * The same, but what is new is not zeroed: for what is written before it is read, and so large
 * that the part not used yet should take no memory.
 */
#define lpl_reserve(array, room, index) \
	lpl_reserve_if_full(&(array), &(room), (index), sizeof(*(array)))

/* The same for elements of `size` bytes; `array` is the address of the pointer. */
bool lpl_reach_index(void *array, size_t *room, size_t index, size_t size);
bool lpl_reserve_index(void *array, size_t *room, size_t index, size_t size);

/* Mostly there is room, and that is asked for each pattern and page: so no function is called then. */
static inline bool lpl_reserve_if_full(void *array, size_t *room, size_t index, size_t size)
{
	return index < *room || lpl_reserve_index(array, room, index, size);
}

#endif
