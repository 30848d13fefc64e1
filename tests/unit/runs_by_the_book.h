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

struct book_site {
	uint64_t guess[4];
	unsigned int best;
};

struct book_trace {
	uint64_t address;
	unsigned int count, length[32];
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
	const uint8_t *column[7];
	uint64_t yes[3];		/* to come in the first three */
	struct book_trace *trace;
	size_t traces;
	uint64_t defined;
	struct book_entry *three, *one;
	uint32_t t[3];
	uint64_t a[2];
	uint64_t next, space, user, offset, ref;
	struct lpl_ref *refs;
	size_t count;
};

enum { BOOK_FLOW, BOOK_SHAPE, BOOK_HITS, BOOK_MISSES, BOOK_TRACES, BOOK_CODES, BOOK_STATES };

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

/* 9.2; after a no, book_gap() is due. */
static inline bool book_yes(struct book *book, int column)
{
	return book->yes[column] > 0 && book->yes[column]--;
}

static inline void book_gap(struct book *book, int column)
{
	book->yes[column] = book_leb(&book->column[column]);
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
	const uint8_t **at = &book->column[BOOK_TRACES];
	uint64_t trace = book_leb(at), rest = book_leb(at);
	unsigned int first = (unsigned int)(rest / 64), fetched = rest % 64;

	assert_true(trace <= book->traces && rest < 2048);
	if (trace == book->traces) {
		book->defined += book_zigzag(at);
		book->trace = realloc(book->trace, (trace + 1) * sizeof(*book->trace));
		assert_non_null(book->trace);
		memset(&book->trace[trace], 0, sizeof(*book->trace));
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
	uint32_t token;
	unsigned int right = 0;

	three = &book->three[(hash + book->t[1] * BOOK_H2 + book->t[2] * BOOK_H3) >> 48];
	token = three->token[0];
	if (!book_yes(book, BOOK_FLOW)) {
		right = *book->column[BOOK_FLOW]++;
		assert_true(right <= 3);
		token = right == 0 ? book_name(book) :
			right == 1 ? three->token[1] : one->token[right - 2];
		book_learn(one, token);
		book_gap(book, BOOK_FLOW);
	}
	assert_int_not_equal(token, 0);
	book_learn(three, token);
	book->t[2] = book->t[1];
	book->t[1] = book->t[0];
	book->t[0] = token;
	return token;
}

/* ---- 9.4 ---- */

static inline unsigned int book_lists(struct book *book, struct book_trace *trace,
				      unsigned int first, unsigned int all,
				      struct book_data *data)
{
	const uint8_t **at = &book->column[BOOK_CODES];
	unsigned int count = 0;
	uint8_t list[64];

	for (unsigned int k = 0, d = 0, n = 0; k < all;) {
		unsigned int op = *(*at)++, i = first + k;

		if (op < 128) {
			assert_true(n < 64 && count < 1024 && d <= 255);
			data[count] = (struct book_data){ .d = d, .i = i, .n = n, .code = op };
			if ((op >> 1 & 7) == 7)
				data[count].length = (unsigned int)book_leb(at);
			list[n++] = (uint8_t)op;
			count++;
			continue;
		}
		trace->of[i].n = n;
		memcpy(trace->of[i].code, list, n);
		n = 0;
		if (op > 128 && op <= 160) {
			for (unsigned int j = 1; j < op - 128; j++)
				trace->of[i + j].n = 0;
			k += op - 128;
			d = k;
		} else {
			assert_true(op == 192 || (k == all - 1 && (op == 193 || op == 194)));
			d += op == 193 ? 1 : op == 194 ? (unsigned int)book_leb(at) : 0;
		}
		assert_true(k <= all);
	}
	return count;
}

/* ---- 9.5 ---- */

static inline uint64_t book_says(const struct book *book, const struct book_site *site,
				 unsigned int predictor)
{
	uint64_t base = predictor == 0 ? book->a[0] : predictor == 2 ? book->a[1] : 0;

	return (base + site->guess[predictor]) & BOOK_48;
}

static inline uint64_t book_address(struct book *book, struct book_site *site)
{
	const uint8_t **at = &book->column[BOOK_MISSES];
	unsigned int how, bytes;
	uint64_t distance = 0;

	if (book_yes(book, BOOK_HITS))
		return book_says(book, site, site->best);
	book_gap(book, BOOK_HITS);
	how = *(*at)++;
	assert_true(how <= 17);
	if (how < 4)
		return book_says(book, site, site->best = how);
	bytes = how < 11 ? how - 4 : how - 11;
	for (unsigned int i = 0; i < bytes; i++)
		distance |= (uint64_t)*(*at)++ << (8 * i);
	distance = distance & 1 ? ~(distance >> 1) : distance >> 1;
	return (distance + (how < 11 ? site->guess[1] : book->a[0])) & BOOK_48;
}

static inline void book_came(struct book *book, struct book_site *site, uint64_t a)
{
	site->guess[3] = 2 * a - site->guess[1];
	site->guess[0] = a - book->a[0];
	site->guess[1] = a;
	site->guess[2] = a - book->a[1];
	book->a[1] = book->a[0];
	book->a[0] = a;
}

static inline void book_run(struct book *book, uint32_t token)
{
	struct book_trace *trace = &book->trace[token >> 11 & 0xfffff];
	unsigned int first = token >> 6 & 31, fetched = token & 63;
	unsigned int all = fetched > 0 ? fetched : 1, count = 0, at = 0;
	static struct book_data data[1024];
	bool expected = book_yes(book, BOOK_SHAPE);

	for (unsigned int k = 0; expected && k < all; k++)
		for (unsigned int n = 0; n < trace->of[first + k].n; n++)
			data[count++] = (struct book_data){ .d = k, .i = first + k, .n = n,
							    .code = trace->of[first + k].code[n] };
	if (!expected) {
		book_gap(book, BOOK_SHAPE);
		count = book_lists(book, trace, first, all, data);
	}
	for (unsigned int j = 0; j < count; j++) {
		struct book_site *site = &trace->of[data[j].i].site[data[j].n];

		data[j].address = book_address(book, site);
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
	const uint8_t **at = &book->column[BOOK_STATES];

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
	const uint8_t **at = &book->column[BOOK_STATES];
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
	const uint8_t *end[7];
	uint64_t size[7];

	book.three = calloc(65536, sizeof(*book.three));
	book.one = calloc(65536, sizeof(*book.one));
	book.trace = calloc(1, sizeof(*book.trace));
	assert_true(book.three && book.one && book.trace);
	book.traces = book.trace[0].count = 1;
	book.ref = base_ref - book_leb(&payload);
	book.next = base_instr + book_zigzag(&payload);
	book.space = book_leb(&payload);
	book.user = book_leb(&payload);
	book.offset = base_cycle - base_instr + book_zigzag(&payload);
	for (int i = 0; i < 7; i++)
		size[i] = book_leb(&payload);
	for (int i = 0; i < 7; i++) {
		book.column[i] = payload;
		payload += size[i];
		end[i] = payload;
	}
	for (int i = BOOK_FLOW; i <= BOOK_HITS; i++)
		book_gap(&book, i);
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
	for (int i = 0; i < 7; i++)
		assert_ptr_equal(book.column[i], end[i]);
	for (int i = BOOK_FLOW; i <= BOOK_HITS; i++)
		assert_int_equal(book.yes[i], 0);
	free(book.three);
	free(book.one);
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
