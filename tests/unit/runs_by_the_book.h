/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RUNS chunks and the hash of a stream, read as docs/format.md says in sections 9 and 10, and as
 * plainly as that: an oracle that shares nothing with the library.  Names are the document's.
 */
#ifndef LAPLACE_TESTS_RUNS_BY_THE_BOOK_H
#define LAPLACE_TESTS_RUNS_BY_THE_BOOK_H

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <laplace/record.h>

#define BOOK_H1 UINT64_C(0x9e3779b97f4a7c15)
#define BOOK_H2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define BOOK_H3 UINT64_C(0x165667b19e3779f9)
#define BOOK_48 ((UINT64_C(1) << 48) - 1)

/* 9.2: odds are looked up by a context, written as a number, and begin as 32768. */
struct book_odds {
	uint64_t context;
	uint32_t odds;
};

struct book_range {
	const uint8_t *at, *end;
	uint64_t code, range;
};

struct book_site {
	uint64_t guess[4];
	uint16_t strides, id;
	unsigned int best, hits;
};

struct book_trace {
	uint64_t address;
	unsigned int count, length[32];
	unsigned int shapes, alls;	/* the last answers */
	struct {
		unsigned int n;
		uint8_t code[64];
		struct book_site site[64];
	} of[32];
};

struct book_entry {
	uint32_t token[2], confidence;
};

struct book {
	struct book_range range[4];
	const uint8_t *number[3];	/* of columns 5 to 7 */
	struct book_odds *odds;
	struct book_trace *trace;
	size_t traces;
	uint64_t defined;
	struct book_entry *three, *one;
	uint32_t *table, t[3];
	uint64_t a[2];
	uint64_t next, space, user, offset, ref;
	struct lpl_ref *refs;
	size_t count;
};

enum { BOOK_FLOW, BOOK_SHAPE, BOOK_HITS, BOOK_MISSES };
enum { BOOK_TRACES, BOOK_CODES, BOOK_STATES };
#define BOOK_ODDS (1U << 18)

static inline uint64_t book_leb(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	do
		value |= (uint64_t)(**at & 127) << shift;
	while (shift += 7, *(*at)++ & 128);
	return value;
}

static inline uint64_t book_zigzag(const uint8_t **at)
{
	uint64_t value = book_leb(at);

	return value & 1 ? ~(value >> 1) : value >> 1;
}

static inline uint32_t *book_odds_of(struct book *book, uint64_t context)
{
	size_t i = (size_t)(context * BOOK_H2 >> 46);

	while (book->odds[i].odds != 0 && book->odds[i].context != context)
		i = (i + 1) % BOOK_ODDS;
	if (book->odds[i].odds == 0)
		book->odds[i] = (struct book_odds){ context, 32768 };
	return &book->odds[i].odds;
}

static inline uint32_t book_word(struct book_range *range)
{
	uint32_t word = 0;

	assert_true(range->end - range->at >= 4);
	for (int i = 0; i < 4; i++)
		word |= (uint32_t)*range->at++ << (8 * i);
	return word;
}

/* Which decision it is, and its context: up to four numbers. */
#define CONTEXT(what, a, b, c, d) \
	((uint64_t)(what) << 48 | (uint64_t)(a) << 36 | (uint64_t)(b) << 24 | \
	 (uint64_t)(c) << 12 | (uint64_t)(d))
enum { C_NEXT, C_SHAPE, C_AS_EXPECTED, C_NO_MORE, C_AGAIN, C_BY_ONE, C_BY_NONE, C_ALL, C_BEST,
       C_OTHER, C_FROM, C_SIZE, C_BYTE };

