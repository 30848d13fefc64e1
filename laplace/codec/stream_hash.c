/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hash of a stream of references.
 *
 * A reference is one word, most of the time: fetches in one sequence of words, F, data in another,
 * D, so that a block's data words, and a trace's fetches, are taken as they are.  Nothing is lost
 * by it.  Each fetch's instruction count is known, for it is one more than that of the fetch
 * before, or hashed itself; each data reference's, too, from its low byte and the rest, which is
 * hashed whenever it changes.  And at one count a fetch precedes data, or a mark is hashed.
 * What does not fit into a word is hashed in full, by its number in the stream.
 *
 * F is a polynomial in LPL_HASH, so what a sequence of words adds to it is known without them
 * being taken one by one: F(ab) = F(a) * LPL_HASH^length(b) + F(b).  Each word is mixed before, so
 * that all its bits matter in all of F's.  D need not have that, and takes fewer instructions.
 */
#include <endian.h>
#include <string.h>
#include <xxhash.h>

#include "block_expand.h"
#include "stream_hash.h"

/* Marks between the words of references, which have not all three bits set. */
#define MARK(what)	(UINT64_C(7) << 61 | (what))
enum mark { MARK_STATE, MARK_INSTR, MARK_DATA_FIRST, MARK_PAGE, MARK_ANY };

#define SECOND_FETCH	(UINT64_C(1) << 52)
#define LENGTH_SHIFT	48

void lpl_stream_hash_init(struct lpl_stream_hash *hash)
{
	memset(hash, 0, sizeof(*hash));
	hash->data_instr = UINT64_MAX;
	hash->power[0] = 1;
	for (int i = 1; i <= LPL_TRACE_MAX; i++)
		hash->power[i] = hash->power[i - 1] * LPL_HASH;
}

/* The finalizer of MurmurHash3. */
static inline uint64_t mix(uint64_t word)
{
	word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
	word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return word ^ word >> 33;
}

static inline uint64_t add_fetch(uint64_t fetches, uint64_t word)
{
	return fetches * LPL_HASH + mix(word);
}

static inline void put_fetch(struct lpl_stream_hash *hash, uint64_t word)
{
	hash->fetches = add_fetch(hash->fetches, word);
}

static inline void put_data(struct lpl_stream_hash *hash, uint64_t word)
{
	hash->data = lpl_stream_hash_data(hash->data, word);
}

/* ---- reference by reference ---- */

static void mark_state(struct lpl_stream_hash *hash, uint64_t ref, uint64_t space,
		       uint64_t offset, bool user)
{
	hash->space = space;
	hash->offset = offset;
	hash->user = user;
	put_fetch(hash, MARK(MARK_STATE));
	put_fetch(hash, ref);
	put_fetch(hash, space);
	put_fetch(hash, offset);
	put_fetch(hash, user ? 1 : 0);
}

static inline void mark_fetch(struct lpl_stream_hash *hash, uint64_t instr, bool second)
{
	if (instr != hash->next_fetch - second) {
		put_fetch(hash, MARK(MARK_INSTR));
		put_fetch(hash, instr);
	}
	if (instr == hash->data_instr)
		put_fetch(hash, MARK(MARK_DATA_FIRST));
}

uint64_t lpl_stream_hash_page(uint64_t data, uint64_t instr)
{
	data = lpl_stream_hash_data(data, MARK(MARK_PAGE));
	return lpl_stream_hash_data(data, instr >> 8);
}

static inline void mark_data(struct lpl_stream_hash *hash, uint64_t instr)
{
	if (hash->data_instr == UINT64_MAX || instr >> 8 != hash->data_instr >> 8)
		hash->data = lpl_stream_hash_page(hash->data, instr);
	hash->data_instr = instr;
}

