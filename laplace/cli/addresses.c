/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which addresses the references of a trace are given; see addresses.h. */
#include "addresses.h"

#include <stdio.h>
#include <string.h>

#include <laplace/select.h>

#include "options.h"
#include "say.h"

const struct cli_option cli_addresses_options[] = {
	{ "addresses", CLI_WORD, .size = sizeof(enum cli_addresses), .argument = "KIND",
	  .words = "auto virtual canonical",
	  .help = "What a page is: canonical, the same for all that share it, which takes kernel "
	  "events in TRACE; virtual, one for each address space; auto, canonical where that is "
	  "exact (auto)"},
	{ 0 }
};

int cli_addresses_decide(struct cli_addressing *addressing, enum cli_addresses wanted,
			 const char *path, const struct lpl_meta *meta)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	struct lpl_addressing found;

	lpl_addressing_of(&found, path, meta);
	*addressing = (struct cli_addressing){
		.convert = wanted == CLI_ADDRESSES_CANONICAL ? !found.canonical :
			   wanted == CLI_ADDRESSES_AUTO && found.exact,
		.is_named = reduction != NULL
	};
	addressing->name = found.canonical || addressing->convert ? "canonical" : "virtual";
	if (found.canonical && wanted == CLI_ADDRESSES_VIRTUAL)
		return cli_complain(CLI_USAGE, "%s: %s: its virtual ones are in the trace that it was "
				    "made from", path, found.why);
	if (addressing->convert && !found.can)
		return cli_complain(CLI_USAGE, "%s: %s: there are no canonical pages to be had of it",
				    path, found.why);
	if (wanted == CLI_ADDRESSES_AUTO && found.maps && !found.exact)
		cli_complain(0, "warning: %s: %s: its pages are virtual ones, and a page that several "
			     "address spaces share counts once for each", path, found.why);
	snprintf(addressing->reduction, sizeof(addressing->reduction), "%s%s",
		 reduction ? reduction : "", addressing->convert && !found.exact ? "+merged" : "");
	return CLI_DONE;
}

const char *cli_addresses_reduction(const struct cli_addressing *addressing)
{
	return addressing->is_named ? addressing->reduction : NULL;
}
