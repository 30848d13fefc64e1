/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated processor's memory: a TLB of four entries, the stack window, and the ways of
 * access that call the hooks, as Bochs has them.  Bochs' functions that are imitated are
 * named.
 */
#include <cstddef>
#include <cstring>

#include "processor.h"

/* ---- pages ---- */

static bool page_is(uint64_t page, unsigned quality, unsigned once_in_so_many)
{
	struct random random = { m.setting.seed ^ page ^ quality };

	return random_below(&random, once_in_so_many) == 0;
}

static bool is_device(uint64_t page) { return page_is(page, 1, 8); }
static bool is_system(uint64_t page) { return page_is(page, 2, 8); }
static bool is_global(uint64_t page) { return page_is(page, 3, 3); }

uint64_t some_page(void)
{
	uint32_t pages = once_in(3) || m.setting.pages < 3 ? m.setting.pages : 3;

	if (m.two_pages)
		pages = 2;
	return FIRST_PAGE + ((uint64_t)below(pages) << 12);
}

/* Often near a page's end, so that accesses cross it. */
uint64_t some_address(void)
{
	uint32_t offset = once_in(6) ? 0xfff - below(16) : below(0x1000);

	return some_page() + offset;
}

unsigned some_length(void)
{
	return 1u << below(5);
}

/*
 * The frame that the page tables have for a page: each space has its own, but for what is global, and a
 * page that is invalidated has got another one.
 */
uint64_t frame_by_tables(uint64_t space, uint64_t address)
{
	const uint64_t page = address >> 12;

	return (page & 0xfff) << 8 | (is_global(PAGE(address)) ? 0 : (space & 7) << 5) |
	       m.moves[page % MOVES];
}

const uint8_t *machine_memory(uint64_t frame, uint64_t writes)
{
	static uint8_t bytes[LPL_IMAGE_BYTES];
	const uint64_t what = frame * 5 + writes / 8;

	memset(bytes, 0, sizeof(bytes));
	switch (what % 8) {
	case 0:
		break;
	case 1:
		memset(bytes, (int)(1 + frame % 7), sizeof(bytes));
		break;
	case 2:
		return NULL;
	default:
		memcpy(bytes + 512 * (what % 7), &what, sizeof(what));
	}
	return bytes;
}

/* Bochs' getHostMemAddr() */
const uint8_t *laplace_machine_memory(uint64_t frame)
{
	return machine_memory(frame, m.truth->writes);
}

/* ---- the TLB ---- */

static struct entry *entry_of_slot(struct laplace_slot *slot)
{
	return (struct entry *)((char *)slot - offsetof(struct entry, slot));
}

bool laplace_machine_opens(struct laplace_slot *slot, uint64_t address)
{
	struct entry *entry = entry_of_slot(slot);

	if (m.setting.debugger || PAGE(entry->lpf) != PAGE(address) || !(entry->access & HOST))
		return false;
	entry->lpf = PAGE(address);
	return true;
}

void laplace_close_slot(struct laplace_slot *slot)
{
	entry_of_slot(slot)->lpf |= NO_HOST;
}

struct entry *entry_of(uint64_t address)
{
	return &m.tlb[address >> 12 & (TLB_ENTRIES - 1)];
}

/* What is in the TLB is what the tables have, which change only where it has to forget. */
uint64_t laplace_machine_frame(uint64_t address, bool fetch)
{
	const uint64_t page = fetch ? m.code_tlb[address >> 12 & 1] :
				      entry_of(address)->lpf & ~(uint64_t)NO_HOST;

	return page == PAGE(address) ? frame_by_tables(m.space, address) : KTR_NONE;
}

bool has_host(const struct entry *entry, uint64_t page)
{
	return entry->lpf == page ||
	       ((entry->lpf ^ NO_HOST) == page && (entry->access & HOST));
}

void walk_pages(bool write)
{
	for (unsigned levels = 1 + below(2); levels; levels--) {
		uint64_t physical = (uint64_t)(1 + below(5)) << 12 | 8 * below(512);
		bool sets_bit = write && levels == 1 && once_in(2);

		for (int writes = 0; writes <= sets_bit; writes++) {
			if (!p->walks)
				continue;
			if (laplace.state == LAPLACE_ON)	/* as walks.cc has it */
				laplace_walk(physical, 8, writes, 0);
			truth_walk(m.truth, writes, physical);
			m.truth->writes += writes != 0;
		}
	}
}

