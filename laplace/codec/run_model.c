/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the packing of runs expects, and how it learns (run_model.h). */
#include <stdlib.h>
#include <string.h>

#include "run_model.h"

#define SLOTS ((size_t)1 << LPL_HASH_BITS)

bool lpl_run_model_init(struct lpl_run_model *model)
{
	memset(model, 0, sizeof(*model));
	model->three = calloc(SLOTS, sizeof(*model->three));
	model->one = calloc(SLOTS, sizeof(*model->one));
	if (model->three && model->one &&
	    lpl_reserve(model->site, model->site_room, 0) &&
	    lpl_reserve(model->expected, model->expected_room, 0))
		return true;
	lpl_run_model_free(model);
	return false;
}

void lpl_run_model_free(struct lpl_run_model *model)
{
	free(model->three);
	free(model->one);
	free(model->trace);
	free(model->site);
	free(model->expected);
	memset(model, 0, sizeof(*model));
}

bool lpl_run_model_begin(struct lpl_run_model *model)
{
	memset(model->three, 0, SLOTS * sizeof(*model->three));
	memset(model->one, 0, SLOTS * sizeof(*model->one));
	memset(model->token, 0, sizeof(model->token));
	memset(model->base, 0, sizeof(model->base));
	model->traces = model->sites = model->expecteds = 0;
	if (!lpl_run_model_add(model, 0))
		return false;
	model->trace[0].code.count = 1;
	return true;
}

/* ---- traces ---- */

bool lpl_run_model_add(struct lpl_run_model *model, uint64_t address)
{
	if (!lpl_reserve(model->trace, model->trace_room, model->traces))
		return false;
	model->trace[model->traces] = (struct lpl_model_trace){ .code.address = address };
	model->traces++;
	return true;
}

size_t lpl_run_model_site(struct lpl_run_model *model, struct lpl_model_trace *trace,
			  unsigned int instruction, unsigned int n)
{
	unsigned int had = trace->room[instruction];
	unsigned int room = had > 0 ? had * 2 : 1;

	if (n < had)
		return trace->place[instruction] + n;
	while (room <= n)
		room *= 2;
	if (!lpl_reserve(model->site, model->site_room, model->sites + room))
		return SIZE_MAX;
	if (had > 0)
		memcpy(&model->site[model->sites], &model->site[trace->place[instruction]],
		       had * sizeof(*model->site));
	memset(&model->site[model->sites + had], 0, (room - had) * sizeof(*model->site));
	/* who expects them has to find them in their new place */
	for (unsigned int i = trace->begin[instruction]; i < trace->begin[instruction + 1]; i++)
		model->expected[trace->expected + i].site =
			(uint32_t)model->sites + i - trace->begin[instruction];
	trace->place[instruction] = (uint32_t)model->sites;
	trace->room[instruction] = (uint8_t)room;
	model->sites += room;
	return trace->place[instruction] + n;
}

/* The trace's lists get room for `count` references in all. */
static bool reserve_expected(struct lpl_run_model *model, struct lpl_model_trace *trace,
			     size_t count)
{
	size_t room = trace->expected_room > 0 ? trace->expected_room : 4;

	if (count <= trace->expected_room)
		return true;
	while (room < count)
		room *= 2;
	if (!lpl_reserve(model->expected, model->expected_room, model->expecteds + room))
		return false;
	if (trace->begin[LPL_TRACE_MAX] > 0)
		memcpy(&model->expected[model->expecteds], &model->expected[trace->expected],
		       trace->begin[LPL_TRACE_MAX] * sizeof(*model->expected));
	trace->expected = (uint32_t)model->expecteds;
	trace->expected_room = (uint32_t)room;
	model->expecteds += room;
	return true;
}

bool lpl_run_model_expect(struct lpl_run_model *model, struct lpl_model_trace *trace,
			  unsigned int instruction, const uint8_t *code, size_t count)
{
	size_t from = trace->begin[instruction], upto = trace->begin[instruction + 1];
	size_t all = trace->begin[LPL_TRACE_MAX];
	struct lpl_expected *list;

	if (!reserve_expected(model, trace, all - (upto - from) + count))
		return false;
	trace->scanned = 0;
	list = &model->expected[trace->expected];
	memmove(&list[from + count], &list[upto], (all - upto) * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[from + i] = (struct lpl_expected){
			.instruction = (uint8_t)instruction, .code = code[i],
			.site = trace->place[instruction] + (uint32_t)i };
	for (unsigned int i = instruction + 1; i <= LPL_TRACE_MAX; i++)
		trace->begin[i] = (uint16_t)(trace->begin[i] - (upto - from) + count);
	return true;
}

/* ---- tokens ---- */

void lpl_successor_learn(struct lpl_successor *successor, uint32_t token)
{
	if (successor->token[1] == token || successor->confidence < 2) {
		successor->token[1] = successor->token[0];
		successor->token[0] = token;
		successor->confidence = 1;
	} else {
		successor->token[1] = token;
		successor->confidence /= 2;
	}
}
