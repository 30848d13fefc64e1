/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's record: where it is, what is stored there, what it means.
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

#include "conditions.h"
#include "producer.h"
#include "report.h"
#include "session.h"
#include "watch.h"
#include "windows.h"

#define CPU (BX_CPU(0))

static struct {
	bool open;			/* a record has begun */
	uint64_t since;			/* that instruction count */
	uint32_t tid, tgid;		/* who runs */
} kernel_said;

static bool kernel_mode(void)
{
	return CPU->sregs[BX_SEG_REG_CS].selector.rpl == 0;
}

/* A kernel needs some thousand instructions for a record, and leaves it for no program. */
static bool may_be_complete(uint64_t since)
{
	return kernel_mode() && laplace_icount() - since <= LAPLACE_SUPPRESSED_MAX;
}

bool laplace_record_is_open(void)
{
	return kernel_said.open && may_be_complete(kernel_said.since);
}

void laplace_running_task(uint32_t *tid, uint32_t *tgid)
{
	*tid = kernel_said.tid;
	*tgid = kernel_said.tgid;
}

void laplace_note_running(uint32_t tid, uint32_t tgid)
{
	kernel_said.tid = tid;
	kernel_said.tgid = tgid;
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

static void control(const struct kernel_trace_record *r)
{
	switch (r->arg[KTR_CONTROL_REQUEST]) {
	case KTR_CONTROL_START:
		laplace_want(true);
		break;
	case KTR_CONTROL_STOP:
		laplace_want(false);
		break;
	case KTR_CONTROL_FLUSH:
		laplace_flush();
		break;
	case KTR_CONTROL_END:
		laplace.watch.end_seen = true;
		break;
	case KTR_CONTROL_FAIL:
		laplace.watch.fail_seen = true;
		break;
	case KTR_CONTROL_ROTATE:
		laplace_session_want(LAPLACE_WANTS_ROTATION);
		break;
	case KTR_CONTROL_CHECKPOINT:
		laplace_session_want(LAPLACE_WANTS_CHECKPOINT);
		break;
	case KTR_CONTROL_QUIT:
		laplace_end_run("clean", "by the guest");
	default:
		laplace.watch.malformed++;
		laplace_complain("the guest asked for control %llu, which does not exist",
				 (unsigned long long)r->arg[KTR_CONTROL_REQUEST]);
	}
}

/* A record says what runs, and that of a switch what will. */
static void note_task(const struct kernel_trace_record *r)
{
	bool leaves = r->tag == KTR_SCHEDULE;

	kernel_said.tid = leaves ? (uint32_t)r->arg[KTR_SCHEDULE_NEXT_TID] : r->tid;
	kernel_said.tgid = leaves ? (uint32_t)r->arg[KTR_SCHEDULE_NEXT_TGID] : r->tgid;
}

static void take_record(void)
{
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	if (!guest_read(laplace.watch.address, &record, sizeof(record))) {
		laplace.watch.malformed++;
		laplace_complain("the kernel's record at %#llx cannot be read",
				 (unsigned long long)laplace.watch.address);
		return;
	}
	const char *problem = record_problem(&record);
	if (problem) {
		laplace.watch.malformed++;
		laplace_complain("a kernel record was left out: %s (tag %u)", problem,
				 record.tag);
		return;
	}
	memset(record.text + record.text_length, 0, KTR_TEXT - record.text_length);
	laplace.watch.records++;
	note_task(&record);
	laplace_windows_hear(&record);
	laplace_conditions_hear(&record);
	if (record.tag == KTR_MARK && laplace_session_starts_at_mark())
		laplace_want(true);
	laplace_emit_event(&record);
	if (record.tag == KTR_CONTROL)
		control(&record);
	laplace_conditions_heard(&record);
	laplace_windows_look();
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
	kernel_said.open = true;
	kernel_said.since = laplace_icount();
}

static void complete(void)
{
	kernel_said.open = false;
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

bool laplace_watched(uint64_t address, unsigned length, bool write)
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

bool laplace_watch(uint64_t address, bool present, char *why, unsigned size)
{
	struct kernel_trace_record record;

	if ((address & 0xfff) + sizeof(record) > 0x1000) {
		snprintf(why, size, "the record at %#llx crosses a page; align it",
			 (unsigned long long)address);
		return false;
	}
	if (present) {
		if (!guest_read(address, &record, sizeof(record))) {
			snprintf(why, size, "there is no memory at %#llx",
				 (unsigned long long)address);
			return false;
		}
		if (record.magic != KTR_MAGIC || record.version != KTR_VERSION ||
		    record.size != sizeof(record)) {
			snprintf(why, size,
				 "the record at %#llx has magic %#x, version %u, size %u; "
				 "expected %#x, %u, %zu: build the guest's module from the same sources",
				 (unsigned long long)address, record.magic, record.version,
				 record.size, KTR_MAGIC, KTR_VERSION, sizeof(record));
			return false;
		}
	}
	laplace.watch.address = address;
	laplace.watch.known = true;
	laplace_forget_slots();
	return true;
}

void laplace_outp(unsigned port, unsigned length, unsigned value)
{
	char why[256];

	if (port != KTR_PORT || length != 4 || !laplace_session_wants_handshake() ||
	    !kernel_mode())
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
		if (!laplace_watch((uint64_t)value << 32 | laplace.watch.low, true, why,
				   sizeof(why)))
			laplace_die("the guest's module cannot be used: %s", why);
	}
}