static void put_any(struct lpl_stream_hash *hash, const struct lpl_ref *r)
{
	put_data(hash, MARK(MARK_ANY));
	put_data(hash, r->ref);
	put_data(hash, r->instr);
	put_data(hash, r->cycle);
	put_data(hash, r->address);
	put_data(hash, r->space);
	put_data(hash, r->type | (uint64_t)r->flags << 8 | (uint64_t)r->length << 16);
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
		mark_state(hash, r->ref, walk ? hash->space : r->space, offset,
			   fetch || user ? user : hash->user);
	hash->ref = r->ref;
	if (fetch) {
		bool second = r->flags & LPL_SECOND;

		mark_fetch(hash, r->instr, second);
		put_fetch(hash, (r->address & ((UINT64_C(1) << LENGTH_SHIFT) - 1)) |
				    (uint64_t)r->length << LENGTH_SHIFT |
				    (second ? SECOND_FETCH : 0));
		hash->next_fetch = r->instr + 1;
	} else if (lpl_word_of_ref(r, hash->user, word)) {
		mark_data(hash, r->instr);
		put_data(hash, word[0]);
		if (word[1] != 0)
			put_data(hash, word[1]);
	} else {
		put_any(hash, r);
	}
}

void lpl_stream_hash_refs(struct lpl_stream_hash *hash, const struct lpl_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash_ref(hash, &refs[i]);
}

/* ---- block by block ---- */

/* A block that is not as most are: by its references. */
static void hash_slowly(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			const struct lpl_block *block, const struct lpl_block_state *state,
			uint64_t instr, uint64_t ref)
{
	struct lpl_ref refs[LPL_BLOCK_REFS_MAX];

	lpl_stream_hash_refs(hash, refs, lpl_block_expand(trace, block, state, instr, ref, refs));
}

/* The instruction count of a data word of a block that begins at that of `instr`. */
static inline uint64_t count_of(uint64_t word, uint64_t instr)
{
	return instr + (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) - instr);
}

/* Does it go on in the state that was marked last? */
static inline bool goes_on(const struct lpl_stream_hash *hash, const struct lpl_block_state *state, uint64_t ref)
{
	return ref == hash->ref && state->cycle_offset == hash->offset && state->space == hash->space &&
	       state->user == hash->user;
}

/*
 * Has it fetches of which each is one, and no lengths in words of their own (they might be such as have a class)?  And
 * is its state, if that is to be marked, its first reference's?  A fetch's is; data may be the processor's own, and of no
 * space.
 */
static inline bool is_plain(const struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			    const struct lpl_block *block, size_t data, const struct lpl_block_state *state)
{
	return block->words == data && (block->fetched > 0 ? !lpl_trace_crosses(trace) :
					state->space == hash->space && state->user == hash->user);
}

void lpl_stream_hash_prefix(const struct lpl_instruction_trace *trace,
			    uint64_t prefix[LPL_TRACE_MAX + 1])
{
	uint64_t address = trace->address & ((UINT64_C(1) << LENGTH_SHIFT) - 1);

	prefix[0] = 0;
	for (unsigned int i = 0; i < trace->count; i++) {
		prefix[i + 1] = add_fetch(prefix[i], address | (uint64_t)trace->length[i] <<
						     LENGTH_SHIFT);
		address += trace->length[i];
	}
}

void lpl_stream_hash_block(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			   const uint64_t prefix[LPL_TRACE_MAX + 1], const struct lpl_block *block,
			   size_t data, const struct lpl_block_state *state, uint64_t instr,
			   uint64_t ref)
{
	if (!is_plain(hash, trace, block, data, state)) {
		hash_slowly(hash, trace, block, state, instr, ref);
		return;
	}
	if (!goes_on(hash, state, ref))
		mark_state(hash, ref + 1, state->space, state->cycle_offset, state->user);
	if (block->fetched > 0) {
		mark_fetch(hash, instr, false);
		hash->fetches = hash->fetches * hash->power[block->fetched] +
				lpl_stream_hash_part(hash, prefix, block->first, block->fetched);
		hash->next_fetch = instr + block->fetched;
	}
	for (size_t i = 0; i < block->words; i++) {
		mark_data(hash, count_of(block->word[i], instr));
		put_data(hash, block->word[i]);
	}
	hash->ref = ref + block->fetched + data;
	hash->refs += block->fetched + data;
}

uint64_t lpl_stream_hash_value(const struct lpl_stream_hash *hash)
{
	const uint64_t word[3] = { htole64(hash->refs), htole64(hash->fetches),
				   htole64(hash->data) };

	return XXH3_64bits(word, sizeof(word));
}