static inline bool book_decide(struct book *book, int column, uint64_t context)
{
	struct book_range *range = &book->range[column];
	uint32_t *odds = book_odds_of(book, context);
	uint64_t bound = (range->range >> 16) * *odds;
	bool yes = range->code < bound;

	if (yes) {
		range->range = bound;
		*odds += (65536 - *odds) >> 5;
	} else {
		range->range -= bound;
		range->code -= bound;
		*odds -= *odds >> 5;
	}
	if (range->range < UINT64_C(1) << 32) {
		range->code = range->code << 32 | book_word(range);
		range->range <<= 32;
	}
	return yes;
}

static inline unsigned int book_tree(struct book *book, unsigned int bits, uint64_t context)
{
	unsigned int node = 1;

	for (unsigned int i = 0; i < bits; i++)
		node = 2 * node + book_decide(book, BOOK_MISSES, context + node);
	return node - (1U << bits);
}

/* ---- 9.1 ---- */

static inline struct lpl_ref *book_add(struct book *book, uint64_t instr, uint64_t address)
{
	struct lpl_ref *r = &book->refs[book->count++];

	memset(r, 0, sizeof(*r));
	r->ref = ++book->ref;
	r->instr = instr;
	r->cycle = instr + book->offset;
	r->address = address;
	r->space = book->space;
	return r;
}

static inline void book_fetch(struct book *book, const struct book_trace *trace, unsigned int i,
			      uint64_t instr)
{
	uint64_t address = trace->address;
	unsigned int left, length = trace->length[i];
	struct lpl_ref *r;

	for (unsigned int j = 0; j < i; j++)
		address += trace->length[j];
	left = 4096 - (unsigned int)(address % 4096);
	r = book_add(book, instr, address);
	r->type = LPL_FETCH;
	r->flags = book->user ? LPL_USER : 0;
	r->length = (uint16_t)(length < left ? length : left);
	if (length > left) {
		r = book_add(book, instr, address + left);
		r->type = LPL_FETCH;
		r->flags = (book->user ? LPL_USER : 0) | LPL_SECOND;
		r->length = (uint16_t)(length - left);
	}
}

struct book_data {
	unsigned int d, i, n, code, length;
	uint64_t address;
};

static inline void book_refer(struct book *book, const struct book_data *data)
{
	static const uint16_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	bool walk = !(data->code & 64), write = data->code & 1;
	struct lpl_ref *r = book_add(book, book->next + data->d, data->address >> 47 & 1 ?
				     data->address | ~BOOK_48 : data->address);

	r->length = (uint16_t)((data->code >> 1 & 7) == 7 ? data->length :
			       lengths[data->code >> 1 & 7]);
	r->type = walk ? LPL_WALK_READ + write : LPL_READ + write;
	if (walk)
		r->space = 0;
	else
		r->flags = (book->user && !(data->code & 32) ? LPL_USER : 0) |
			   (data->code & 16 ? LPL_SECOND : 0);
}

/* ---- 9.3 ---- */

static inline uint32_t book_name(struct book *book)
{
	const uint8_t **at = &book->number[BOOK_TRACES];
	uint64_t trace = book_leb(at), rest = book_leb(at);
	unsigned int first = (unsigned int)(rest / 64), fetched = rest % 64;

	assert_true(trace <= book->traces && rest < 2048);
	if (trace == book->traces) {
		book->defined += book_zigzag(at);
		book->trace = realloc(book->trace, (trace + 1) * sizeof(*book->trace));
		assert_non_null(book->trace);
		memset(&book->trace[trace], 0, sizeof(*book->trace));
		for (unsigned int i = 0; i < 32; i++)
			for (unsigned int n = 0; n < 64; n++)
				book->trace[trace].of[i].site[n].id =
					(uint16_t)((trace * 2048 + i * 64 + n) * BOOK_H1 >> 48);
		book->trace[trace].address = book->defined;
		book->traces++;
	}
	if (trace != 0) {
		struct book_trace *t = &book->trace[trace];

		while (t->count < first + (fetched > 0 ? fetched : 1))
			t->length[t->count++] = (unsigned int)book_leb(at);
	}
	return (uint32_t)(UINT64_C(1) << 31 | trace << 11 | rest);
}

