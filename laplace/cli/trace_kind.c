/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace is; see trace_kind.h. */
#include <inttypes.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/select.h>

#include "say.h"
#include "trace_kind.h"

struct cli_trace_kind cli_trace_kind(const struct lpl_meta *meta)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	const char *addresses = lpl_meta_get(meta, LPL_META_ADDRESSES);
	const bool is_canonical = addresses && strcmp(addresses, "canonical") == 0;

	return (struct cli_trace_kind){
		.reduction = reduction,
		.is_whole = !reduction || strcmp(reduction, "none") == 0,
		.is_canonical = is_canonical,
		.any_order = is_canonical || lpl_reduction_fenced(reduction) ?
			lpl_reduction_any_order(reduction) : 0,
		.behaviour = lpl_reduction_behaviour(reduction),
		.page_size = lpl_page_size(lpl_meta_get(meta, LPL_META_PAGE_SIZE), reduction),
		.cycles_a_second = lpl_cycles_a_second(meta)
	};
}

int cli_check_mergeable(const struct cli_trace_kind *kind, const char *path)
{
	return kind->is_canonical ?
		cli_complain(CLI_USAGE, "%s: has canonical pages already", path) :
		cli_check_has_canonical(kind, path);
}

int cli_check_has_canonical(const struct cli_trace_kind *kind, const char *path)
{
	if (kind->behaviour)
		return cli_complain(CLI_USAGE, "%s: is a behaviour sequence, no reference trace; "
				    "`laplace reduce -m olr:%" PRIu64 "' makes one of it", path,
				    kind->behaviour);
	if (lpl_reduction_records(kind->reduction))
		return cli_complain(CLI_USAGE, "%s: is records of active periods, no reference trace; "
				    "`laplace reduce -m replay' makes one of them", path);
	if (kind->is_canonical)
		return CLI_DONE;
	if (!kind->page_size)
		return cli_complain(CLI_USAGE, "%s: " LPL_NO_PAGE_SIZE, path);
	if (kind->page_size < UINT64_C(1) << LPL_PAGE_SHIFT)
		return cli_complain(CLI_USAGE, "%s: has pages of %" PRIu64 " bytes, but mappings and "
				    "copies are of %d: `laplace reduce -m block:%d' makes these of it",
				    path, kind->page_size, 1 << LPL_PAGE_SHIFT, 1 << LPL_PAGE_SHIFT);
	if (kind->page_size > UINT64_C(1) << LPL_PAGE_SHIFT)
		return cli_complain(CLI_USAGE, "%s: has pages of %" PRIu64 " bytes, but mappings and "
				    "copies are of %d: merge the trace that it was made from", path,
				    kind->page_size, 1 << LPL_PAGE_SHIFT);
	return CLI_DONE;
}
