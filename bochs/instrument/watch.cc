/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's record: where it is, and what is stored there.  (What it means is guest_record.cc's.)
 *
 * Everything read here is the guest's and is believed in nothing but its bytes:
 * sizes are ours, the text's length and the tag are checked, and a record that
 * does not hold is counted and left out.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "memory/memory-bochs.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "option.h"
#include "recorder.h"
#include "report.h"
#include "stream.h"
#include "watch.h"

#define CPU (BX_CPU(0))

/*
 * A kernel needs a few thousand instructions for a record.  One that never
 * comes to its trigger must not silence the trace.
 */
static const uint64_t SUPPRESSED_MAX = 1000000;

static struct {
	void (*take)(const struct kernel_trace_record *record);
	bool is_open;			/* a record has begun */
	uint64_t since;			/* that instruction count */
} record;

static bool kernel_mode(void)
{
	return CPU->sregs[BX_SEG_REG_CS].selector.rpl == 0;
}

/* A kernel leaves it for no program. */
static bool may_be_complete(uint64_t since)
{
	return kernel_mode() && laplace_icount() - since <= SUPPRESSED_MAX;
}

bool laplace_record_is_open(void)
{
	return record.is_open && may_be_complete(record.since);
}

/* Copy `size` bytes at a linear address within one page; false: not mapped, or not memory. */
static bool guest_read(uint64_t address, void *out, size_t size)
{
	bx_phy_address physical;

	if (!CPU->dbg_xlate_linear2phy(address, &physical))
		return false;
	const Bit8u *host = BX_MEM(0)->getHostMemAddr(CPU, physical, BX_READ);
	if (!host)
		return false;
	memcpy(out, host, size);
	return true;
}

/* ---- a record ---- */

static const char *record_problem(const struct kernel_trace_record *r)
{
	if (r->magic != KTR_MAGIC)
		return "its magic is wrong";
	if (r->version != KTR_VERSION)
		return "its version is not ours";
	if (r->size != sizeof(*r))
		return "its size is not ours";
	if (!lpl_event_name(r->tag) || r->tag >= LPL_EVENT_TRACING)
		return "its tag is unknown";
	if (r->text_length > KTR_TEXT)
		return "its text is longer than its room";
	return NULL;
}

/* A record says what runs, and that of a switch what will. */
static void note_task(const struct kernel_trace_record *r)
{
	bool leaves = r->tag == KTR_SCHEDULE;

	laplace.watch.tid = leaves ? (uint32_t)r->arg[KTR_SCHEDULE_NEXT_TID] : r->tid;
	laplace.watch.tgid = leaves ? (uint32_t)r->arg[KTR_SCHEDULE_NEXT_TGID] : r->tgid;
}

static void take_record(void)
{
	struct kernel_trace_record taken;

	memset(&taken, 0, sizeof(taken));
	if (!guest_read(laplace.watch.address, &taken, sizeof(taken))) {
		laplace.watch.malformed++;
		laplace_complain("the kernel's record at %#llx cannot be read",
				 (unsigned long long)laplace.watch.address);
		return;
	}
	const char *problem = record_problem(&taken);
	if (problem) {
		laplace.watch.malformed++;
		laplace_complain("a kernel record was left out: %s (tag %u)", problem,
				 taken.tag);
		return;
	}
	memset(taken.text + taken.text_length, 0, KTR_TEXT - taken.text_length);
	laplace.watch.records++;
	note_task(&taken);
	record.take(&taken);
}

/* ---- between begin and trigger ---- */

static void begin(void)
{
	if (laplace.state == LAPLACE_SUPPRESSED) {
		laplace.watch.abandoned++;
		laplace_complain("a kernel record began before the last one was complete");
	}
	if (laplace.state == LAPLACE_ON)
		laplace_suppress();
	record.is_open = true;
	record.since = laplace_icount();
}

static void complete(void)
{
	record.is_open = false;
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_resume();
}

void laplace_suppression_check(void)
{
	if (may_be_complete(laplace.suppressed_since))
		return;
	laplace.watch.abandoned++;
	laplace_complain("a kernel record was begun and never completed; "
			 "%llu instructions were left out of the trace",
			 (unsigned long long)(laplace_icount() - laplace.suppressed_since));
	laplace_resume();
}

static bool covers(uint64_t address, unsigned length, size_t field)
{
	uint64_t at = laplace.watch.address + field;

	return address < at + sizeof(ktr_u32) && at < address + length;
}

static bool accessed(uint64_t address, unsigned length, bool write)
{
	if (address + length <= laplace.watch.address ||
	    address >= laplace.watch.address + sizeof(struct kernel_trace_record))
		return false;
	if (write && kernel_mode()) {
		if (covers(address, length, offsetof(struct kernel_trace_record, begin)))
			begin();
		if (covers(address, length, offsetof(struct kernel_trace_record, trigger))) {
			complete();
			take_record();
		}
	}
	return true;
}

/* ---- where the record is ---- */

void laplace_watch_begin(void (*take)(const struct kernel_trace_record *record))
{
	record.take = take;
	laplace.watch.accessed = accessed;
}

bool laplace_watch_record(uint64_t address, bool present, char *why, unsigned size)
{
	struct kernel_trace_record there;

	if ((address & 0xfff) + sizeof(there) > 0x1000) {
		snprintf(why, size, "the record at %#llx crosses a page; align it",
			 (unsigned long long)address);
		return false;
	}
	if (present) {
		if (!guest_read(address, &there, sizeof(there))) {
			snprintf(why, size, "there is no memory at %#llx",
				 (unsigned long long)address);
			return false;
		}
		if (there.magic != KTR_MAGIC || there.version != KTR_VERSION ||
		    there.size != sizeof(there)) {
			snprintf(why, size,
				 "the record at %#llx has magic %#x, version %u, size %u; "
				 "expected %#x, %u, %zu: build the guest's module from the same sources",
				 (unsigned long long)address, there.magic, there.version,
				 there.size, KTR_MAGIC, KTR_VERSION, sizeof(there));
			return false;
		}
	}
	laplace.watch.address = address;
	laplace.watch.known = true;
	laplace_forget_slots();
	return true;
}

static bool wants_handshake(void)
{
	return laplace.collector && !strcmp(laplace_option.kernel, "auto");
}

void laplace_outp(unsigned port, unsigned length, unsigned value)
{
	char why[256];

	if (port != KTR_PORT || length != 4 || !wants_handshake() || !kernel_mode())
		return;
	switch (laplace.watch.hello) {
	case 0:
		if (value == KTR_HELLO)
			laplace.watch.hello = 1;
		else if (value == KTR_GOODBYE && laplace.watch.known) {
			complete();
			laplace.watch.known = false;
			laplace_forget_slots();
		}
		return;
	case 1:
		laplace.watch.low = value;
		laplace.watch.hello = 2;
		return;
	default:
		laplace.watch.hello = 0;
		if (!laplace_watch_record((uint64_t)value << 32 | laplace.watch.low, true, why,
					  sizeof(why)))
			laplace_die("the guest's module cannot be used: %s", why);
	}
}
