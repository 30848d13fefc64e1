/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine is reset: by its keyboard controller or chipset, a triple fault, an INIT of its
 * local APIC, or a button of the display.
 *
 * A trace is of one machine, from power-on to power-off.  After a reset the kernel that reported
 * its tasks and pages does not exist any more, and another one, or a BIOS, writes where its record
 * was; and Bochs forgets the cycles since it last counted them.  So a reset ends a recording, as
 * switching the machine off does.  One that comes before anything is recorded ends nothing.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"

#include "report.h"
#include "stream.h"

/* Bochs also resets the machine when it is switched on. */
static bool has_begun(void)
{
	return laplace.collector && laplace_icount() &&
	       (laplace.state != LAPLACE_OFF || laplace.watch.records || laplace_references());
}

/* The processor still is where it was. */
void laplace_reset_begins(void)
{
	if (has_begun())
		laplace_end_run(NULL, "by a reset of the machine");
}

void laplace_reset(void)
{
	laplace_forget_slots();
}
