/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle for SEQ: each sequence is the list of its faults, each memory a list of pages. */
#include "oracle_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

struct fault {
	uint64_t number;	/* of the page in its space */
	size_t time;
};

struct sequence {
	const struct lpl_ref *one;	/* a reference to a page in its space */
	struct fault *fault;		/* from the first to the head */
	size_t faults;
};

struct sequences {
	struct sequence *list;
	size_t count, time;
};

static bool is_of_space(const struct sequence *sequence, const struct lpl_ref *ref)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	const bool walks = sequence->one->type == LPL_WALK_READ ||
		sequence->one->type == LPL_WALK_WRITE;

	return walk == walks && (walk || ref->space == sequence->one->space);
}

static const struct fault *last_fault(const struct sequence *sequence, size_t n)
{
	return &sequence->fault[sequence->faults - n];
}

static bool goes_on_with(const struct sequence *sequence, uint64_t number)
{
	const uint64_t head = last_fault(sequence, 1)->number;
	const bool above = number == head + 1;
	const bool below = head == number + 1;

	if (sequence->faults == 1)
		return above || below;
	return head > sequence->fault[0].number ? above : below;
}

static bool contains(const struct sequence *sequence, uint64_t number)
{
	for (size_t i = 0; i < sequence->faults; i++)
		if (sequence->fault[i].number == number)
			return true;
	return false;
}

static void forget(struct sequences *sequences, size_t i)
{
	free(sequences->list[i].fault);
	sequences->count--;
	memmove(&sequences->list[i], &sequences->list[i + 1],
		(sequences->count - i) * sizeof(sequences->list[i]));
}

static void append(struct sequence *sequence, uint64_t number, size_t time)
{
	struct fault *more = room(sequence->faults + 1, sizeof(*more));

	if (sequence->faults != 0)
		memcpy(more, sequence->fault, sequence->faults * sizeof(*more));
	free(sequence->fault);
	sequence->fault = more;
	sequence->fault[sequence->faults++] = (struct fault){number, time};
}

static void begin(struct sequences *sequences, const struct lpl_ref *ref, uint64_t number)
{
	size_t oldest = 0;

	for (size_t i = 0; i < sequences->count; i++)
		if (last_fault(&sequences->list[i], 1)->time <
		    last_fault(&sequences->list[oldest], 1)->time)
			oldest = i;
	if (sequences->count == 200)
		forget(sequences, oldest);
	sequences->list[sequences->count] = (struct sequence){.one = ref};
	append(&sequences->list[sequences->count++], number, sequences->time);
}

/* A fault: the one sequence that goes on with it, or a new one; those that it breaks into end. */
static void observe(struct sequences *sequences, const struct lpl_ref *ref)
{
	const uint64_t number = ref->address / 4096;
	struct sequence *joined = NULL;

	sequences->time++;
	for (size_t i = sequences->count; i-- > 0;)
		if (is_of_space(&sequences->list[i], ref) && contains(&sequences->list[i], number))
			forget(sequences, i);
	for (size_t i = 0; i < sequences->count; i++) {
		struct sequence *sequence = &sequences->list[i];

		if (is_of_space(sequence, ref) && goes_on_with(sequence, number) &&
		    (joined == NULL || last_fault(sequence, 1)->time > last_fault(joined, 1)->time))
			joined = sequence;
	}
	if (joined != NULL)
		append(joined, number, sequences->time);
	else
		begin(sequences, ref, number);
}

struct resident {
	uint32_t page;
	bool dirty;
};

/* The place in memory of the page that goes; the first is the least recently used. */
static size_t victim_of(const struct resident *memory, size_t used, const struct trace *trace,
			const struct sequences *sequences, const struct seq_options *options)
{
	const struct sequence *best = NULL;
	uint64_t head;

	for (size_t i = 0; i < sequences->count; i++) {
		const struct sequence *sequence = &sequences->list[i];

		if (sequence->faults > options->length && sequence->faults >= options->faults &&
		    (best == NULL || last_fault(sequence, options->faults)->time >
		     last_fault(best, options->faults)->time))
			best = sequence;
	}
	if (best == NULL)
		return 0;
	head = last_fault(best, 1)->number;
	for (size_t n = 1; n <= best->faults; n++) {
		const uint64_t number = last_fault(best, n)->number;
		const uint64_t distance = number < head ? head - number : number - head;

		for (size_t i = 0; i < used && distance >= options->distance; i++)
			if (is_of_space(best, &trace->of[memory[i].page]) &&
			    trace->of[memory[i].page].address / 4096 == number)
				return i;
	}
	return 0;
}

struct counts oracle_seq(const struct trace *trace, uint64_t size, const struct seq_options *options)
{
	struct counts counts = {.references = trace->count};
	struct sequences sequences = {.list = room(201, sizeof(struct sequence))};
	struct resident *memory = room(trace->pages, sizeof(*memory));
	size_t used = 0;

	for (size_t now = 0; now < trace->count; now++) {
		struct resident here = {.page = trace->page[now]};
		size_t i = 0;

		while (i < used && memory[i].page != here.page)
			i++;
		if (i < used) {
			here.dirty = memory[i].dirty;
		} else {
			counts.faults++;
			observe(&sequences, &trace->of[here.page]);
			if (used == size) {
				i = victim_of(memory, used, trace, &sequences, options);
				counts.evictions++;
				counts.dirty_evictions += memory[i].dirty ? 1 : 0;
			}
		}
		if (i < used) {
			used--;
			memmove(&memory[i], &memory[i + 1], (used - i) * sizeof(*memory));
		}
		here.dirty |= trace->write[now];
		memory[used++] = here;
	}
	while (sequences.count > 0)
		forget(&sequences, 0);
	free(sequences.list);
	free(memory);
	return counts;
}
