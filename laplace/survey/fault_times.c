/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults over time: a sink in front of a simulator that has each fault charged (simulator.h) to the
 * time of the reference that took it.
 *
 * Time has the survey's bins.  A simulator that was given a number for a bin cannot fold it into
 * another one later, so every bin that anything was charged to keeps its number, and with it when
 * it began; when bins become longer there are new numbers.  A longer bin is exactly several of
 * those before, so at the end each number belongs to one bin.  For each length there are at most
 * LPL_SURVEY_BINS of them.
 */
#include <laplace/survey.h>

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/try.h"
#include "survey_time.h"

struct lpl_fault_times {
	struct lpl_sink sink;
	struct lpl_simulator *simulator;
	struct survey_time time;
	uint64_t *begin;		/* by number: when its bin begins */
	size_t count, room;
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for faults over time");
}

void lpl_fault_times_begin(struct lpl_fault_times *times, struct lpl_survey_clocks first)
{
	(void)moment_of(&times->time, first);
}

/* What follows is charged to the bin of `moment`. */
static enum lpl_error enter_bin(struct lpl_fault_times *times, uint64_t moment,
				struct lpl_report *report)
{
	struct survey_time *time = &times->time;

	while (!has_bin(time, moment))
		time->result.bin_shift++;
	time->bin = bin_of(time, moment);
	time->bin_end = lpl_survey_bin_start(&time->result, time->bin + 1);
	if (!lpl_reach(times->begin, times->room, times->count))
		return no_memory(report);
	times->begin[times->count] = lpl_survey_bin_start(&time->result, time->bin);
	return lpl_simulator_charge(times->simulator, (uint32_t)times->count++, report);
}

/* It is so late now.  Clocks that run backwards stand still. */
static enum lpl_error advance(struct lpl_fault_times *times, struct lpl_survey_clocks clocks,
			      bool charges, struct lpl_report *report)
{
	struct lpl_survey_time *time = &times->time.result;
	const uint64_t moment = moment_of(&times->time, clocks);

	if (moment > time->length)
		time->length = moment;
	/* 0: the end of all time */
	return charges && time->length >= times->time.bin_end && times->time.bin_end != 0 ?
		enter_bin(times, time->length, report) : LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_fault_times *times = (struct lpl_fault_times *)sink;
	struct lpl_sink *next = lpl_simulator_sink(times->simulator);
	size_t from = 0;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_survey_clocks clocks = CLOCKS_OF(&refs[i]);

		if (times->time.result.begun &&
		    clock_of(&times->time, clocks) - times->time.start < times->time.bin_end)
			continue;
		if (i > from)
			LPL_TRY(next->refs(next, &refs[from], i - from, report));
		from = i;
		LPL_TRY(advance(times, clocks, true, report));
	}
	if (count == 0)
		return LPL_OK;
	(void)advance(times, CLOCKS_OF(&refs[count - 1]), false, report);
	return next->refs(next, &refs[from], count - from, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	return advance((struct lpl_fault_times *)sink, CLOCKS_OF(event), false, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_fault_times *times = (struct lpl_fault_times *)sink;
	struct lpl_sink *next = lpl_simulator_sink(times->simulator);
	struct survey_time *time = &times->time;

	/* the last records may have been events */
	while (!has_bin(time, time->result.length))
		time->result.bin_shift++;
	time->result.bins = time->result.begun ? bin_of(time, time->result.length) + 1 : 0;
	return next->finish(next, report);
}

enum lpl_error lpl_fault_times_open(struct lpl_fault_times **times, struct lpl_simulator *simulator,
				    enum lpl_survey_clock clock, struct lpl_report *report)
{
	struct lpl_fault_times *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*times = NULL;
	if (!made)
		return no_memory(report);
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->simulator = simulator;
	made->time.result.clock = clock;
	error = enter_bin(made, 0, report);
	if (error) {
		lpl_fault_times_close(made);
		return error;
	}
	*times = made;
	return LPL_OK;
}

struct lpl_sink *lpl_fault_times_sink(struct lpl_fault_times *times)
{
	return &times->sink;
}

const struct lpl_survey_time *lpl_fault_times_time(const struct lpl_fault_times *times)
{
	return &times->time.result;
}

void lpl_fault_times_get(const struct lpl_fault_times *times, size_t policy, size_t result,
			 uint64_t faults[LPL_SURVEY_BINS])
{
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
		faults[bin] = 0;
	for (size_t i = 0; i < times->count; i++) {
		assert(bin_of(&times->time, times->begin[i]) < LPL_SURVEY_BINS);
		faults[bin_of(&times->time, times->begin[i])] +=
			lpl_simulator_charged(times->simulator, policy, result, (uint32_t)i);
	}
}

void lpl_fault_times_close(struct lpl_fault_times *times)
{
	if (!times)
		return;
	free(times->begin);
	free(times);
}