static inline void book_learn(struct book_entry *entry, uint32_t token)
{
	if (entry->token[0] == token) {
		entry->confidence += entry->confidence < 15;
	} else if (entry->token[1] == token || entry->confidence < 2) {
		entry->token[1] = entry->token[0];
		entry->token[0] = token;
		entry->confidence = 1;
	} else {
		entry->token[1] = token;
		entry->confidence /= 2;
	}
}

static inline uint32_t book_token(struct book *book)
{
	uint64_t hash = book->t[0] * BOOK_H1;
	struct book_entry *one = &book->one[hash >> 48], *three;
	uint32_t token = 0;
	int right = -1;

	three = &book->three[(hash + book->t[1] * BOOK_H2 + book->t[2] * BOOK_H3) >> 48];
	for (int i = 0; i < 4 && right < 0; i++) {
		const struct book_entry *entry = i < 2 ? three : one;
		uint32_t candidate = entry->token[i % 2];

		if (candidate == 0 || (i >= 2 && (candidate == three->token[0] ||
						  candidate == three->token[1])))
			continue;
		if (book_decide(book, BOOK_FLOW, CONTEXT(C_NEXT, i, entry->confidence, 0, 0))) {
			token = candidate;
			right = i;
		}
	}
	if (right < 0)
		token = book_name(book);
	book_learn(three, token);
	if (right != 0)
		book_learn(one, token);
	book->t[2] = book->t[1];
	book->t[1] = book->t[0];
	book->t[0] = token;
	return token;
}

/* ---- 9.4 ---- */

static inline unsigned int book_list(struct book *book, struct book_trace *trace, unsigned int i,
				     unsigned int d, bool last, bool *repeated,
				     struct book_data *data, unsigned int count)
{
	uint8_t list[64];
	unsigned int n = 0;

	for (;;) {
		bool left = n < trace->of[i].n;
		bool expected = book_decide(book, BOOK_SHAPE,
					    CONTEXT(C_AS_EXPECTED, left, last, *repeated, 0));
		unsigned int code = 0;

		if (expected && !left)
			break;
		if (!expected && left && book_decide(book, BOOK_SHAPE, CONTEXT(C_NO_MORE, 0, 0, 0, 0)))
			break;
		if (!expected && book_decide(book, BOOK_SHAPE, CONTEXT(C_AGAIN, left, 0, 0, 0))) {
			trace->of[i].n = n;
			memcpy(trace->of[i].code, list, n);
			*repeated = true;
			n = 0;
			if (!last)
				continue;
			if (book_decide(book, BOOK_SHAPE, CONTEXT(C_BY_ONE, 0, 0, 0, 0)))
				d++;
			else if (!book_decide(book, BOOK_SHAPE, CONTEXT(C_BY_NONE, 0, 0, 0, 0)))
				d += (unsigned int)book_leb(&book->number[BOOK_CODES]);
			continue;
		}
		code = expected ? trace->of[i].code[n] :
				  (unsigned int)book_leb(&book->number[BOOK_CODES]);
		assert_true(n < 64 && count < 1024 && d <= 255 && code < 128);
		data[count] = (struct book_data){ .d = d, .i = i, .n = n, .code = code };
		if ((code >> 1 & 7) == 7)
			data[count].length = (unsigned int)book_leb(&book->number[BOOK_CODES]);
		list[n++] = (uint8_t)code;
		count++;
	}
	trace->of[i].n = n;
	memcpy(trace->of[i].code, list, n);
	return count;
}

/* ---- 9.5 ---- */

static inline uint64_t book_says(const struct book *book, const struct book_site *site,
				 unsigned int predictor)
{
	uint64_t base = predictor == 0 ? book->a[0] : predictor == 2 ? book->a[1] : 0;

	return (base + site->guess[predictor]) & BOOK_48;
}

