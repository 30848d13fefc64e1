/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where references go in physical memory: the processor's translations, and when it forgets them, as
 * events of the trace (laplace/translation.h).
 *
 * Every reference is made by an entry of one of Bochs' TLBs, or by what Bochs keeps of one for longer:
 * its windows on the pages of the stack and of the code, and links from one trace of instructions to
 * another, all of which it drops whenever it flushes any entry.  So what an entry is filled with is
 * compared with what the trace's readers know (laplace/translate/used.h); while recording is off that is
 * not done, and when it begins, all that the TLBs hold is compared, and the windows and links are
 * dropped.  The second page of an instruction that crosses pages is the exception: Bochs finds what it has
 * decoded by the first.  So that page is looked up each time.
 *
 * A guest that changes a mapping has to flush the TLB before it goes by the new one.  Until then
 * processors may use either; so does Bochs, and where its two TLBs differ, the other one has to look
 * again.
 */
#ifndef LAPLACE_PHYSICAL_H
#define LAPLACE_PHYSICAL_H

#include <cstdint>

void laplace_physical_open(void);

/* The frame where readers of the trace find this address now; false: there is none. */
bool laplace_physical_frame(uint64_t address, uint64_t *frame);

/*
 * With the debugger every access takes Bochs' slow path, where its TLB entry is at hand: is it where
 * readers will find it?  Where every reference is recorded this is looked at for each, and what came of it
 * is said at the end.
 */
void laplace_physical_check(uint64_t address, bool fetch);
void laplace_physical_close(void);

#endif
