/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet traces of the simulator gem5, which its traffic generator plays: "gem5", and then
 * messages of protocol buffers, each after its length (src/proto/packet.proto there).
 *
 *	header	obj_id 1 (text), tick_freq 3
 *	packet	tick 1, cmd 2, addr 3, size 4, flags 5 (left out where 0)
 *
 * A field is a byte, its number * 8 + 0 for a number or + 2 for what has a length, and then a
 * number in groups of 7 bits, the lowest first, where all but the last byte have the highest bit set.
 *
 * Ticks are picoseconds, as gem5 has them unless it is changed, from the first reference on. An
 * access that crosses a line of 64 bytes is two packets, as gem5's own processors make them, because
 * its caches take no other.
 */
#include <inttypes.h>

#include "exporter.h"

#define TICKS_A_SECOND UINT64_C(1000000000000)
#define CYCLES_A_SECOND UINT64_C(1000000000)	/* if the trace does not say */
#define LINE 64

/* enum Command of src/mem/packet.hh */
enum { READ_REQUEST = 1, WRITE_REQUEST = 4 };
/* of src/mem/request.hh */
enum { INST_FETCH = 0x100, PRIVILEGED = 0x8000, PT_WALK = 0x20000000 };

struct clock {
	bool begun;
	uint64_t first;
};

static char *put_number(char *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*out++ = (char)(0x80 | (value & 0x7f));
	*out++ = (char)value;
	return out;
}

static char *put_field(char *out, unsigned int field, uint64_t value)
{
	return put_number(put_number(out, field << 3), value);
}

/* A message of fewer than 128 bytes, so that its length is one. */
static char *put_message(char *out, const char *message, const char *end)
{
	const size_t length = (size_t)(end - message);

	*out++ = (char)length;
	memcpy(out, message, length);
	return out + length;
}

static char *write_header(struct lpl_exporter *exporter, char *out)
{
	static const char name[] = "laplace";
	char message[64], *end = message;

	(void)exporter;
	*end++ = 1 << 3 | 2;
	end = stpcpy(put_number(end, sizeof(name) - 1), name);
	end = put_field(end, 3, TICKS_A_SECOND);
	return put_message(stpcpy(out, "gem5"), message, end);
}

/* Rounded down; false: too late. */
static bool find_tick(const struct lpl_exporter *exporter, uint64_t cycles, uint64_t *tick)
{
	const uint64_t known = exporter->cycles_a_second, half = 1000000;
	const uint64_t second = known ? known : CYCLES_A_SECOND;
	const uint64_t seconds = cycles / second, rest = cycles % second;

	if (second > UINT64_MAX / half || seconds >= UINT64_MAX / TICKS_A_SECOND)
		return false;
	*tick = seconds * TICKS_A_SECOND + rest * half / second * half +
		rest * half % second * half / second;
	return true;
}

static unsigned int flags_of(const struct lpl_ref *ref)
{
	unsigned int flags = ref->flags & LPL_USER ? 0 : PRIVILEGED;

	if (ref->type == LPL_FETCH)
		flags |= INST_FETCH;
	if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE)
		flags |= PT_WALK;
	return flags;
}

static char *put_packet(char *out, const struct lpl_ref *ref, uint64_t tick, uint64_t address,
			unsigned int size)
{
	const bool writes = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
	const unsigned int flags = flags_of(ref);
	char message[64], *end = message;

	end = put_field(end, 1, tick);
	end = put_field(end, 2, writes ? WRITE_REQUEST : READ_REQUEST);
	end = put_field(end, 3, address);
	end = put_field(end, 4, size);
	if (flags)
		end = put_field(end, 5, flags);
	return put_message(out, message, end);
}

static char *write_gem5(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const unsigned int room = LINE - ref->address % LINE;
	const unsigned int size = ref->length < room ? ref->length : room;
	struct clock *clock = exporter->state;
	uint64_t tick;

	if (!ref->length)
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "was reduced to pages, and "
					 "gem5 wants the size of every access");
	if (!clock->begun)
		clock->first = ref->cycle;
	clock->begun = true;
	if (!find_tick(exporter, ref->cycle - clock->first, &tick))
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "cycle %" PRIu64 " is too "
					 "late for this format", ref->cycle);
	out = put_packet(out, ref, tick, ref->address, size);
	return size == ref->length ? out :
	       put_packet(out, ref, tick, ref->address + size, ref->length - size);
}

const struct lpl_format lpl_format_gem5 = {
	.name = "gem5",
	.fields = "tick, cmd, addr, size, flags",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_PHYSICAL |
		  LPL_WITH_CYCLE | LPL_WITH_LENGTH | LPL_WITH_TYPES | LPL_WITH_MODE,
	.write_begin = write_header,
	.write_ref = write_gem5,
	.export_state = sizeof(struct clock),
};
