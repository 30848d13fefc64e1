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
	  .words = "auto virtual canonical physical",
	  .help = "What a page is: canonical, the same for all that share it, which takes kernel "
	  "events in TRACE; virtual, one for each address space; physical, a frame of memory, if it "
	  "was recorded where these are; auto, canonical where that is exact (auto)"},
	{ 0 }
};

static const char *const names[] = {
	[LPL_ADDRESSES_KEPT] = "virtual", [LPL_ADDRESSES_CANONICAL] = "canonical",
	[LPL_ADDRESSES_PHYSICAL] = "physical"
};

static enum lpl_addresses conversion(const struct lpl_addressing *found, enum cli_addresses wanted)
{
	switch (wanted) {
	case CLI_ADDRESSES_PHYSICAL:
	case CLI_ADDRESSES_FRAMES:
		return LPL_ADDRESSES_PHYSICAL;
	case CLI_ADDRESSES_CANONICAL:
		return found->canonical ? LPL_ADDRESSES_KEPT : LPL_ADDRESSES_CANONICAL;
	case CLI_ADDRESSES_AUTO:
		return found->exact ? LPL_ADDRESSES_CANONICAL : LPL_ADDRESSES_KEPT;
	default:
		return LPL_ADDRESSES_KEPT;
	}
}

/* What is wanted, and cannot be had. */
static int refuse(const struct lpl_addressing *found, enum cli_addresses wanted,
		  enum lpl_addresses convert, const char *path)
{
	if (found->canonical && wanted == CLI_ADDRESSES_VIRTUAL)
		return cli_complain(CLI_USAGE, "%s: %s: its virtual ones are in the trace that it was "
				    "made from", path, found->why);
	if (convert == LPL_ADDRESSES_CANONICAL && !found->can)
		return cli_complain(CLI_USAGE, "%s: %s: there are no canonical pages to be had of it",
				    path, found->why);
	if (wanted == CLI_ADDRESSES_FRAMES && !found->translations)
		return cli_complain(CLI_USAGE, "%s: has no physical addresses, which this format is for: "
				    "recorded with --physical, it would have; --addresses %s writes those "
				    "that there are", path, found->canonical ? "canonical" : "virtual");
	if (convert == LPL_ADDRESSES_PHYSICAL && !found->translations)
		return cli_complain(CLI_USAGE, "%s: says nothing of physical memory: it was not recorded with "
				    "--physical, or what it was made into has no virtual pages of 4096 "
				    "bytes any more", path);
	return CLI_DONE;
}

enum cli_addresses cli_addresses_for(const struct lpl_format *format, enum cli_addresses otherwise)
{
	const unsigned int traits = lpl_format_traits(format);

	if (traits & LPL_FORMAT_PHYSICAL)
		return CLI_ADDRESSES_FRAMES;
	return traits & (LPL_WITH_SPACE | LPL_FORMAT_HITS | LPL_FORMAT_CODE) ? CLI_ADDRESSES_KEPT : otherwise;
}

int cli_addresses_decide(struct cli_addressing *addressing, enum cli_addresses wanted,
			 const char *path, const struct lpl_meta *meta)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	struct lpl_addressing found;
	enum lpl_addresses convert;
	bool exact;
	int status;

	lpl_addressing_of(&found, path, meta);
	convert = conversion(&found, wanted);
	exact = convert == LPL_ADDRESSES_PHYSICAL ? found.frames_exact : found.exact;
	*addressing = (struct cli_addressing){
		.convert = convert,
		.name = found.canonical ? "canonical" : names[convert],
		.is_named = reduction != NULL
	};
	status = refuse(&found, wanted, convert, path);
	if (status)
		return status;
	if (wanted == CLI_ADDRESSES_AUTO && found.maps && !found.exact)
		cli_complain(0, "warning: %s: %s: its pages are virtual ones, and a page that several "
			     "address spaces share counts once for each", path, found.why);
	snprintf(addressing->reduction, sizeof(addressing->reduction), "%s%s",
		 reduction ? reduction : "", convert && !exact ? "+merged" : "");
	return CLI_DONE;
}

const char *cli_addresses_reduction(const struct cli_addressing *addressing)
{
	return addressing->is_named ? addressing->reduction : NULL;
}
