/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs of blocks that make the data references expected of them.
 *
 * What step_expected() and advance() of block_decode.c do for one block is done here for as many as make the
 * data references that are listed.  How many that are is known beforehand, and how many of them are where
 * their sites' kinds say; so in a run nothing can be missing or malformed but tokens and
 * addresses that are not predicted, and the clocks, which cannot wrap around, as they
 * are far from it where it begins.  Whatever else there is ends the run, and is left to those functions.
 *
 * A token is *still* if all its sites predict where they were: then they do not change, and are
 * not looked at.
 */
#include "base/try.h"
#include "block_run.h"

/* No chunk's clocks move so far. */
#define CALM (UINT64_C(1) << 62)
#define LONGEST ((uint64_t)1 << 16)	/* blocks for which there is room at once */

static unsigned int d_of(const struct lpl_site *site)
{
	return (uint8_t)(site->word >> LPL_WORD_COUNT_SHIFT);
}

void lpl_block_run_learn(const struct lpl_block_model *model, struct lpl_token *token)
{
	const struct lpl_site *site = &model->site[token->sites];
	const bool crosses = token->fetched > 0 && lpl_trace_crosses(&model->trace[token->trace]);
	unsigned int last = token->fetched > 0 ? token->fetched - 1U : 0;
	uint64_t moves = 0;

	for (size_t i = 0; i < token->listed; i++)
		moves |= site[i].difference[LPL_PREDICT_STEP];	/* 0: the kind, too */
	if (token->listed > 0 && d_of(&site[token->listed - 1]) > last)
		last = d_of(&site[token->listed - 1]);
	token->begins = (uint8_t)(token->fetched > 0 || token->listed == 0 ? 0 : d_of(&site[0]));
	token->ends = (uint8_t)last;
	token->refs = (uint8_t)(token->listed + token->fetched + crosses);
	token->still = moves == 0;
}

bool lpl_block_run_pattern(struct lpl_block_decoder *decoder, struct lpl_token *token)
{
	const struct lpl_block_model *model = &decoder->model;
	const struct lpl_site *site = &model->site[token->sites];
	const uint64_t space = decoder->now.state.space;
	uint64_t word[LPL_LIST_MAX];
	uint32_t number;

	for (size_t i = 0; i < token->listed; i++)
		word[i] = site[i].word;
	if (!lpl_block_steps_block(&decoder->steps, &model->trace[token->trace], token, space, word, token->listed, 0,
				   &number))
		return false;
	token->pattern = number + 1;
	token->space = space;
	return true;
}

/* Can a run begin? */
static bool is_calm(const struct lpl_block_decoder *decoder)
{
	const struct lpl_block_position *now = &decoder->now;

	return decoder->refs > 0 && now->ref >= now->event_ref && now->next_instr < CALM &&
	       now->next_instr + now->state.cycle_offset < CALM && now->cycle < CALM &&
	       now->cycle == now->instr + now->state.cycle_offset;
}

enum lpl_error lpl_block_run_move(struct lpl_block_decoder *decoder, struct lpl_token *token, bool *left_page)
{
	struct lpl_site *site = &decoder->model.site[token->sites];
	uint64_t moved = 0, moves = 0;

	for (size_t i = 0; i < token->listed; i++) {
		const uint64_t before = site[i].word;
		uint64_t address;

		LPL_TRY(lpl_block_decode_address(decoder, &site[i], &address));
		moved |= before ^ site[i].word;
		moves |= site[i].difference[LPL_PREDICT_STEP];
	}
	token->still = moves == 0;
	*left_page = moved >> LPL_PAGE_SHIFT != 0;
	return LPL_OK;
}

/* The same where all are predicted. */
static inline bool move(struct lpl_block_model *model, const struct lpl_token *token)
{
	struct lpl_site *site = &model->site[token->sites];
	uint64_t near = model->near, far = model->far, moved = 0;

	for (size_t i = 0; i < token->listed; i++) {
		const uint64_t before = site[i].word;
		const uint64_t address = lpl_predict(&site[i], lpl_kind(&site[i]), near, far);

		lpl_site_set_last(&site[i], address);
		moved |= before ^ site[i].word;
		far = near;
		near = address;
	}
	model->near = near;
	model->far = far;
	return moved >> LPL_PAGE_SHIFT != 0;
}