static inline uint64_t book_miss(struct book *book, const struct book_site *site)
{
	bool from = book_decide(book, BOOK_MISSES, CONTEXT(C_FROM, 0, 0, 0, 0));
	unsigned int bytes = book_tree(book, 3, CONTEXT(C_SIZE, from, 0, 0, 0));
	uint64_t distance = 0;

	assert_true(bytes <= 6);
	for (unsigned int i = bytes; i-- > 0;)
		distance = distance * 256 + book_tree(book, 8, CONTEXT(C_BYTE, from, bytes, i, 0));
	distance = distance & 1 ? ~(distance >> 1) : distance >> 1;
	return (distance + (from ? book->a[0] : site->guess[1])) & BOOK_48;
}

static inline uint64_t book_address(struct book *book, struct book_site *site)
{
	unsigned int hits = site->hits, best = site->best;
	bool yes = book_decide(book, BOOK_HITS, CONTEXT(C_BEST, hits, best, 0, 0));

	site->hits = (hits * 2 + yes) % 32;
	if (yes)
		return book_says(book, site, best);
	for (unsigned int p = 0; p < 4; p++) {
		bool asked = p != best && book_says(book, site, p) != book_says(book, site, best);

		for (unsigned int q = 0; q < p; q++)
			asked = asked && book_says(book, site, q) != book_says(book, site, p);
		if (asked && book_decide(book, BOOK_HITS, CONTEXT(C_OTHER, hits % 8, p, best, 0))) {
			site->best = p;
			return book_says(book, site, p);
		}
	}
	return book_miss(book, site);
}

static inline void book_came(struct book *book, struct book_site *site, uint64_t a)
{
	uint64_t stride = (a - site->guess[1]) & BOOK_48;

	book->table[site->strides ^ site->id] = (uint32_t)stride;
	site->strides = (uint16_t)((uint32_t)site->strides << 6 ^ (uint32_t)(stride * BOOK_H1 >> 48));
	site->guess[0] = a - book->a[0];
	site->guess[1] = a;
	site->guess[2] = a - book->a[1];
	site->guess[3] = a + (uint64_t)(int64_t)(int32_t)book->table[site->strides ^ site->id];
	book->a[1] = book->a[0];
	book->a[0] = a;
}

static inline void book_run(struct book *book, uint32_t token)
{
	struct book_trace *trace = &book->trace[token >> 11 & 0xfffff];
	unsigned int first = token >> 6 & 31, fetched = token & 63;
	unsigned int all = fetched > 0 ? fetched : 1, count = 0, at = 0;
	static struct book_data data[1024];
	bool expected = book_decide(book, BOOK_SHAPE, CONTEXT(C_SHAPE, trace->shapes, 0, 0, 0));
	bool hit = false, repeated = false;

	trace->shapes = (trace->shapes * 2 + expected) % 4;
	for (unsigned int k = 0; k < all; k++) {
		unsigned int i = first + k;

		if (!expected)
			count = book_list(book, trace, i, k, k == all - 1, &repeated, data, count);
		for (unsigned int n = 0; expected && n < trace->of[i].n; n++)
			data[count++] = (struct book_data){ .d = k, .i = i, .n = n,
							    .code = trace->of[i].code[n] };
	}
	if (expected && count > 0) {
		hit = book_decide(book, BOOK_HITS,
				  CONTEXT(C_ALL, trace->alls, count < 8 ? count : 8, 0, 0));
		trace->alls = (trace->alls * 2 + hit) % 32;
	}
	for (unsigned int j = 0; j < count; j++) {
		struct book_site *site = &trace->of[data[j].i].site[data[j].n];

		data[j].address = hit ? book_says(book, site, site->best) : book_address(book, site);
		book_came(book, site, data[j].address);
	}
	for (unsigned int k = 0; k < fetched; k++) {
		book_fetch(book, trace, first + k, book->next + k);
		for (; at < count && (data[at].d < fetched - 1 ? data[at].d : fetched - 1) == k; at++)
			book_refer(book, &data[at]);
	}
	for (; at < count; at++)
		book_refer(book, &data[at]);
	book->next += fetched;
}

