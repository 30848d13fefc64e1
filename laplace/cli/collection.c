/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a status line says; see collection.h. */
#include <string.h>
#include <time.h>

#include <laplace/record.h>

#include "collection.h"

enum { SILENT_PERIODS = 3, SILENT_LEAST = 30 /* s: a machine may be busy */ };

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* Texts come from guests, and are shown on terminals. */
static void text(char *out, size_t size, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	lpl_text_escape(out, size, json_is_string(value) ? json_string_value(value) : "",
			json_string_length(value));
}

/* A message is a person's language: only what a terminal would obey becomes blanks. */
static void take_message(char *out, size_t size, const char *message)
{
	snprintf(out, size, "%s", message);
	for (unsigned char *at = (unsigned char *)out; *at; at++) {
		bool two = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;	/* U+0080 on */

		if (two)
			*at++ = ' ';
		if (two || *at < ' ' || *at == 0x7f)
			*at = ' ';
	}
}

static struct cli_rates rates(const json_t *object)
{
	return (struct cli_rates){
		.instructions = number(object, "instructions"),
		.references = number(object, "references"),
		.bytes = number(object, "bytes"),
		.waiting = json_number_value(json_object_get(object, "waiting")),
	};
}

static uint64_t per_second(uint64_t count, uint64_t ns)
{
	return ns ? (uint64_t)(1e9 * (double)count / (double)ns) : 0;
}

/* For a line without rates. */
static struct cli_rates mean_of(const struct cli_collection *c)
{
	return (struct cli_rates){
		.instructions = per_second(c->instructions, c->elapsed_ns),
		.references = per_second(c->references, c->elapsed_ns),
		.bytes = per_second(c->bytes, c->elapsed_ns),
		.waiting = c->elapsed_ns ? (double)c->wait_ns / (double)c->elapsed_ns : 0,
	};
}

bool cli_collection_take_json(struct cli_collection *c, const json_t *object)
{
	const char *state = json_string_value(json_object_get(object, "state"));
	const json_t *disk = json_object_get(object, "disk"), *mark, *checkpoint;
	const char *trace = json_string_value(json_object_get(object, "trace"));
	const char *message = json_string_value(json_object_get(object, "message"));

	if (!state)
		return false;
	c->updates++;
	c->version = json_integer_value(json_object_get(object, "laplace-status"));
	c->closing = strcmp(state, "closing") == 0;
	c->ended |= strcmp(state, "ended") == 0;
	text(c->end, sizeof(c->end), object, "end");
	if (message && *message)
		take_message(c->message, sizeof(c->message), message);
	if (trace) {
		size_t length = strlen(trace), most = sizeof(c->trace) / 4;

		lpl_text_escape(c->trace, sizeof(c->trace),
				length > most ? trace + length - most : trace,
				length > most ? most : length);
	}
	text(c->time, sizeof(c->time), object, "time");
	c->stopped = json_is_false(json_object_get(object, "tracing"));
	c->waiting_for_room = json_is_true(json_object_get(object, "waiting_for_room"));
	c->instructions = number(object, "instructions");
	c->references = number(object, "references");
	c->kept = number(object, "kept");
	c->events = number(object, "events");
	c->bytes = number(object, "bytes");
	c->wait_ns = number(object, "wait_ns");
	c->elapsed_ns = number(object, "elapsed_ns");
	c->segment = number(object, "segment");
	c->memory = number(object, "memory");
	c->mean = json_is_object(json_object_get(object, "mean")) ? rates(json_object_get(object, "mean")) :
								    mean_of(c);
	c->rates = json_is_object(json_object_get(object, "rates")) ?
		   rates(json_object_get(object, "rates")) : c->mean;

	c->has_disk = json_is_object(disk);
	c->disk_free = number(disk, "free");
	c->disk_seconds = number(disk, "seconds");
	mark = json_object_get(object, "mark");
	c->has_mark = json_is_object(mark);
	text(c->mark, sizeof(c->mark), mark, "text");
	c->mark_instr = number(mark, "instruction");
	checkpoint = json_object_get(object, "checkpoint");
	c->has_checkpoint = json_is_object(checkpoint);
	c->checkpoint_instr = number(checkpoint, "instruction");
	c->checkpoint_ns = number(checkpoint, "elapsed_ns");
	c->checkpoints_failed = number(object, "checkpoints_failed");
	return true;
}

bool cli_collection_take(struct cli_collection *c, const char *line)
{
	json_t *object = json_loads(line, 0, NULL);
	bool taken = cli_collection_take_json(c, object);

	json_decref(object);
	return taken;
}

uint64_t cli_collection_age(const struct cli_collection *c)
{
	struct tm utc = { .tm_isdst = 0 };
	time_t now = time(NULL), written;

	if (!strptime(c->time, "%Y-%m-%dT%H:%M:%SZ", &utc))
		return 0;
	written = timegm(&utc);
	return written < now ? (uint64_t)(now - written) : 0;
}

bool cli_collection_is_silent(const struct cli_collection *c)
{
	const uint64_t longest = c->period_ns / 1000000000 * SILENT_PERIODS;

	return !c->ended && c->period_ns &&
	       cli_collection_age(c) > (longest > SILENT_LEAST ? longest : SILENT_LEAST);
}
