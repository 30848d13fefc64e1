/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace top: look on while a collection runs, from another terminal.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collection.h"
#include "commands.h"
#include "options.h"
#include "say.h"
#include "status_source.h"

struct options {
	const char *path;
	uint64_t interval;		/* s */
	bool once, json;
};

static const struct cli_option option_table[] = {
	{ "interval", CLI_NUMBER, 'i', CLI_INTO(struct options, interval), .argument = "SECONDS",
	  .least = 1, .most = 86400, .standard = "1", .wrong = "%n is at most %m seconds",
	  .help = "How often to look, in seconds (%d)" },
	{ "once", CLI_FLAG, CLI_INTO(struct options, once),
	  .help = "Show the present state once, and end" },
	CLI_WITH(json, struct options, json),
	{ .type = CLI_ARGUMENT, .argument = "SOCKET|STATUS-FILE", CLI_INTO(struct options, path),
	  .wrong = "which collection?  Name its control socket, or its status file",
	  .again = "one collection at a time" },
	{ 0 }
};
static const struct cli_usage usage = {
	"SOCKET|STATUS-FILE",
	"Look on while a collection runs: its control socket is asked, or its status file read, "
	"again and again until it ends."
	"\v"
	"On a terminal the picture is redrawn; elsewhere there is a line for each news, and with "
	"--json a JSON object.  Exit status 1 when the collection ended otherwise than "
	"well, or says nothing.",
	option_table, 0
};

/* Where it is shown. */
struct view {
	const struct options *options;
	bool redraw;			/* on a terminal, which is cleared first */
	struct cli_collection collection;
	struct lpl_pace last;		/* the status before */
};

static uint64_t rate(uint64_t now, uint64_t then, double seconds)
{
	return now > then ? (uint64_t)((double)(now - then) / seconds) : 0;
}

/*
 * What is now is what happened since we looked last: an answer's own rates may be since
 * somebody else asked.
 */
static void rate_since_last(struct view *view)
{
	struct cli_collection *c = &view->collection;
	const struct lpl_pace now = { c->instructions, c->references, c->bytes, c->wait_ns,
				      c->elapsed_ns };
	const struct lpl_pace *last = &view->last;

	if (last->elapsed_ns && now.elapsed_ns > last->elapsed_ns) {
		const double s = (double)(now.elapsed_ns - last->elapsed_ns) / 1e9;

		c->rates = (struct cli_rates){
			.instructions = rate(now.instructions, last->instructions, s),
			.references = rate(now.references, last->references, s),
			.bytes = rate(now.bytes, last->bytes, s),
			.waiting = (double)rate(now.wait_ns, last->wait_ns, s) / 1e9,
		};
	}
	view->last = now;
}

static void draw(struct view *view)
{
	struct winsize window = { .ws_col = 0 };

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
	/* home; each line to its end; what is below */
	fputs("\033[H", stdout);
	cli_collection_panel(stdout, &view->collection, window.ws_col ? window.ws_col : 80,
			     "\033[K\n");
	fputs("\033[J", stdout);
}

static void show(struct view *view, const json_t *status)
{
	char line[CLI_COLLECTION_LINE];

	if (view->options->json) {
		json_dumpf(status, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER |
			   JSON_REAL_PRECISION(6));
		putchar('\n');
	} else if (view->redraw) {
		draw(view);
	} else if (view->options->once) {
		cli_collection_panel(stdout, &view->collection, CLI_COLLECTION_LINE, "\n");
	} else if (!view->collection.ended) {
		printf("%s\n", cli_collection_line(line, &view->collection, 0,
						   CLI_COLLECTION_LINE));
	}
}

static int end(const struct view *view)
{
	const struct cli_collection *c = &view->collection;

	if (!view->options->json)
		cli_collection_end(stdout, c);
	return strcmp(c->end, "clean") == 0 ? CLI_DONE : CLI_FAILED;
}

static int complain_of_nothing(const struct view *view, enum cli_news news)
{
	const char *path = view->options->path;
	int number = errno;

	if (news == CLI_NO_SOURCE && view->collection.updates)
		return cli_complain(CLI_FAILED, "%s: the collection has ended, or its process; "
				    "how, can no longer be read here", path);
	if (news == CLI_NO_SOURCE)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(number));
	return cli_complain(CLI_FAILED, "%s: holds no status of a collection", path);
}

/* Take one status, and show it.  Returns an exit status, or -1: go on. */
static int take(struct view *view, const json_t *status)
{
	struct cli_collection *c = &view->collection;

	c->ended = false;		/* a status file may have run after run */
	c->message[0] = '\0';
	if (!cli_collection_take_json(c, status))
		return complain_of_nothing(view, CLI_NO_STATUS);
	if (c->version != CLI_STATUS_VERSION)
		return cli_complain(CLI_FAILED, "%s: has its status in a form of version %d, "
				    "not %d", view->options->path, (int)c->version,
				    CLI_STATUS_VERSION);
	rate_since_last(view);
	show(view, status);
	if (c->ended)
		return end(view);
	if (!view->options->once)
		return -1;
	return cli_collection_is_silent(c) ? CLI_FAILED : CLI_DONE;
}

static int watch(struct view *view, struct cli_status_source *source)
{
	const struct timespec interval = { .tv_sec = (time_t)view->options->interval };
	int result = -1;

	if (view->redraw)
		fputs("\033[2J", stdout);
	while (result < 0) {
		json_t *status;
		enum cli_news news = cli_status_source_look(source, &status);

		view->collection.period_ns = source->period_ns;
		if (news == CLI_NEWS)
			result = take(view, status);
		else if (news == CLI_NO_NEWS && view->collection.updates && view->redraw)
			draw(view);	/* it gets old */
		else if (news != CLI_NO_NEWS || !view->collection.updates)
			result = complain_of_nothing(view, news);
		json_decref(status);
		if (fflush(stdout) != 0)
			return CLI_FAILED;	/* reported at exit */
		if (result < 0)
			nanosleep(&interval, NULL);
	}
	return result;
}

int cmd_top(int argc, char **argv)
{
	struct options options = { 0 };
	struct view view = { .options = &options };
	struct cli_status_source source;

	cli_parse(&usage, argc, argv, &options);
	if (!cli_status_source_open(&source, options.path))
		return CLI_FAILED;
	view.redraw = isatty(STDOUT_FILENO) == 1 && !options.json && !options.once;
	return watch(&view, &source);
}
