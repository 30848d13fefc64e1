/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the packing of blocks expects, and how it learns (block_model.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "block_model.h"

#define CONTEXTS ((size_t)1 << LPL_CONTEXT_BITS)

bool lpl_block_model_init(struct lpl_block_model *model)
{
	memset(model, 0, sizeof(*model));
	model->after = calloc(CONTEXTS, sizeof(*model->after));
	if (model->after && lpl_reserve(model->site, model->site_room, 0))
		return true;
	lpl_block_model_free(model);
	return false;
}

void lpl_block_model_free(struct lpl_block_model *model)
{
	free(model->after);
	free(model->trace);
	free(model->token);
	free(model->site);
	memset(model, 0, sizeof(*model));
}

bool lpl_block_model_begin(struct lpl_block_model *model)
{
	memset(model->after, 0, CONTEXTS * sizeof(*model->after));
	model->context = 0;
	model->previous = LPL_TOKEN_NONE;
	model->near = model->far = 0;
	model->traces = model->tokens = model->sites = 0;
	/* number 0 is no code, and the first tokens are no blocks of traces */
	if (!lpl_block_model_trace(model, 0))
		return false;
	model->trace[0].count = 1;
	while (model->tokens < LPL_TOKEN_BLOCKS) {
		if (!lpl_block_model_token(model, 0, 0, 0))
			return false;
	}
	return true;
}

bool lpl_block_model_trace(struct lpl_block_model *model, uint64_t address)
{
	if (!lpl_reserve(model->trace, model->trace_room, model->traces))
		return false;
	model->trace[model->traces++] = (struct lpl_instruction_trace){ .address = address };
	return true;
}

bool lpl_block_model_token(struct lpl_block_model *model, uint32_t trace, unsigned int first,
			   unsigned int fetched)
{
	if (model->tokens >= LPL_TOKENS_MAX ||
	    !lpl_reserve(model->token, model->token_room, model->tokens))
		return false;
	model->token[model->tokens++] = (struct lpl_token){
		.trace = trace, .first = (uint8_t)first, .fetched = (uint8_t)fetched,
		.word = { LPL_WORD_NONE, LPL_WORD_NONE } };
	return true;
}

bool lpl_block_model_sites(struct lpl_block_model *model, struct lpl_token *token, size_t refs)
{
	size_t room = token->site_room > 0 ? token->site_room : 1;

	assert(token->sites + (size_t)token->site_room <= model->sites);
	if (refs <= token->site_room || token->site_room == LPL_SITES_MAX)
		return true;
	while (room < refs && room < LPL_LIST_MAX)
		room *= 2;
	if (refs > LPL_LIST_MAX)
		room = LPL_SITES_MAX;
	if (model->sites + room > LPL_CHUNK_SITES_MAX ||
	    !lpl_reserve(model->site, model->site_room, model->sites + room))
		return false;
	if (token->site_room > 0)
		memcpy(&model->site[model->sites], &model->site[token->sites],
		       token->site_room * sizeof(*model->site));
	memset(&model->site[model->sites + token->site_room], 0,
	       (room - token->site_room) * sizeof(*model->site));
	token->sites = (uint32_t)model->sites;
	token->site_room = (uint32_t)room;
	model->sites += room;
	return true;
}

void lpl_block_model_update(struct lpl_block_model *model, uint32_t token)
{
	struct lpl_successor *successor = &model->after[model->context];
	uint32_t best = successor->best & ~LPL_HYSTERESIS;

	/* the next one to be known is added after this */
	assert(token <= model->tokens && model->previous < model->tokens);
	if (best == token) {
		successor->best = best;
		return;
	}
	if (successor->best & LPL_HYSTERESIS || best == LPL_TOKEN_NONE) {
		successor->second = best;
		successor->best = token;
	} else {
		successor->second = token;
		successor->best |= LPL_HYSTERESIS;
	}
	model->token[model->previous].follower = token;
}