/* Bochs' translate_linear(), for data. */
static void translate(struct entry *entry, uint64_t page, bool user, bool write)
{
	uint32_t needed = (write ? WRITE_OK : READ_OK) << user;

	if ((entry->lpf & ~(uint64_t)NO_HOST) == page && (entry->access & needed))
		return;
	entry->lpf = INVALID;
	entry->access = 0;
	walk_pages(write);
	if ((user && is_system(page)) || (m.faults == 0 && once_in(60)))
		exception();
	laplace_tlb_filled(&entry->slot);
	entry->lpf = page | NO_HOST;
	entry->access = READ_OK | (write ? WRITE_OK : 0);
	if (user && !is_system(page))
		entry->access |= entry->access << 1;
	if (is_global(page))
		entry->access |= GLOBAL;
	if (!is_device(page))
		entry->access |= HOST;
}

/* ---- access to data ---- */

/* A reference to the kernel's record is none. */
void happened(bool write, uint64_t address, unsigned length, bool system)
{
	if (in_record(address, length))
		truth_record_reference(m.truth);
	else
		truth_data(m.truth, write, address, system);
}

/* The parts of an access, one for each page. */
struct parts {
	uint64_t address[2];
	unsigned length[2];
	unsigned count;
};

static struct parts parts_of(uint64_t address, unsigned length)
{
	unsigned here = 0x1000 - OFFSET(address);

	if (length <= here)
		return { { address, 0 }, { length, 0 }, 1 };
	return { { address, address + here }, { here, length - here }, 2 };
}

/* Bochs' access_read_linear() and access_write_linear(). */
static void access_linear(uint64_t address, unsigned length, bool user, int rw, bool looks)
{
	struct parts parts = parts_of(address, length);
	bool only_closed;

	if (m.alignment && user && (address & (length - 1) & m.alignment))
		exception();
	only_closed = parts.count == 1 && !m.setting.debugger &&
		      has_host(entry_of(address), PAGE(address)) &&
		      (entry_of(address)->access & (rw != READ ? WRITE_OK : READ_OK) << user);
	for (unsigned i = 0; i < parts.count; i++)
		translate(entry_of(parts.address[i]), PAGE(parts.address[i]), user, rw != READ);
	m.pages = parts.count;
	for (unsigned i = 0; i < parts.count; i++) {
		laplace_slow_access(&entry_of(parts.address[i])->slot, parts.address[i],
				    parts.length[i] | (unsigned)rw << LAPLACE_RW_SHIFT |
					    (i ? LAPLACE_SECOND : 0) |
					    (user ? 0 : LAPLACE_SUPERVISOR));
		if (!looks)
			happened(rw == WRITE, parts.address[i], parts.length[i], !user);
	}
	m.truth->writes += rw == WRITE;
	/* it was closed, and has a host address: the write may be made by that */
	if (rw == MODIFY && only_closed && !(entry_of(address)->lpf & NO_HOST))
		m.pages = 3;
}

/* By the entry of its last byte, as accessors.h does; if not that, as Bochs' own do. */
static struct entry *open_entry(uint64_t address, unsigned length, bool write, bool user)
{
	struct entry *entry = entry_of(address + length - 1);
	uint32_t may = write ? p->may_write : p->may_read;
	uint64_t aligned = address & ~(uint64_t)(0xfff & ~((length - 1) & m.alignment));

	if (user == m.user && entry->lpf == PAGE(address) && (entry->access & may))
		return entry;
	if (entry->lpf == aligned && (entry->access & (write ? WRITE_OK : READ_OK) << user))
		return entry;
	return NULL;
}

void linear(bool write, uint64_t address, unsigned length)
{
	struct entry *entry = open_entry(address, length, write, m.user);

	if (!entry)
		return access_linear(address, length, m.user, write ? WRITE : READ, false);
	laplace_hit(p, &entry->slot, write ? WRITE : READ, ~UINT64_C(0));
	happened(write, address, length, false);
	m.truth->writes += write;
}

static void modify_read(uint64_t address, unsigned length, bool looks)
{
	struct entry *entry = open_entry(address, length, true, m.user);

	if (!entry)
		return access_linear(address, length, m.user, MODIFY, looks);
	laplace_hit(p, &entry->slot, MODIFY, ~UINT64_C(0));
	m.pages = 3;
	if (!looks)
		happened(false, address, length, false);
}

/* BX_LAPLACE_WRITE_BACK() */
static void write_back(void)
{
	if (m.pages > 2)
		laplace_hit_again(p);
	else
		laplace_slow_write_back();
}

