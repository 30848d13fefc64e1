/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The traces of the DRAM simulator Ramulator 2, of two of its frontends.
 *
 *	LD 0x12ab		LoadStoreTrace: LD|ST ADDRESS, a request as soon as there is room
 *
 *	3 20734016		SimpleO3: BUBBLES LOAD [STORE], in decimal, for a core with a cache:
 *	8 20841280 20841280	instructions without a load, the load of the next one, a store with it
 *	2 -1 20841344		... and a store by itself, as that core goes by what is -1
 *
 * Both have signed addresses of 64 bits, so one from 2^63 on is refused.
 */
#include <inttypes.h>
#include <limits.h>

#include "exporter.h"

static bool has_63_bits(struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	if (ref->address <= INT64_MAX)
		return true;
	(void)lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " has the address %"
				PRIx64 ": Ramulator has 63 bits for that", ref->ref, ref->address);
	return false;
}

/* ---- LoadStoreTrace ---- */

static char *write_load_store(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const unsigned int type = lpl_export_read_or_write(exporter, ref);

	if (!has_63_bits(exporter, ref))
		return NULL;
	out = stpcpy(out, type == LPL_WRITE ? "ST 0x" : "LD 0x");
	return put_newline(lpl_put_hex(out, ref->address));
}

const struct lpl_format lpl_format_ramulator2 = {
	.name = "ramulator2",
	.fields = "LD|ST 0xADDRESS",
	.traits = LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_PHYSICAL | LPL_WITH_WRITES,
	.write_ref = write_load_store,
};

/* ---- SimpleO3 ---- */

/* The line that is not written yet, because a store may belong to it. */
struct core {
	bool begun;		/* `done` is known */
	bool held;
	uint64_t done;		/* instructions that lines so far account for */
	uint64_t bubbles;
	uint64_t load;
};

static char *put_line(struct core *core, char *out)
{
	core->held = false;
	out = lpl_put_decimal(out, core->bubbles);
	return put_decimal_field(out, core->load);
}

static char *write_held(struct lpl_exporter *exporter, char *out)
{
	struct core *core = exporter->state;

	return core->held ? put_newline(put_line(core, out)) : out;
}

/* Instructions are counted from that of the first reference on. */
static void begin_core(struct core *core, const struct lpl_ref *ref)
{
	if (!core->begun)
		core->done = ref->instr;
	core->begun = true;
}

/* Those up to and including the instruction that made this, which no line has had yet. */
static uint64_t take_instructions(struct core *core, const struct lpl_ref *ref)
{
	uint64_t count;

	begin_core(core, ref);
	count = ref->instr + 1 > core->done ? ref->instr + 1 - core->done : 0;
	core->done += count;
	return count;
}

static char *write_store(struct core *core, char *out, const struct lpl_ref *ref, uint64_t instructions)
{
	if (core->held && !instructions) {
		out = put_line(core, out);
	} else {
		if (core->held)
			out = put_newline(put_line(core, out));
		out = stpcpy(lpl_put_decimal(out, instructions), " -1");
	}
	return put_newline(put_decimal_field(out, ref->address));
}

static char *write_core(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct core *core = exporter->state;
	uint64_t instructions;
	unsigned int type;

	if (ref->type == LPL_FETCH) {
		begin_core(core, ref);
		exporter->result.losses.fetches_left_out++;
		return out;
	}
	type = lpl_export_plain_type(exporter, ref);
	if (!has_63_bits(exporter, ref))
		return NULL;
	instructions = take_instructions(core, ref);
	if (instructions > INT_MAX)
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " comes %"
					 PRIu64 " instructions after the one before: Ramulator has "
					 "31 bits for that", ref->ref, instructions);
	if (type == LPL_WRITE)
		return write_store(core, out, ref, instructions);
	out = write_held(exporter, out);
	core->held = true;
	/* a further load of one instruction is one more there: of those to come, one less is a bubble */
	core->done += instructions == 0;
	core->bubbles = instructions ? instructions - 1 : 0;
	core->load = ref->address;
	return out;
}

const struct lpl_format lpl_format_ramulator2_o3 = {
	.name = "ramulator2-o3",
	.fields = "BUBBLES LOAD [STORE]",
	.traits = LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_PHYSICAL | LPL_WITH_WRITES | LPL_WITH_INSTR,
	.write_ref = write_core,
	.write_rest = write_held,
	.export_state = sizeof(struct core),
};
