/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces for the simulator ChampSim: a record of 64 bytes for each instruction (inc/trace_instruction.h there).
 *
 *	8	where it is
 *	1, 1	is it a branch; was that taken
 *	2, 4	registers that it writes, and reads, in Pin's numbers; 0: none
 *	2 * 8	where in memory it writes, and
 *	4 * 8	where it reads; 0: nowhere
 *
 * Of a trace that has the bytes of its instructions.  ChampSim finds by the registers what kind of branch it is, so
 * those that decide that stand first.  A repeated string instruction has a record for each repetition, as
 * tracers that use Pin write it.  Whether a branch was taken is known by where the next instruction is; so
 * a record is written when that has been fetched.
 */
#include <string.h>

#include "decode/registers.h"
#include "instructions.h"

enum { WRITES = 2, READS = 4 };

struct record {
	uint64_t address;
	uint8_t is_branch, is_taken;
	uint8_t written[WRITES], read[READS];
	uint64_t write[WRITES], load[READS];
};
_Static_assert(sizeof(struct record) == 64, "a record of ChampSim's");

struct known {
	struct lpl_instruction instruction;
	struct lpl_registers registers;
	struct lpl_decoded decoded;
};

struct champsim {
	struct lpl_instructions instructions;
	struct known known[LPL_INSTRUCTIONS_KNOWN];
	const struct known *is;		/* the instruction that is going on; NULL: not looked up yet */
	struct record record;
	unsigned int writes, reads, of_element;	/* that it has so far */
};

/* ---- an instruction ---- */

/* All of it is known now.  What is no instruction, or not known, has no registers. */
static void look_up(struct lpl_exporter *exporter, struct champsim *champsim)
{
	const struct lpl_decoder *decoder = champsim->instructions.decoder;
	const struct lpl_instruction *now = &champsim->instructions.now;
	struct known *known = &champsim->known[now->address % LPL_INSTRUCTIONS_KNOWN];

	if (champsim->is)
		return;
	if (!lpl_same_instruction(&known->instruction, now)) {
		known->instruction = *now;
		(void)lpl_find_registers(decoder, now, &known->registers);
		(void)lpl_decode(decoder, now, &known->decoded);
	}
	if (now->bits == 0)
		exporter->result.losses.instructions++;
	champsim->is = known;
}

static bool writes_ip(const struct lpl_registers *registers)
{
	for (unsigned int i = 0; i < registers->writes; i++)
		if (registers->written[i] == LPL_REGISTER_IP)
			return true;
	return false;
}

/* `next`: where the instruction after it is, unless it was interrupted. */
static bool is_taken(const struct lpl_decoded *decoded, uint64_t next)
{
	return decoded->branch != LPL_BRANCH_CONDITIONAL || decoded->target == next;
}

static char *write_record(struct champsim *champsim, char *out, uint64_t next)
{
	const struct lpl_registers *registers = &champsim->is->registers;
	struct record *record = &champsim->record;

	record->address = champsim->instructions.now.address;
	record->is_branch = writes_ip(registers);
	record->is_taken = record->is_branch && is_taken(&champsim->is->decoded, next);
	for (unsigned int i = 0; i < WRITES && i < registers->writes; i++)
		record->written[i] = registers->written[i];
	for (unsigned int i = 0; i < READS && i < registers->reads; i++)
		record->read[i] = registers->read[i];
	memcpy(out, record, sizeof(*record));
	*record = (struct record){ .address = 0 };
	champsim->writes = champsim->reads = champsim->of_element = 0;
	return out + sizeof(*record);
}

static char *write_rest(struct lpl_exporter *exporter, char *out, uint64_t next)
{
	struct champsim *champsim = exporter->state;

	if (champsim->instructions.now.length == 0)
		return out;
	look_up(exporter, champsim);
	out = write_record(champsim, out, next);
	champsim->instructions.now.length = 0;
	champsim->is = NULL;
	return out;
}

static char *write_last(struct lpl_exporter *exporter, char *out)
{
	return write_rest(exporter, out, 0);
}

/* ---- what it refers to ---- */

/* Those of the processor itself, between instructions, have a count of their own, and are no instruction's. */
static bool is_of_instruction(const struct champsim *champsim, const struct lpl_ref *ref)
{
	return champsim->instructions.now.length != 0 && (ref->type == LPL_READ || ref->type == LPL_WRITE) &&
	       ref->instr == champsim->instructions.now.instr && ref->address != 0;
}

static bool place(struct champsim *champsim, const struct lpl_ref *ref)
{
	if (ref->type == LPL_WRITE && champsim->writes < WRITES)
		champsim->record.write[champsim->writes++] = ref->address;
	else if (ref->type == LPL_READ && champsim->reads < READS)
		champsim->record.load[champsim->reads++] = ref->address;
	else
		return false;
	champsim->of_element++;
	return true;
}

static char *write_data(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct champsim *champsim = exporter->state;

	if (!is_of_instruction(champsim, ref)) {
		exporter->result.losses.data_left_out++;
		return out;
	}
	if (ref->flags & LPL_SECOND)
		return out;	/* the record has where an access begins, however long it is */
	look_up(exporter, champsim);
	if (champsim->is->decoded.repeats &&
	    champsim->of_element == champsim->is->decoded.reads + champsim->is->decoded.writes)
		out = write_record(champsim, out, champsim->instructions.now.address);
	if (!place(champsim, ref))
		exporter->result.losses.data_left_out++;
	return out;
}

static char *write_champsim(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct champsim *champsim = exporter->state;

	if (ref->type != LPL_FETCH)
		return write_data(exporter, out, ref);
	if (!(ref->flags & LPL_SECOND))
		out = write_rest(exporter, out, ref->address);
	(void)lpl_code_fetch(champsim->instructions.code, ref, &champsim->instructions.now);
	return out;
}

const struct lpl_format lpl_format_champsim = {
	.name = "champsim",
	.fields = "ip, is_branch, branch_taken, destination and source registers, destination and source memory",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_CODE | LPL_WITH_WRITES | LPL_WITH_FETCHES,
	.write_begin = lpl_instructions_begin,
	.write_ref = write_champsim,
	.write_event = lpl_instructions_follow,
	.write_rest = write_last,
	.export_state = sizeof(struct champsim),
	.export_begin = lpl_instructions_open,
	.export_free = lpl_instructions_free,
};
