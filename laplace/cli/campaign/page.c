/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What came of a campaign as one page of HTML that needs nothing else: a picture for each trace
 * that was simulated, all of them with the same axes, side by side, and the numbers behind it. It
 * has nothing in it that does not repeat.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "campaign.h"
#include "cli/draw/curves.h"
#include "cli/draw/svg.h"
#include "cli/say.h"

static const char style[] =
	"body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
	"background:#fff;max-width:1500px;margin:2em auto;padding:0 1em}"
	"h1{font-size:1.6em;margin:0 0 .2em}.dim{color:#666}"
	".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:1em}"
	"figure{margin:0}figcaption{font-weight:600}svg{max-width:100%;height:auto;display:block}"
	"table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}"
	"th,td{text-align:right;padding:.15em .6em;border-bottom:1px solid #eee}"
	"th:first-child,td:first-child{text-align:left}";

/* The simulations of one trace by one section. */
struct panel {
	const struct job *first;
	struct curves curves;
	size_t jobs, done;
	bool inexact;		/* some of it */
};

struct panels {
	struct panel *panel;
	size_t count, room;
	struct curves_bounds bounds;
};

/* ---- reading ---- */

static bool is_of(const struct panel *panel, const struct job *job)
{
	const struct job *first = panel->first;

	return strcmp(first->source, job->source) == 0 &&
	       strcmp(first->machine, job->machine) == 0 && strcmp(first->seed, job->seed) == 0 &&
	       strcmp(first->reduction, job->reduction) == 0 &&
	       strcmp(first->simulation, job->simulation) == 0;
}

/* Jobs of a panel follow each other, but for those of the other simulations of its trace. */
static struct panel *panel_of(struct panels *panels, const struct job *job)
{
	for (size_t i = panels->count; i-- > 0;) {
		if (is_of(&panels->panel[i], job))
			return &panels->panel[i];
	}
	if (!lpl_reach(panels->panel, panels->room, panels->count))
		return NULL;
	panels->panel[panels->count].first = job;
	return &panels->panel[panels->count++];
}

/* A time is no size of a memory: what was resident is. */
static int add_point(void *context, const struct job *job, const struct campaign_result *result)
{
	struct panel *panel = context;
	struct point point = { result->timed ? result->mean_resident : (double)result->size,
			       (double)result->faults };
	char name[128];

	(void)job;
	panel->inexact |= !result->exact;
	snprintf(name, sizeof(name), "%s%s", result->policy,
		 result->timed ? " (mean resident)" : "");
	return curves_add(&panel->curves, name, point) ? CLI_DONE :
		cli_complain(CLI_FAILED, "no memory for the report");
}

static int read_panels(struct panels *panels, const struct jobs *jobs, const struct store *store)
{
	int status = CLI_DONE;

	for (size_t i = 0; !status && i < jobs->count; i++) {
		const struct job *job = &jobs->job[i];
		struct panel *panel;

		if (job->kind != JOB_SIM)
			continue;
		panel = panel_of(panels, job);
		if (!panel)
			return cli_complain(CLI_FAILED, "no memory for the report");
		panel->jobs++;
		if (job_is_done(job)) {
			status = results_read(store, job, add_point, panel);
			panel->done++;
		}
	}
	for (size_t i = 0; i < panels->count; i++)
		curves_widen(&panels->bounds, &panels->panel[i].curves);
	return status;
}

/* ---- writing ---- */

static void name_panel(const struct job *job, char *name, size_t size)
{
	bool machine = strcmp(job->machine, JOB_NOT) != 0, seed = strcmp(job->seed, JOB_NOT) != 0;

	snprintf(name, size, "%s%s%s%s%s, %s: %s", job->source, machine ? " on " : "",
		 machine ? job->machine : "", seed ? ", seed " : "", seed ? job->seed : "",
		 strcmp(job->reduction, "none") == 0 ? "as recorded" : job->reduction,
		 job->simulation);
}

static void put_numbers(const struct curves *curves, FILE *out)
{
	fputs("<details><summary>numbers</summary><table>"
	      "<tr><th>policy</th><th>pages</th><th>faults</th></tr>\n", out);
	for (size_t i = 0; i < curves->count; i++) {
		for (size_t j = 0; j < curves->curve[i].count; j++) {
			fputs("<tr><td>", out);
			svg_escape(out, curves->curve[i].name);
			fprintf(out, "</td><td>%.10g</td><td>%.10g</td></tr>\n",
				curves->curve[i].point[j].pages,
				curves->curve[i].point[j].faults);
		}
	}
	fputs("</table></details>\n", out);
}

static void put_panel(const struct panels *panels, const struct panel *panel, FILE *out)
{
	char name[1024];

	name_panel(panel->first, name, sizeof(name));
	fputs("<figure><figcaption>", out);
	svg_escape(out, name);
	fputs("</figcaption>\n", out);
	if (panel->done < panel->jobs)
		fprintf(out, "<p class=\"dim\">%zu of its %zu jobs are done.</p>\n", panel->done,
			panel->jobs);
	if (panel->inexact)
		fputs("<p class=\"dim\">Not all of this is exact: see the column exact of "
		      "table.csv.</p>\n", out);
	if (panel->done) {
		curves_svg(&panel->curves, &(struct curves_picture){
				.width = 560, .height = 380, .about = name,
				.page_size = CURVES_PAGE, .bounds = panels->bounds }, out);
		put_numbers(&panel->curves, out);
	}
	fputs("</figure>\n", out);
}

static void put_page(const struct panels *panels, const struct jobs *jobs, const char *title,
		     FILE *out)
{
	size_t done = 0;

	for (size_t i = 0; i < jobs->count; i++)
		done += job_is_done(&jobs->job[i]);
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width\"><title>", out);
	svg_escape(out, title);
	fprintf(out, "</title><style>%s</style></head><body>\n<h1>", style);
	svg_escape(out, title);
	fprintf(out,
		"</h1>\n<p class=\"dim\">%zu of %zu jobs are done; laplace " PACKAGE_VERSION
		".  All pictures have the same axes.</p>\n<div class=\"curves\">\n",
		done, jobs->count);
	for (size_t i = 0; i < panels->count; i++)
		put_panel(panels, &panels->panel[i], out);
	fputs("</div></body></html>\n", out);
}

int page_write(const struct jobs *jobs, const struct store *store, const char *title)
{
	struct panels panels = { .count = 0 };
	struct store_text page;
	int status = read_panels(&panels, jobs, store);

	if (!status)
		status = store_begin(&page);
	if (!status) {
		put_page(&panels, jobs, title, page.out);
		status = store_end(store, &page, "report.html", CLI_DONE);
	}
	for (size_t i = 0; i < panels.count; i++)
		curves_free(&panels.panel[i].curves);
	free(panels.panel);
	return status;
}
