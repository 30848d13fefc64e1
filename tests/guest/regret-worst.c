/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See regret-worst.h.  The books are closed: each page has all its uses, and all spans in which it was resident. */
#include "regret-worst.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void print_text(const char *of, const char *name, const char *text)
{
	if (text == NULL)
		return;
	printf("%s%s \"", of, name);
	for (; *text != '\0'; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	puts("\"");
}

static bool resident_at(const struct page *p, uint32_t moment)
{
	for (uint32_t i = 0; i < p->spans; i++)
		if (p->span[i].from <= moment && moment <= p->span[i].to)
			return true;
	return false;
}

/* The first use after an eviction, before the next cut; NULL: there is none.  *last: the reference of the one before, 0. */
static const struct uses *next_use(const struct page *p, const struct eviction *e, uint64_t *last)
{
	*last = 0;
	for (uint32_t i = 0; i < p->uses && p->history[i].cuts <= e->cuts; i++) {
		if (p->history[i].cuts < e->cuts)
			continue;
		if (p->history[i].since >= e->moment)
			return &p->history[i];
		*last = p->history[i].last.ref;
	}
	return NULL;
}

/* By names. */
static bool is_before(const struct books *b, const struct page *one, const struct page *two)
{
	const struct file *a = &b->file[one->file], *c = &b->file[two->file];

	if (one->file == 0 || two->file == 0)
		return two->file != 0 || (one->file == 0 && (one->space < two->space ||
			(one->space == two->space && one->virtual_page < two->virtual_page)));
	if (a->device != c->device)
		return a->device < c->device;
	if (a->inode != c->inode)
		return a->inode < c->inode;
	return a->generation != c->generation ? a->generation < c->generation : one->offset < two->offset;
}

struct best {
	const struct page *page;	/* NULL: not known */
	struct clocks next;	/* 0: none */
	uint64_t last;
};

static struct best find_best(const struct books *b, const struct eviction *e)
{
	struct best best = { .page = NULL };
	bool never = false;

	for (size_t i = 0; i < b->pages; i++) {
		const struct page *p = b->page[i];
		const struct uses *next;
		uint64_t last;

		if (!resident_at(p, e->moment))
			continue;
		next = next_use(p, e, &last);
		if (next == NULL) {
			if (e->cuts != b->cuts)	/* it may have been used after that */
				return (struct best){ .page = NULL };
			if (!never)
				best.page = NULL;
			never = true;
			if (p->over && p->ended < e->next.ref)
				continue;
			if (best.page == NULL || last < best.last ||
			    (last == best.last && is_before(b, p, best.page)))
				best = (struct best){ .page = p, .last = last };
		} else if (!never && next->first.ref > e->next.ref && next->first.ref > best.next.ref) {
			best = (struct best){ .page = p, .next = next->first, .last = last };
		}
	}
	return best;
}

static int compare(const void *one, const void *other)
{
	const struct eviction *a = *(const struct eviction *const *)one, *b = *(const struct eviction *const *)other;
	const uint64_t after = a->next.ref - a->at.ref, after_b = b->next.ref - b->at.ref;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (after != after_b)
		return after < after_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void print_page(const struct books *b, const char *of, const struct page *p, enum kind kind)
{
	const struct file *file = &b->file[p->file];

	printf("%s.kind \"%s\"\n", of, kind_name[kind]);
	if (p->file) {
		printf("%s.device %" PRIu64 "\n%s.inode %" PRIu64 "\n%s.generation %" PRIu64 "\n%s.offset %" PRIu64 "\n", of,
		       file->device, of, file->inode & ~SEGMENT, of, file->generation, of, p->offset);
		print_text(of, ".name", file->name);
		return;
	}
	printf("%s.space %" PRIu64 "\n%s.virtual_page %" PRIu64 "\n", of, p->space, of, p->virtual_page);
	if (p->process != NO_PROCESS) {
		printf("%s.tgid %" PRIu64 "\n", of, b->process[p->process].tgid);
		print_text(of, ".process", b->process[p->process].name);
	}
}

static void print_clocks(const char *of, const char *name, const struct clocks *clocks)
{
	printf("%s.%s.reference %" PRIu64 "\n%s.%s.instruction %" PRIu64 "\n%s.%s.cycle %" PRIu64 "\n", of, name,
	       clocks->ref, of, name, clocks->instr, of, name, clocks->cycle);
}

static void print_one(const struct books *b, uint32_t place, const struct eviction *e)
{
	const struct best best = find_best(b, e);
	char of[32], page[48];

	snprintf(of, sizeof(of), "worst.%u", place);
	snprintf(page, sizeof(page), "%s.page", of);
	print_page(b, page, e->page, e->kind);
	printf("%s.rank %" PRIu64 "\n%s.resident %" PRIu64 "\n", of, e->rank, of, e->resident);
	print_clocks(of, "evicted", &e->at);
	if (e->last.ref != 0)
		print_clocks(of, "last_use", &e->last);
	print_clocks(of, "next_use", &e->next);
	printf("%s.read_back %s\n%s.reclaimer \"%s\"\n%s.tid %" PRIu64 "\n", of, e->back ? "true" : "false", of,
	       reclaimer_name[e->reclaimer], of, b->task[e->task].tid);
	print_text(of, ".by", b->task[e->task].name);
	if (e->dirty != UINT64_MAX)
		printf("%s.written %s\n", of, e->dirty ? "true" : "false");
	if (best.page == NULL)
		return;
	snprintf(page, sizeof(page), "%s.best", of);
	print_page(b, page, best.page, kind_of(b, best.page));
	if (best.next.ref != 0)
		print_clocks(of, "best_next_use", &best.next);
}

void print_worst(const struct books *b)
{
	const struct eviction **worst = resized(NULL, b->evictions, sizeof(*worst));
	uint32_t count = 0;

	for (uint32_t i = 1; i < b->evictions; i++)
		if (b->eviction[i].rank > 0)
			worst[count++] = &b->eviction[i];
	qsort((void *)worst, count, sizeof(*worst), compare);
	for (uint32_t i = 0; i < count && i < WORST; i++)
		print_one(b, i, worst[i]);
	free((void *)worst);
}
