/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RUNS chunks and the hash of a stream, read as docs/format.md says in sections 9 and 10, and as
 * plainly as that: an oracle that shares nothing with the library.  Names are the document's.
 */
#ifndef LAPLACE_TESTS_BLOCKS_BY_THE_BOOK_H
#define LAPLACE_TESTS_BLOCKS_BY_THE_BOOK_H

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <laplace/record.h>

#define BOOK_H UINT64_C(0x9e3779b97f4a7c15)
#define BOOK_48 ((UINT64_C(1) << 48) - 1)

struct book_site {
	uint64_t last, step, near, far, seen;
	unsigned int kind;
};

struct book_token {
	size_t trace;
	unsigned int first, fetched;
	uint32_t follower;
	unsigned int count;		/* of its list */
	uint8_t code[64], d[64];
	struct book_site *site;
	unsigned int sites;		/* that it has used */
};

struct book_trace {
	uint64_t address;
	unsigned int count, length[32];
};

struct book_entry {
	uint32_t best, other;
	bool doubt;
};

struct book {
	const uint8_t *column[7];
	uint64_t yes[3];		/* to come in the first three */
	struct book_token *token;
	uint32_t tokens, before;
	struct book_trace *trace;
	size_t traces;
	struct book_entry *entry;
	uint16_t context;
	uint64_t a1, a2;
	uint64_t next, space, user, offset, ref;
	struct lpl_ref *refs;
	size_t count;
	size_t needless;		/* what was said and need not have been */
};

enum { BOOK_FLOW, BOOK_SHAPE, BOOK_HITS, BOOK_MISSES, BOOK_TRACES, BOOK_CODES, BOOK_STATES };
enum { BOOK_NONE, BOOK_LOOSE, BOOK_ANY, BOOK_STATE, BOOK_RUN = 18 };

/* An array of `count` with one more, of zeros; room for the next power of two. */
static inline void *book_more(void *array, size_t count, size_t size)
{
	if ((count & (count - 1)) == 0)
		array = realloc(array, (count ? 2 * count : 1) * size);
	assert_true(array != NULL);
	memset((char *)array + count * size, 0, size);
	return array;
}

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
	unsigned int d, code, length;
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
	r->space = walk ? 0 : r->space;
	if (walk)
		r->flags = data->code & 48;
	else
		r->flags = (book->user && !(data->code & 32) ? LPL_USER : 0) |
			   (data->code & 16 ? LPL_SECOND : 0);
}

/* ---- 9.3 ---- */

static inline void book_new_trace(struct book *book, uint64_t address)
{
	book->trace = book_more(book->trace, book->traces, sizeof(*book->trace));
	book->trace[book->traces++].address = address;
	assert_true(book->traces <= UINT32_C(1) << 20);
}

static inline void book_new_token(struct book *book, size_t trace, unsigned int first,
				  unsigned int fetched)
{
	struct book_token *token;

	book->token = book_more(book->token, book->tokens, sizeof(*book->token));
	token = &book->token[book->tokens++];
	token->trace = trace;
	token->first = first;
	token->fetched = fetched;
}

static inline uint32_t book_named(struct book *book)
{
	const uint8_t **at = &book->column[BOOK_TRACES];
	uint64_t number = book_leb(at), trace, rest;
	unsigned int first, fetched, all, length = 0;
	struct book_trace *t;

	assert_true(number <= book->tokens);
	if (number < book->tokens)
		return (uint32_t)number;
	trace = book_leb(at);
	rest = book_leb(at);
	assert_true(trace > 0 && trace <= book->traces && rest < 2048);
	first = (unsigned int)(rest / 64);
	fetched = rest % 64;
	all = first + (fetched > 0 ? fetched : 1);
	assert_true(all <= 32);
	if (trace == book->traces) {
		uint64_t difference = book_zigzag(at);

		book_new_trace(book, book->trace[trace - 1].address + difference);
	}
	t = &book->trace[trace];
	while (t->count < all) {
		uint64_t missing = book_leb(at);

		assert_true(missing >= 1 && missing <= 15);
		t->length[t->count++] = (unsigned int)missing;
	}
	for (unsigned int i = 0; i < t->count; i++)
		length += t->length[i];
	assert_true(t->count == 1 || t->address % 4096 + length <= 4096);
	book_new_token(book, trace, first, fetched);
	return (uint32_t)number;
}

static inline uint32_t book_next(struct book *book)
{
	struct book_entry *entry = &book->entry[book->context];
	const uint32_t best = entry->best;
	uint32_t token = best;

	if (book_yes(book, BOOK_FLOW)) {
		entry->doubt = false;
	} else {
		unsigned int which = *book->column[BOOK_FLOW]++;

		assert_true(which <= 2);
		token = which == 0 ? book_named(book) :
			which == 1 ? entry->other : book->token[book->before].follower;
		book_gap(book, BOOK_FLOW);
		if (token == entry->best) {
			book->needless++;
			entry->doubt = false;
		} else if (entry->doubt || entry->best == BOOK_NONE) {
			entry->other = entry->best;
			entry->best = token;
			entry->doubt = false;
		} else {
			entry->other = token;
			entry->doubt = true;
		}
		if (best != token)
			book->token[book->before].follower = token;
	}
	assert_true(token != BOOK_NONE);
	book->context = (uint16_t)((book->context << 5) ^ (token * BOOK_H >> 48));
	book->before = token;
	return token;
}

