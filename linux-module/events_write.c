// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of pages that are written, to their devices or to swap, if they are chosen with reclaim: when that
 * begins, and when it has been done.  Reclaim asks for some of it (events_reclaim.c); most is written because
 * it is old, or because there is much.
 */
#include "laplace.h"

static void lpl_write_back(struct folio *folio, bool begins)
{
	struct kernel_trace_record *record;
	struct lpl_folio_name name;
	unsigned long flags;

	lpl_name(&name, folio);
	record = lpl_folio_begin(&flags, KTR_WRITE_BACK, &name);
	record->arg[KTR_WRITE_BACK_BEGINS] = begins;
	lpl_end(flags);
}

/* __folio_start_writeback(folio, ...): also of a page that is being written. */
static int lpl_write_begins(struct kprobe *kp, struct pt_regs *regs)
{
	struct folio *folio = page_folio((struct page *)lpl_arg(kp, regs, PAGE));

	if (!folio_test_writeback(folio))
		lpl_write_back(folio, true);
	return 0;
}

/* __folio_end_writeback(folio) */
static int lpl_write_ends(struct kprobe *kp, struct pt_regs *regs)
{
	struct folio *folio = page_folio((struct page *)lpl_arg(kp, regs, PAGE));

	if (folio_test_writeback(folio))
		lpl_write_back(folio, false);
	return 0;
}

static struct lpl_hook lpl_write_hook[] = {
	{
		.points = {
			{ LPL_AT(__folio_start_writeback), .entry = lpl_write_begins },
			{ LPL_AT(__test_set_page_writeback), .entry = lpl_write_begins },
		},
	}, {
		.points = {
			{ LPL_AT(__folio_end_writeback), .entry = lpl_write_ends,
			  .from_interrupts = true },
			{ LPL_AT(test_clear_page_writeback), .entry = lpl_write_ends,
			  .from_interrupts = true },
		},
	},
};

const struct lpl_hooks lpl_write_hooks = {
	lpl_write_hook, ARRAY_SIZE(lpl_write_hook), "reclaim",
};
