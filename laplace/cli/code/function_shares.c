/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions by their faults. */
#include "function_shares.h"

#include <stdlib.h>
#include <string.h>

/* Of equals, by what is shown: their numbers depend on which came first. */
static int by_faults(const void *a, const void *b)
{
	const struct function_share *one = a, *other = b;
	int order;

	if (one->faults != other->faults)
		return one->faults > other->faults ? -1 : 1;
	if (one->references != other->references)
		return one->references > other->references ? -1 : 1;
	order = strcmp(one->function->file, other->function->file);
	if (!order)
		order = strcmp(one->function->name, other->function->name);
	return order ? order : one->function->mode < other->function->mode ? -1 : 1;
}

struct function_share *function_shares(const struct functions *functions,
				       const struct lpl_simulator *simulator, size_t index,
				       size_t result, size_t *count)
{
	const uint32_t all = functions_count(functions);
	struct function_share *share = calloc((size_t)all + 1, sizeof(*share));
	struct function_share sum = { .pages = lpl_simulator_pages(simulator) };

	*count = 0;
	for (uint32_t i = 0; share && i < all; i++) {
		const struct function *function = functions_at(functions, i);
		const struct function_share its = {
			function, function->references, function->pages,
			lpl_simulator_charged(simulator, index, result, i),
			lpl_simulator_charged_cold(simulator, i)
		};

		sum.references += its.references;
		sum.faults += its.faults;
		sum.cold += its.cold;
		if (its.references)
			share[(*count)++] = its;
	}
	if (share) {
		share[*count] = sum;
		qsort(share, *count, sizeof(*share), by_faults);
	}
	return share;
}