/* ---- 9.6, and the whole ---- */

static inline void book_state(struct book *book, unsigned int mask)
{
	const uint8_t **at = &book->number[BOOK_STATES];

	if (mask & 1)
		book->space += book_zigzag(at);
	if (mask & 4)
		book->offset += book_zigzag(at);
	if (mask & 8)
		book->next += book_zigzag(at);
	book->user ^= (mask & 2) != 0;
}

static inline void book_any(struct book *book)
{
	const uint8_t **at = &book->number[BOOK_STATES];
	struct lpl_ref *r = &book->refs[book->count++];
	uint64_t kind = book_leb(at);

	memset(r, 0, sizeof(*r));
	r->type = kind % 8;
	r->flags = (uint8_t)(kind / 8);
	r->length = (uint16_t)book_leb(at);
	r->ref = book->ref += book_leb(at);
	r->instr = book->next + book_zigzag(at);
	r->cycle = r->instr + book->offset + book_zigzag(at);
	r->space = book_leb(at);
	r->address = book_leb(at);
}

/*
 * The references of a RUNS chunk, n of them, into `refs` (with room for some more), from its
 * decompressed payload and the header's base clocks.  Returns what follows the columns.
 */
static inline const uint8_t *book_read(const uint8_t *payload, uint64_t base_ref,
				       uint64_t base_instr, uint64_t base_cycle, size_t n,
				       struct lpl_ref *refs)
{
	struct book book = { .refs = refs };
	uint64_t size[7];

	book.odds = calloc(BOOK_ODDS, sizeof(*book.odds));
	book.three = calloc(65536, sizeof(*book.three));
	book.one = calloc(65536, sizeof(*book.one));
	book.table = calloc(65536, sizeof(*book.table));
	book.trace = calloc(1, sizeof(*book.trace));
	assert_true(book.odds && book.three && book.one && book.table && book.trace);
	book.traces = book.trace[0].count = 1;
	for (unsigned int m = 0; m < 64; m++)
		book.trace[0].of[0].site[m].id = (uint16_t)(m * BOOK_H1 >> 48);
	book.ref = base_ref - book_leb(&payload);
	book.next = base_instr + book_zigzag(&payload);
	book.space = book_leb(&payload);
	book.user = book_leb(&payload);
	book.offset = base_cycle - base_instr + book_zigzag(&payload);
	for (int i = 0; i < 7; i++)
		size[i] = book_leb(&payload);
	for (int i = 0; i < 7; i++) {
		if (i < 4) {
			book.range[i] = (struct book_range){ payload, payload + size[i], 0, UINT64_MAX };
			book.range[i].code = (uint64_t)book_word(&book.range[i]) << 32;
			book.range[i].code |= book_word(&book.range[i]);
		} else {
			book.number[i - 4] = payload;
		}
		payload += size[i];
	}
	while (book.count < n) {
		uint32_t token = book_token(&book);
		unsigned int first = token >> 6 & 31;

		if ((token >> 11 & 0xfffff) != 0 || first == 0)
			book_run(&book, token);
		else if (first == 1)
			book_any(&book);
		else
			book_state(&book, token & 63);
	}
	assert_true(book.count == n);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(book.range[i].at, book.range[i].end);
	assert_ptr_equal(book.number[2], payload);
	free(book.odds);
	free(book.three);
	free(book.one);
	free(book.table);
	free(book.trace);
	return payload;
}

/* ---- 10 ---- */

struct book_words {
	uint64_t *word;
	size_t count, room;
};

