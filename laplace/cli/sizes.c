/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of memory, as -s takes them; see sizes.h. */
#include "sizes.h"

#include <string.h>

#include "pass.h"
#include "progress.h"
#include "say.h"

/* How many distinct pages will be simulated: in a pass of its own, which complains of nothing. */
static int count_pages(const struct cli_sizes_of *of, uint64_t *pages)
{
	struct lpl_simulator *simulator = NULL;
	struct lpl_simulator_options how = { .jobs = of->jobs, .page_size = of->page_size };
	struct lpl_report report = { 0 }, trouble = { 0 };
	struct cli_progress progress;
	struct cli_pass pass = { .path = of->path, .progress = &progress, .label = "pages ",
				 .choice = of->choice, .without_events = true,
				 .addressing = of->addressing, .trouble = &trouble };
	int status = cli_reader_open(&pass.reader, of->path);

	if (status)
		return status;
	lpl_reader_jobs(pass.reader, of->jobs);
	how.reduction = cli_addresses_reduction(of->addressing);
	how.part = lpl_choice_part(of->choice, of->page_size);
	if (lpl_simulator_open(&simulator, &how, &report)) {
		status = cli_report(&report);
	} else {
		pass.sink = lpl_simulator_sink(simulator);
		cli_progress_start(&progress, of->progress);
		status = cli_pass_run(&pass);
		*pages = lpl_simulator_pages(simulator);
	}
	lpl_simulator_close(simulator);
	lpl_reader_close(pass.reader);
	return status == CLI_DAMAGED ? CLI_DONE : status;	/* the pass to come says so */
}

static int check_sizes(const char *spec, const struct cli_sizes_of *of, struct lpl_sizes_base base)
{
	struct lpl_report report = { 0 };
	struct lpl_sizes sizes;
	int status;

	base.pages = UINT64_C(1) << 32;
	if (lpl_sizes_parse_of(&sizes, spec, &base, &report))
		return cli_report(&report);
	status = of->check(&sizes, of->context);
	lpl_sizes_free(&sizes);
	return status;
}

int cli_sizes_parse(struct lpl_sizes *sizes, const char *spec, const struct cli_sizes_of *of)
{
	struct lpl_sizes_base base = { .page_size = of->page_size };
	struct lpl_report report = { 0 };
	int status = CLI_DONE;

	if (lpl_sizes_need_pages(spec)) {
		if (strcmp(of->path, "-") == 0 || lpl_reader_size(of->reader) == 0)
			return cli_complain(CLI_USAGE, "%s: for sizes in %% its pages are counted in a "
					    "pass of their own, and it can be read only once; give "
					    "numbers of pages, or a file", of->path);
		status = check_sizes(spec, of, base);
		if (!status)
			status = count_pages(of, &base.pages);
		if (!status && base.pages == 0)
			status = cli_complain(CLI_USAGE, "%s: there are no pages of which sizes in %% "
					      "could be", of->path);
	}
	if (!status && lpl_sizes_parse_of(sizes, spec, &base, &report))
		status = cli_report(&report);
	return status;
}
