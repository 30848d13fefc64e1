/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hash of a stream of references.
 *
 * A reference is one word, most of the time: fetches in one sequence of words, data in another,
 * so that a run's data words, and a trace's fetches, are taken as they are.  Nothing is lost
 * by it.  Each fetch's instruction count is known, for it is one more than that of the fetch
 * before, or told; each data reference's, too, from its low byte and the rest, which is told
 * whenever it changes.  And at one count a fetch comes before data, or it is told.
 * What cannot be said in a word is told in full, by its number in the stream.
 */
#include <endian.h>
#include <string.h>

#include "run_expand.h"
#include "stream_hash.h"

/* What is told between the words of references; these have not all three bits set. */
#define TELL(what)	(UINT64_C(7) << 61 | (what))
enum told { TOLD_STATE, TOLD_INSTR, TOLD_DATA_FIRST, TOLD_PAGE, TOLD_ANY };

#define SECOND_FETCH	(UINT64_C(1) << 52)
#define LENGTH_SHIFT	48

bool lpl_stream_hash_init(struct lpl_stream_hash *hash)
{
	memset(hash, 0, sizeof(*hash));
	hash->data_instr = UINT64_MAX;
	hash->fetches.state = XXH3_createState();
	hash->data.state = XXH3_createState();
	if (hash->fetches.state && hash->data.state &&
	    XXH3_64bits_reset(hash->fetches.state) == XXH_OK &&
	    XXH3_64bits_reset(hash->data.state) == XXH_OK)
		return true;
	lpl_stream_hash_free(hash);
	return false;
}

void lpl_stream_hash_free(struct lpl_stream_hash *hash)
{
	XXH3_freeState(hash->fetches.state);
	XXH3_freeState(hash->data.state);
	memset(hash, 0, sizeof(*hash));
}

static void drain(struct lpl_hash_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		words->word[i] = htole64(words->word[i]);
	XXH3_64bits_update(words->state, words->word, words->count * sizeof(*words->word));
	words->count = 0;
}

static inline void room_for(struct lpl_hash_words *words, size_t count)
{
	if (words->count + count > LPL_HASH_WORDS)
		drain(words);
}

static inline void put(struct lpl_hash_words *words, uint64_t word)
{
	room_for(words, 1);
	words->word[words->count++] = word;
}

/* ---- reference by reference ---- */

static void tell_state(struct lpl_stream_hash *hash, uint64_t ref, uint64_t space,
		       uint64_t offset, bool user)
{
	hash->space = space;
	hash->offset = offset;
	hash->user = user;
	put(&hash->fetches, TELL(TOLD_STATE));
	put(&hash->fetches, ref);
	put(&hash->fetches, space);
	put(&hash->fetches, offset);
	put(&hash->fetches, user);
}

static inline void tell_fetch(struct lpl_stream_hash *hash, uint64_t instr, bool second)
{
	if (instr != hash->next_fetch - second) {
		put(&hash->fetches, TELL(TOLD_INSTR));
		put(&hash->fetches, instr);
	}
	if (instr == hash->data_instr)
		put(&hash->fetches, TELL(TOLD_DATA_FIRST));
}

static inline void tell_data(struct lpl_stream_hash *hash, uint64_t instr)
{
	if (hash->data_instr == UINT64_MAX || instr >> 8 != hash->data_instr >> 8) {
		put(&hash->data, TELL(TOLD_PAGE));
		put(&hash->data, instr >> 8);
	}
	hash->data_instr = instr;
}

static void put_any(struct lpl_stream_hash *hash, const struct lpl_ref *r)
{
	put(&hash->data, TELL(TOLD_ANY));
	put(&hash->data, r->ref);
	put(&hash->data, r->instr);
	put(&hash->data, r->cycle);
	put(&hash->data, r->address);
	put(&hash->data, r->space);
	put(&hash->data, r->type | (uint64_t)r->flags << 8 | (uint64_t)r->length << 16);
}

static bool fits_a_fetch(const struct lpl_ref *r)
{
	return r->type == LPL_FETCH && !(r->flags & ~(LPL_USER | LPL_SECOND)) &&
	       r->length > 0 && r->length <= LPL_INSTRUCTION_MAX &&
	       (uint64_t)((int64_t)(r->address << 16) >> 16) == r->address;
}

