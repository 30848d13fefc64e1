/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The traces of the DRAM simulator DRAMsim3.
 *
 *	0x2000d5c0 READ 30	0xADDRESS READ|WRITE CYCLE
 *
 * The request is made in that cycle of the memory's clock or, if there is no room then, in a later
 * one; cycles do not run backwards.  They are the trace's, from its first reference on, so that the
 * simulator does not wait for that.
 */
#include <string.h>

#include "exporter.h"

struct clock {
	bool begun;
	uint64_t first;
};

static char *write_dramsim3(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct clock *clock = exporter->state;
	const unsigned int type = lpl_export_read_or_write(exporter, ref);

	if (!clock->begun)
		clock->first = ref->cycle;
	clock->begun = true;
	out = lpl_put_hex(stpcpy(out, "0x"), ref->address);
	out = stpcpy(out, type == LPL_WRITE ? " WRITE" : " READ");
	return put_newline(put_decimal_field(out, ref->cycle - clock->first));
}

const struct lpl_format lpl_format_dramsim3 = {
	.name = "dramsim3",
	.fields = "0xADDRESS READ|WRITE CYCLE",
	.traits = LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_PHYSICAL | LPL_WITH_WRITES | LPL_WITH_CYCLE,
	.write_ref = write_dramsim3,
	.export_state = sizeof(struct clock),
};
