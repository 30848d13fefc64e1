/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of an instruction's references its operands make; see drmemtrace_access.h. */
#include "drmemtrace_access.h"

enum {
	JOINED = 1024,		/* accesses of an instruction, at most, of which neighbours are looked for */
	EXTENT = 16384		/* at most, of an area that one operand is */
};

size_t lpl_drmemtrace_delivery(const struct drmemtrace_access *access, size_t count)
{
	size_t writes = 0, first;

	while (writes < count && writes < 6) {
		const struct drmemtrace_access *at = &access[count - 1 - writes];

		if (!at->write || at->length != 8 || (writes && at->address != at[1].address + 8))
			break;
		writes++;
	}
	if (writes < 5)
		return count;
	first = count - writes;
	for (size_t i = first; i >= 2 && i + 10 > first && !access[i - 1].write; i--)
		if (!access[i - 2].write && access[i - 2].length == 8 && access[i - 1].length == 8 &&
		    access[i - 2].address % 16 == 0 && access[i - 1].address == access[i - 2].address + 8)
			return i - 2;
	return count;
}

/* Two that are neighbours become one; false: they are not. */
static bool join_two(struct drmemtrace_access *to, const struct drmemtrace_access *from)
{
	if (to->write != from->write || (to->address + to->length != from->address &&
					 from->address + from->length != to->address))
		return false;
	if (from->address < to->address) {
		to->address = from->address;
		to->frame = from->frame;
	}
	to->length += from->length;
	return true;
}

/* Neighbours, of one kind, become one access. */
static size_t join(struct drmemtrace_access *access, size_t count, bool write)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct drmemtrace_access now = access[i];
		size_t k = 0;

		while (k < kept && !(now.write == write && join_two(&access[k], &now)))
			k++;
		if (k == kept)
			access[kept++] = now;
	}
	return kept;
}

static size_t count_of(const struct drmemtrace_access *access, size_t count, bool write)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += access[i].write == write;
	return found;
}

/* What one operand is, with holes: from its first byte to its last.  false: it is too far. */
static bool span(struct drmemtrace_access *access, size_t count, bool write, struct drmemtrace_access *whole)
{
	uint64_t first = UINT64_MAX, end = 0, frame = 0;

	for (size_t i = 0; i < count; i++) {
		if (access[i].write != write)
			continue;
		if (access[i].address < first) {
			first = access[i].address;
			frame = access[i].frame;
		}
		if (access[i].address + access[i].length > end)
			end = access[i].address + access[i].length;
	}
	*whole = (struct drmemtrace_access){ .address = first, .frame = frame, .length = (uint32_t)(end - first),
					     .write = write };
	return end > first && end - first <= EXTENT;
}

size_t lpl_drmemtrace_fit(struct drmemtrace_step *step, bool write, unsigned int operands)
{
	struct drmemtrace_access whole;
	size_t kept = 0, left = operands, own = 0, before;

	if (count_of(step->access, step->count, write) <= operands)
		return 0;
	do {
		before = step->count;
		if (step->count <= JOINED)
			step->count = join(step->access, step->count, write);
	} while (step->count < before);
	if (count_of(step->access, step->count, write) <= operands)
		return 0;
	if (operands == 1 && step->decoded.branch == LPL_BRANCH_NONE &&
	    span(step->access, step->count, write, &whole)) {
		for (size_t i = 0; i < step->count; i++)
			if (step->access[i].write == write) {
				step->access[i] = whole;
				break;
			}
	} else {
		own = count_of(step->access, step->count, write) - operands;
	}
	for (size_t i = 0; i < step->count; i++) {
		if (step->access[i].write == write && left == 0)
			continue;
		left -= step->access[i].write == write;
		step->access[kept++] = step->access[i];
	}
	step->count = kept;
	return own;
}