/* ---- 9.4 ---- */

static inline unsigned int book_listed(const struct book_token *token, struct book_data *data)
{
	for (unsigned int i = 0; i < token->count; i++) {
		assert_true((token->code[i] >> 1 & 7) != 7);
		data[i] = (struct book_data){ .d = token->d[i], .code = token->code[i] };
	}
	return token->count;
}

static inline unsigned int book_given(struct book *book, struct book_token *token,
				      struct book_data *data)
{
	const uint8_t **at = &book->column[BOOK_CODES];
	uint64_t count = book_leb(at), words = count;
	bool same = count == token->count;
	unsigned int d = 0;

	assert_true(count <= 1024);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int byte = *(*at)++;

		if (byte == 16) {
			uint64_t more = book_leb(at);

			assert_true(i >= 2 && words == count && more <= count - i);
			book->needless += more == 0;
			for (; more > 0; more--, i++) {
				data[i].code = data[i - 2].code;
				data[i].length = 0;
				d += data[i - 2].d - (i > 2 ? data[i - 3].d : 0);
				assert_true(d <= 255);
				data[i].d = d;
				same = same && data[i].code == token->code[i] && d == token->d[i];
			}
			i--;
			continue;
		}
		if (byte & 128) {
			book->needless += **at == 0;
			d += *(*at)++;
		}
		assert_true(d <= 255);
		data[i] = (struct book_data){ .d = d, .code = byte & 127 };
		if ((byte >> 1 & 7) == 7) {
			uint64_t length = book_leb(at);

			assert_true(length >= 1 && length <= 4096);
			data[i].length = (unsigned int)length;
			words++;
			same = false;
		}
		same = same && data[i].code == token->code[i] && d == token->d[i];
	}
	assert_true(words <= 1024);
	book->needless += same;
	if (count <= 64) {
		token->count = (unsigned int)count;
		for (unsigned int i = 0; i < count; i++) {
			token->code[i] = (uint8_t)data[i].code;
			token->d[i] = (uint8_t)data[i].d;
		}
	}
	return (unsigned int)count;
}

/* ---- 9.5 ---- */

static inline struct book_site *book_site(struct book_token *token, unsigned int i)
{
	unsigned int site = i > 63 ? 64 + i % 8 : i;

	while (token->sites <= site) {
		token->site = book_more(token->site, token->sites, sizeof(*token->site));
		token->sites++;
	}
	return &token->site[site];
}

static inline uint64_t book_distance(struct book *book, unsigned int bytes)
{
	uint64_t zigzag = 0;

	for (unsigned int i = 0; i < bytes; i++)
		zigzag |= (uint64_t)*book->column[BOOK_MISSES]++ << (8 * i);
	return zigzag & 1 ? ~(zigzag >> 1) : zigzag >> 1;
}

static inline uint64_t book_address(struct book *book, struct book_site *site)
{
	const uint64_t says[4] = {
		(site->last + site->step) & BOOK_48,
		(book->a1 + site->near) & BOOK_48,
		(book->a2 + site->far) & BOOK_48,
		(site->last + site->seen) & BOOK_48,
	};
	uint64_t a = says[site->kind];

	if (!book_yes(book, BOOK_HITS)) {
		unsigned int how = *book->column[BOOK_MISSES]++;

		assert_true(how <= 17);
		if (how < 4)
			a = says[how];
		else if (how < 11)
			a = (site->last + book_distance(book, how - 4)) & BOOK_48;
		else
			a = (book->a1 + book_distance(book, how - 11)) & BOOK_48;
		book->needless += a == says[site->kind];
		book_gap(book, BOOK_HITS);
		if (how < 3) {
			site->kind = how;
		} else if (how == 3) {
			site->kind = 0;
			site->step = site->seen;
		}
		site->seen = a - site->last;
		site->near = a - book->a1;
		site->far = a - book->a2;
	}
	site->last = a;
	book->a2 = book->a1;
	book->a1 = a;
	return a;
}