static inline void book_put(struct book_words *words, uint64_t word)
{
	if (words->count == words->room) {
		words->room = words->room ? 2 * words->room : 1024;
		words->word = realloc(words->word, words->room * sizeof(*words->word));
		assert_non_null(words->word);
	}
	words->word[words->count++] = word;	/* on a little-endian machine */
}

#define BOOK_T(k) (UINT64_C(7) << 61 | (k))

static inline int book_code(const struct lpl_ref *r, bool user)
{
	static const uint16_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
	int class = 7;

	if (r->type == LPL_FETCH || r->flags & (LPL_PAGED | LPL_SYNTHETIC) || r->length == 0 ||
	    (r->address >> 47 != 0 && r->address >> 47 != 0x1ffff) ||
	    (walk && (r->flags || r->space)) || (r->flags & LPL_USER && !user))
		return -1;
	for (int i = 0; i < 7; i++)
		class = r->length == lengths[i] ? i : class;
	return (r->type == LPL_WRITE || r->type == LPL_WALK_WRITE) + class * 2 +
	       (r->flags & LPL_SECOND ? 16 : 0) +
	       (walk ? 0 : 64 + (user && !(r->flags & LPL_USER) ? 32 : 0));
}

static inline uint64_t book_hash(const struct lpl_ref *refs, size_t count)
{
	struct book_words f = { 0 }, d = { 0 };
	uint64_t space = 0, offset = 0, ref = 0, fetch = 0, data = 0, word[3];
	bool user = false, some = false;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *r = &refs[i];
		bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
		bool is_user = r->flags & LPL_USER;
		bool is_fetch = r->type == LPL_FETCH && !(r->flags & (LPL_PAGED | LPL_SYNTHETIC)) &&
				r->length >= 1 && r->length <= 15 &&
				(r->address >> 47 == 0 || r->address >> 47 == 0x1ffff);

		if (r->ref != ref + 1 || r->cycle - r->instr != offset ||
		    (!walk && r->space != space) || (is_user && !user) ||
		    (is_fetch && !is_user && user)) {
			space = walk ? space : r->space;
			offset = r->cycle - r->instr;
			user = is_fetch || is_user ? is_user : user;
			book_put(&f, BOOK_T(0));
			book_put(&f, r->ref);
			book_put(&f, space);
			book_put(&f, offset);
			book_put(&f, user);
		}
		ref = r->ref;
		if (is_fetch) {
			bool second = r->flags & LPL_SECOND;

			if (r->instr != fetch - second) {
				book_put(&f, BOOK_T(1));
				book_put(&f, r->instr);
			}
			if (some && r->instr == data)
				book_put(&f, BOOK_T(2));
			book_put(&f, (r->address & BOOK_48) + ((uint64_t)r->length << 48) +
				 ((uint64_t)second << 52));
			fetch = r->instr + 1;
		} else if (book_code(r, user) >= 0) {
			uint64_t code = (uint64_t)book_code(r, user);

			if (!some || r->instr >> 8 != data >> 8) {
				book_put(&d, BOOK_T(3));
				book_put(&d, r->instr >> 8);
			}
			some = true;
			data = r->instr;
			book_put(&d, (r->address & BOOK_48) + ((r->instr & 255) << 48) + (code << 56));
			if ((code >> 1 & 7) == 7)
				book_put(&d, r->length);
		} else {
			book_put(&d, BOOK_T(4));
			book_put(&d, r->ref);
			book_put(&d, r->instr);
			book_put(&d, r->cycle);
			book_put(&d, r->address);
			book_put(&d, r->space);
			book_put(&d, r->type + ((uint64_t)r->flags << 8) + ((uint64_t)r->length << 16));
		}
	}
	word[0] = count;
	word[1] = XXH3_64bits(f.word, f.count * 8);
	word[2] = XXH3_64bits(d.word, d.count * 8);
	free(f.word);
	free(d.word);
	return XXH3_64bits(word, sizeof(word));
}

#endif