/* BX_LAPLACE_UNREPORTED() */
static void unreported(bool yes)
{
	if (yes && m.pages > 2) {
		p->modified = &p->lost;
		p->clock--;
	} else {
		p->looking = yes;
		p->lost.write = 0;
	}
}

void modify(uint64_t address, unsigned length, bool writes)
{
	struct parts parts = parts_of(address, length);

	modify_read(address, length, false);
	if (!writes)
		return;
	write_back();
	for (unsigned i = 0; i < parts.count; i++)
		happened(true, parts.address[i], parts.length[i], false);
	m.truth->writes++;
	if (length == 16) {
		unreported(true);
		write_back();
		unreported(false);
	}
}

/* BX_LAPLACE_LOOK() */
void look(uint64_t address, unsigned length)
{
	struct laplace_slot *slot = &entry_of(address)->slot;
	struct laplace_look before = laplace_look_begin(p, slot);

	modify_read(address, length, true);
	laplace_look_end(p, slot, &before, m.pages > 2);
}

/* Bochs' system_read_*() and system_write_*(). */
void system_access(uint64_t address, unsigned length, bool write)
{
	struct entry *entry = entry_of(address + length - 1);

	if (entry->lpf != PAGE(address) || !(entry->access & (write ? WRITE_OK : READ_OK)))
		return access_linear(address, length, false, write ? WRITE : READ, false);
	laplace_hit(p, &entry->slot, write ? WRITE : READ, ~LAPLACE_USER);
	happened(write, address, length, true);
	m.truth->writes += write;
}

void new_stack_write(uint64_t address)
{
	struct entry *entry = open_entry(address, 8, true, false);

	if (!entry)
		return access_linear(address, 8, false, WRITE, false);
	laplace_hit(p, &entry->slot, WRITE, ~UINT64_C(0));
	happened(true, address, 8, false);
	m.truth->writes++;
}

/* ---- the stack window ---- */

void laplace_machine_stack(uint32_t size)
{
	m.stack_size = size;
}

void invalidate_stack_cache(void)
{
	m.stack_size = 0;
	laplace_stack_closed();
}

/* machine.cc's laplace_stack_opens() */
static void stack_opens(uint64_t address, unsigned length)
{
	if (laplace_is_watched(address) || m.setting.debugger ||
	    (m.alignment & address & (length - 1))) {
		m.stack_size = 0;
		m.stack_host = false;
		return;
	}
	laplace_stack_opened(PAGE(address), m.stack_size);
}

/* Bochs' stackPrefetch(), in long mode */
static void stack_prefetch(uint64_t address, unsigned length)
{
	struct entry *entry = entry_of(address);

	if (!m.stack_size && !m.setting.debugger && !m.alignment &&
	    laplace_stack_reopens(address - m.stack_page))
		return;
	laplace_stack_closed();
	m.stack_host = false;
	m.stack_size = 0;
	if (OFFSET(address) + length > 0x1000)
		return;
	if (has_host(entry, PAGE(address)) && (entry->access & WRITE_OK << m.user)) {
		m.stack_page = PAGE(address);
		m.stack_host = true;
		m.stack_size = 0x1000 - 7;
		stack_opens(address, length);
	}
}

void stack_access(bool write, uint64_t address, unsigned length)
{
	if (address - m.stack_page >= m.stack_size || m.alignment) {
		p->stack_writes = write;
		if (address - m.stack_page >= m.stack_size)
			stack_prefetch(address, length);
		if (!m.stack_host)
			return linear(write, address, length);
		if (m.alignment & address & (length - 1))
			exception();
	}
	laplace_hit(p, &p->stack, write ? WRITE : READ, ~UINT64_C(0));
	happened(write, address, length, false);
	m.truth->writes += write;
}

/* ---- as a whole, and for code ---- */

void flush_tlb(bool global_too)
{
	invalidate_stack_cache();
	for (struct entry &entry : m.tlb) {
		if (global_too || !(entry.access & GLOBAL)) {
			entry.lpf = INVALID;
			entry.access = 0;
		}
	}
	m.code_tlb[0] = m.code_tlb[1] = INVALID;
	memset(m.linkable, 0, sizeof(m.linkable));
}

/* Bochs' prefetch(): the processor translates the address of the code. */
void prefetch(uint64_t page)
{
	uint64_t *entry = &m.code_tlb[page >> 12 & 1];

	m.linkable[(page >> 12) % MOVES] = true;
	if (*entry == page)
		return;
	*entry = INVALID;
	walk_pages(false);
	*entry = page;
}