/* They are where they were. */
static inline void stay(struct lpl_block_model *model, const struct lpl_token *token)
{
	const struct lpl_site *end = &model->site[token->sites + token->listed];

	if (token->listed == 0)
		return;
	model->far = token->listed > 1 ? end[-2].word & LPL_ADDRESS_MASK : model->near;
	model->near = end[-1].word & LPL_ADDRESS_MASK;
}

/* Is this what it does next, if its data references are those listed?  (Of a state and the like there is no pattern.) */
static inline bool can_run(const struct lpl_token *token, uint64_t next_instr, uint64_t instr)
{
	return token->pattern != 0 && next_instr + token->begins >= instr;
}

enum lpl_error lpl_block_run(struct lpl_block_decoder *decoder, uint64_t refs, uint32_t *token,
			     bool *after_state)
{
	struct lpl_block_model *model = &decoder->model;
	struct lpl_block_steps *steps = &decoder->steps;
	struct lpl_block_position *now = &decoder->now;
	const uint64_t space = now->state.space, before = decoder->refs;
	uint64_t *correct = decoder->correct;
	uint64_t left = correct[LPL_BLOCK_SHAPE] < LONGEST ? correct[LPL_BLOCK_SHAPE] : LONGEST;
	uint64_t next_instr = now->next_instr, instr = now->instr, run;
	uint64_t done = before;
	bool whole = true;

	*token = LPL_TOKEN_NONE;
	if (!is_calm(decoder))
		return LPL_OK;
	left = left < refs - before ? left : refs - before;
	if (!lpl_reserve(steps->step, steps->step_room, steps->steps + left))
		return lpl_block_no_memory(decoder);
	for (run = 0; run < left && done < refs && whole; run++) {
		uint32_t number = model->after[model->context].best;
		struct lpl_token *block;
		bool left_page;

		/* none, a state or the like, or with hysteresis; or it is another one */
		if (correct[LPL_BLOCK_FLOW] == 0 || number - LPL_TOKEN_BLOCKS >= LPL_HYSTERESIS - LPL_TOKEN_BLOCKS) {
			LPL_TRY(lpl_block_decode_token(decoder, &number));
			block = &model->token[number];
			if (number < LPL_TOKEN_BLOCKS || !can_run(block, next_instr, instr)) {
				*token = number;
				break;
			}
		} else {
			block = &model->token[number];
			if (!can_run(block, next_instr, instr))
				break;
			correct[LPL_BLOCK_FLOW]--;
			lpl_block_model_advance(model, number);
		}
		instr = next_instr + block->ends;
		next_instr += block->fetched;
		done += block->refs;
		if (block->listed > correct[LPL_BLOCK_HITS]) {
			LPL_TRY(lpl_block_run_move(decoder, block, &left_page));
		} else {
			correct[LPL_BLOCK_HITS] -= block->listed;
			left_page = !block->still && move(model, block);
			if (block->still)
				stay(model, block);
		}
		if (left_page || block->space != space) {
			whole = lpl_block_run_pattern(decoder, block);
			if (steps->visits > LPL_STEP_VISITS_MOST)
				left = 0;	/* the run ends here, and with it the steps */
		} else {
			steps->step[steps->steps++] = block->pattern - 1;
		}
	}
	*after_state &= run == 0;
	correct[LPL_BLOCK_SHAPE] -= run;
	now->next_instr = next_instr;
	now->instr = instr;
	now->cycle = instr + now->state.cycle_offset;
	now->ref += done - before;
	decoder->refs = done;
	/* a word for each block and data reference; and for each fetch, which is too many */
	decoder->op_words += run + (done - before);
	return whole ? LPL_OK : lpl_block_no_memory(decoder);
}