static inline void book_run(struct book *book, struct book_token *token)
{
	const struct book_trace *trace = &book->trace[token->trace];
	unsigned int fetched = token->fetched, count, at = 0;
	struct book_data data[1024];

	if (book_yes(book, BOOK_SHAPE)) {
		count = book_listed(token, data);
	} else {
		count = book_given(book, token, data);
		book_gap(book, BOOK_SHAPE);
	}
	for (unsigned int i = 0; i < count; i++)
		data[i].address = book_address(book, book_site(token, i));
	for (unsigned int k = 0; k < fetched; k++) {
		book_fetch(book, trace, token->first + k, book->next + k);
		for (; at < count && (data[at].d == k || k == fetched - 1); at++)
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
 * decompressed payload and the header's base clocks.  Returns what follows the columns; `*needless` is
 * how often a writer said what it need not say, which is no damage.
 */
static inline const uint8_t *book_read(const uint8_t *payload, uint64_t base_ref,
				       uint64_t base_instr, uint64_t base_cycle, size_t n,
				       struct lpl_ref *refs, size_t *needless)
{
	struct book book = { .refs = refs };
	const uint8_t *end[7];
	uint64_t size[7];

	book.entry = calloc(65536, sizeof(*book.entry));
	assert_true(book.entry != NULL);
	book_new_trace(&book, 0);	/* of loose */
	while (book.tokens < BOOK_RUN)
		book_new_token(&book, 0, 0, 0);
	book.ref = base_ref - book_leb(&payload);
	book.next = base_instr + book_zigzag(&payload);
	book.space = book_leb(&payload);
	book.user = book_leb(&payload);
	assert_true(book.user <= 1);
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
		bool state = book.before >= BOOK_STATE && book.before < BOOK_RUN;
		uint32_t token = book_next(&book);

		if (token >= BOOK_RUN || token == BOOK_LOOSE) {
			book_run(&book, &book.token[token]);
		} else if (token == BOOK_ANY) {
			book_any(&book);
		} else {
			assert_true(!state);
			book_state(&book, token - 2);
		}
	}
	assert_true(book.count == n);
	for (int i = 0; i < 7; i++)
		assert_true(book.column[i] == end[i]);
	for (int i = BOOK_FLOW; i <= BOOK_HITS; i++)
		assert_true(book.yes[i] == 0);
	for (uint32_t i = 0; i < book.tokens; i++)
		free(book.token[i].site);
	free(book.token);
	free(book.trace);
	free(book.entry);
	*needless = book.needless;
	return payload;
}

/* ---- 10 ---- */

static inline void book_f(uint64_t *f, uint64_t w)
{
	w ^= w >> 33;
	w *= UINT64_C(0xff51afd7ed558ccd);
	w ^= w >> 33;
	w *= UINT64_C(0xc4ceb9fe1a85ec53);
	w ^= w >> 33;
	*f = *f * BOOK_H + w;
}

static inline void book_d(uint64_t *d, uint64_t w)
{
	*d = (*d ^ w) * BOOK_H;
	*d ^= *d >> 32;
}

#define BOOK_T(k) (UINT64_C(7) << 61 | (k))

static inline int book_code(const struct lpl_ref *r, bool user)
{
	static const uint16_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
	int class = 7;

	if (r->type == LPL_FETCH || r->flags & (LPL_PAGED | LPL_SYNTHETIC) || r->length == 0 ||
	    (r->address >> 47 != 0 && r->address >> 47 != 0x1ffff) ||
	    (walk && (r->flags & ~48 || r->space)) || (r->flags & LPL_USER && !user))
		return -1;
	for (int i = 0; i < 7; i++)
		class = r->length == lengths[i] ? i : class;
	return (r->type == LPL_WRITE || r->type == LPL_WALK_WRITE) + class * 2 +
	       (r->flags & LPL_SECOND ? 16 : 0) +
	       (walk ? r->flags : 64 + (user && !(r->flags & LPL_USER) ? 32 : 0));
}

static inline uint64_t book_hash(const struct lpl_ref *refs, size_t count)
{
	uint64_t f = 0, d = 0, space = 0, offset = 0, ref = 0, fetch = 0, data = 0;
	uint64_t word[3];
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
			book_f(&f, BOOK_T(0));
			book_f(&f, r->ref);
			book_f(&f, space);
			book_f(&f, offset);
			book_f(&f, user);
		}
		ref = r->ref;
		if (is_fetch) {
			bool second = r->flags & LPL_SECOND;

			if (r->instr != fetch - second) {
				book_f(&f, BOOK_T(1));
				book_f(&f, r->instr);
			}
			if (some && r->instr == data)
				book_f(&f, BOOK_T(2));
			book_f(&f, (r->address & BOOK_48) + ((uint64_t)r->length << 48) +
			       ((uint64_t)second << 52));
			fetch = r->instr + 1;
		} else if (book_code(r, user) >= 0) {
			uint64_t code = (uint64_t)book_code(r, user);

			if (!some || r->instr >> 8 != data >> 8) {
				book_d(&d, BOOK_T(3));
				book_d(&d, r->instr >> 8);
			}
			some = true;
			data = r->instr;
			book_d(&d, (r->address & BOOK_48) + ((r->instr & 255) << 48) +
			       (code << 56));
			if ((code >> 1 & 7) == 7)
				book_d(&d, r->length);
		} else {
			book_d(&d, BOOK_T(4));
			book_d(&d, r->ref);
			book_d(&d, r->instr);
			book_d(&d, r->cycle);
			book_d(&d, r->address);
			book_d(&d, r->space);
			book_d(&d, r->type + ((uint64_t)r->flags << 8) +
			       ((uint64_t)r->length << 16));
		}
	}
	word[0] = count;
	word[1] = f;
	word[2] = d;		/* on a little-endian machine */
	return XXH3_64bits(word, sizeof(word));
}

#endif