static void hash_ref(struct lpl_stream_hash *hash, const struct lpl_ref *r)
{
	bool fetch = fits_a_fetch(r);
	bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
	bool user = r->flags & LPL_USER;
	uint64_t offset = r->cycle - r->instr, word[2];

	hash->refs++;
	if (r->ref != hash->ref + 1 || offset != hash->offset ||
	    (!walk && r->space != hash->space) || (user && !hash->user) ||
	    (fetch && user != hash->user))
		tell_state(hash, r->ref, walk ? hash->space : r->space, offset,
			   fetch || user ? user : hash->user);
	hash->ref = r->ref;
	if (fetch) {
		bool second = r->flags & LPL_SECOND;

		tell_fetch(hash, r->instr, second);
		put(&hash->fetches, (r->address & ((UINT64_C(1) << LENGTH_SHIFT) - 1)) |
				    (uint64_t)r->length << LENGTH_SHIFT |
				    (second ? SECOND_FETCH : 0));
		hash->next_fetch = r->instr + 1;
	} else if (lpl_word_of_ref(r, hash->user, word)) {
		tell_data(hash, r->instr);
		put(&hash->data, word[0]);
		if (word[1] != 0)
			put(&hash->data, word[1]);
	} else {
		put_any(hash, r);
	}
}

void lpl_stream_hash_refs(struct lpl_stream_hash *hash, const struct lpl_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash_ref(hash, &refs[i]);
}

/* ---- run by run ---- */

/* A run that is not as most are: by its references. */
static void hash_slowly(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			const struct lpl_run *run, const struct lpl_run_state *state,
			uint64_t instr, uint64_t ref)
{
	struct lpl_ref refs[LPL_RUN_REFS_MAX];

	lpl_stream_hash_refs(hash, refs, lpl_run_expand(trace, run, state, instr, ref, refs));
}

/* The instruction count of a data word of a run that begins at that of `instr`. */
static inline uint64_t count_of(uint64_t word, uint64_t instr)
{
	return instr + (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) - instr);
}

/* Is there nothing to be told between its words? */
static inline bool is_plain(const struct lpl_stream_hash *hash,
			    const struct lpl_instruction_trace *trace, const struct lpl_run *run,
			    size_t data, const struct lpl_run_state *state, uint64_t instr,
			    uint64_t ref, uint64_t last)
{
	return ref == hash->ref && state->cycle_offset == hash->offset &&
	       state->space == hash->space && state->user == hash->user &&
	       run->fetched > 0 && !(run->fetched == 1 && lpl_trace_crosses(trace)) &&
	       (run->words == 0 ||
		(run->words == data && count_of(run->word[0], instr) >> 8 == last >> 8));
}

void lpl_stream_hash_fetches(const struct lpl_instruction_trace *trace,
			     uint64_t fetch[LPL_TRACE_MAX])
{
	uint64_t address = trace->address & ((UINT64_C(1) << LENGTH_SHIFT) - 1);

	for (unsigned int i = 0; i < trace->count; i++) {
		fetch[i] = address | (uint64_t)trace->length[i] << LENGTH_SHIFT;
		address += trace->length[i];
	}
}

void lpl_stream_hash_run(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			 const uint64_t *fetch, const struct lpl_run *run, size_t data,
			 const struct lpl_run_state *state, uint64_t instr, uint64_t ref)
{
	struct lpl_hash_words *fetches = &hash->fetches, *words = &hash->data;
	uint64_t last = instr;		/* count of the last data reference */
	uint64_t *to;

	if (run->words > 0)
		last = count_of(run->word[run->words - 1], instr);
	if (!is_plain(hash, trace, run, data, state, instr, ref, last)) {
		hash_slowly(hash, trace, run, state, instr, ref);
		return;
	}
	tell_fetch(hash, instr, false);
	room_for(fetches, LPL_TRACE_MAX);
	to = &fetches->word[fetches->count];
	for (unsigned int i = 0; i < run->fetched; i++)
		to[i] = fetch[run->first + i];
	fetches->count += run->fetched;
	hash->next_fetch = instr + run->fetched;
	if (run->words > 0) {
		tell_data(hash, last);
		room_for(words, run->words);
		to = &words->word[words->count];
		for (size_t i = 0; i < run->words; i++)
			to[i] = run->word[i];
		words->count += run->words;
	}
	hash->ref = ref + run->fetched + run->words;
	hash->refs += run->fetched + run->words;
}

uint64_t lpl_stream_hash_value(struct lpl_stream_hash *hash)
{
	uint64_t word[3];

	drain(&hash->fetches);
	drain(&hash->data);
	word[0] = htole64(hash->refs);
	word[1] = htole64(XXH3_64bits_digest(hash->fetches.state));
	word[2] = htole64(XXH3_64bits_digest(hash->data.state));
	return XXH3_64bits(word, sizeof(word));
}
