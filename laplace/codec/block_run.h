/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs of blocks that are all as expected, where steps are made (block_steps.h): which they are, which data
 * references they make, and where these are.  Most blocks are in one.
 */
#ifndef LAPLACE_CODEC_BLOCK_RUN_H
#define LAPLACE_CODEC_BLOCK_RUN_H

#include "block_decoder.h"

/*
 * What is expected of a token's next block has been learned: its sites have all of it.  This is what runs have to know
 * of them, whenever one may have changed.
 */
void lpl_block_run_learn(const struct lpl_block_model *model, struct lpl_token *token);

/* The token makes the pattern of its sites, and a step to it.  false: no memory. */
bool lpl_block_run_pattern(struct lpl_block_decoder *decoder, struct lpl_token *token);

/* What is next: a token, which is known now.  Fails as lpl_block_decode().  (block_decode.c) */
enum lpl_error lpl_block_decode_token(struct lpl_block_decoder *decoder, uint32_t *token);

/*
 * Where the site's reference is, which its kind does not predict: the column says.  The site learns of it.
 * (block_decode.c)
 */
enum lpl_error lpl_block_decode_miss(struct lpl_block_decoder *decoder, struct lpl_site *site,
				     uint64_t *address);

/* Where the site's reference is, which is its last one then.  Fails if it is missing or malformed. */
static inline enum lpl_error lpl_block_decode_address(struct lpl_block_decoder *decoder, struct lpl_site *site,
						      uint64_t *address)
{
	struct lpl_block_model *model = &decoder->model;

	if (decoder->correct[LPL_BLOCK_HITS] > 0) {
		decoder->correct[LPL_BLOCK_HITS]--;
		*address = lpl_predict(site, lpl_kind(site), model->near, model->far);
	} else {
		const enum lpl_error error = lpl_block_decode_miss(decoder, site, address);

		if (error != LPL_OK)
			return error;
	}
	lpl_site_set_last(site, *address);
	model->far = model->near;
	model->near = *address;
	return LPL_OK;
}

/*
 * The token's sites move on, to addresses that are predicted or not.  Does one of them leave its page?  They may have other
 * kinds then: it is seen whether the token is still.
 */
enum lpl_error lpl_block_run_move(struct lpl_block_decoder *decoder, struct lpl_token *token, bool *left_page);

/*
 * Decode the run that begins here, which may be none: it ends with a block of other data references than are expected, or
 * at `refs` references, or earlier.  *token is NONE, or the one that ended it: it is read, its block is not.  *after_state is
 * false after a block.  Fails as lpl_block_decode().
 */
enum lpl_error lpl_block_run(struct lpl_block_decoder *decoder, uint64_t refs, uint32_t *token,
			     bool *after_state);

#endif
