/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace ctl: steer a run by its control socket.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collect/control.h"
#include "commands.h"
#include "control_client.h"
#include "options.h"
#include "say.h"

#define LONGEST_SECONDS 1000000000

struct options {
	const char *socket, *verb;
	char request[LPL_CONTROL_LINE];
	size_t length;
	uint64_t timeout;		/* in seconds; 0: none */
	bool json;
};

/* The verb, and the words of a text with a blank between each. */
static void add_word(struct argp_state *state, const struct cli_option *option, const char *word,
		     void *config)
{
	struct options *options = config;
	size_t length = strlen(word);

	(void)option;
	if (options->length + 1 + length >= sizeof(options->request))
		argp_error(state, "the text is longer than %d bytes", LPL_CONTROL_TEXT);
	if (options->verb)
		options->request[options->length++] = ' ';
	else
		options->verb = word;
	memcpy(options->request + options->length, word, length + 1);
	options->length += length;
}

/* What the run would not take is not sent. */
static void check_request(struct argp_state *state, void *config)
{
	const struct options *options = config;
	struct lpl_control_request request;
	struct lpl_report report = { 0 };

	if (!options->verb)
		argp_error(state, "what is it to do?");
	if (lpl_control_parse(&request, options->request, options->length, &report))
		cli_usage_error(state, "%s", report.text);
}

#define WORD(name, text, summary) #name " "
#define WORD_HELP(name, text, summary) #name "\t" summary "\n"

static const struct cli_option option_table[] = {
	{ "timeout", CLI_NUMBER, CLI_INTO(struct options, timeout), .argument = "SECONDS",
	  .least = 1, .most = LONGEST_SECONDS,
	  .help = "Wait this long for the reply (as long as it takes)" },
	CLI_WITH(json, struct options, json),
	{ .type = CLI_ARGUMENT, .argument = "SOCKET", CLI_INTO(struct options, socket),
	  .wrong = "which run?  Name its control socket" },
	{ .type = CLI_ARGUMENT, .argument = "VERB", .take = add_word,
	  .words = LPL_REQUESTS(WORD), .help = LPL_REQUESTS(WORD_HELP) },
	{ .type = CLI_CHECK, .check = check_request },
	{ 0 }
};
static const struct cli_usage usage = {
	"SOCKET VERB [TEXT]",
	"Have a run that was started with --control SOCKET do something."
	"\v"
	"VERB is one of:\n"
#define HELP(name, text, summary) "  " #name " " text ": " summary "\n"
	LPL_REQUESTS(HELP)
#undef HELP
	"\n"
	"The reply comes when it is done.  Exit status 0 when it was done, 1 when it was not, or "
	"no run listens.",
	option_table, ARGP_IN_ORDER
};

/* ---- for people ---- */

static void print_number(const json_t *status, const char *name)
{
	const json_t *value = json_object_get(status, name);
	char human[CLI_HUMAN_SIZE];

	if (json_is_integer(value) && json_integer_value(value) >= 0)
		printf(", %s %s", cli_human(human, (uint64_t)json_integer_value(value)), name);
}

static void print_status(const struct options *options, const json_t *status)
{
	const json_t *tracing = json_object_get(status, "tracing");

	printf("%s: done", options->verb);
	if (json_is_boolean(tracing))
		printf("; tracing %s", json_is_true(tracing) ? "on" : "off");
	print_number(status, "instructions");
	print_number(status, "references");
	print_number(status, "kept");
	print_number(status, "events");
	print_number(status, "bytes");
	putchar('\n');
}

static void print_requests(json_t *requests)
{
	const char *request;
	json_t *summary;

	json_object_foreach(requests, request, summary)
		printf("%-12s %s\n", request, json_string_value(summary));
}

static int print_reply(const struct options *options, const char *line)
{
	json_error_t problem;
	json_t *reply = json_loads(line, 0, &problem);
	const json_t *ok = json_object_get(reply, "ok");
	const char *error = json_string_value(json_object_get(reply, "error"));
	int status = CLI_DONE;

	if (!json_is_boolean(ok))
		status = cli_complain(CLI_FAILED, "%s: is no run's control socket: what it sent is "
				      "no reply", options->socket);
	else if (options->json)
		status = puts(line) < 0 ? CLI_FAILED : CLI_DONE;
	else if (json_is_true(ok) && json_is_object(json_object_get(reply, "requests")))
		print_requests(json_object_get(reply, "requests"));
	else if (json_is_true(ok))
		print_status(options, json_object_get(reply, "status"));
	else
		cli_complain(0, "%s: %s", options->verb, error ? error : "it was not done");
	if (!status && !json_is_true(ok))
		status = CLI_FAILED;
	json_decref(reply);
	return status;
}

int cmd_ctl(int argc, char **argv)
{
	struct options options = { 0 };
	char *reply;
	int fd, status;

	cli_parse(&usage, argc, argv, &options);
	fd = cli_control_connect(options.socket);
	if (fd < 0)
		return CLI_FAILED;
	reply = cli_control_ask(fd, options.socket, options.request, options.timeout);
	status = reply ? print_reply(&options, reply) : CLI_FAILED;
	free(reply);
	(void)close(fd);
	return status;
}
