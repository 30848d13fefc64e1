/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the guest, for segments; see state_keeper.h. */
#include <laplace/trace.h>

#include "base/try.h"
#include "state_keeper.h"
#include "translate/code.h"
#include "translate/send.h"
#include "translate/walks.h"

static enum lpl_error take(struct lpl_state_keeper *keeper, const struct lpl_event *event,
			   struct lpl_report *report)
{
	struct lpl_guest_keeper *guest = (struct lpl_guest_keeper *)keeper;

	LPL_TRY(lpl_translations_follow(guest->translations, event, report));
	LPL_TRY(lpl_walks_follow(guest->walks, event, report));
	LPL_TRY(lpl_blocks_follow(guest->code, event, report));
	return lpl_state_take(guest->state, event, report);
}

/* Translations, page tables and code come first: they have no clocks, and what has some comes after them in a file. */
static enum lpl_error send(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
			   struct lpl_report *report)
{
	struct lpl_guest_keeper *guest = (struct lpl_guest_keeper *)keeper;

	LPL_TRY(lpl_translations_send(guest->translations, sink, report));
	LPL_TRY(lpl_walks_send(guest->walks, sink, report));
	LPL_TRY(lpl_blocks_send(guest->code, sink, report));
	return lpl_state_send(guest->state, sink, report);
}

enum lpl_error lpl_guest_keeper_open(struct lpl_guest_keeper *keeper, struct lpl_report *report)
{
	keeper->keeper = (struct lpl_state_keeper){ take, send };
	keeper->state = NULL;
	keeper->walks = NULL;
	keeper->code = NULL;
	LPL_TRY(lpl_translations_open(&keeper->translations, report));
	LPL_TRY(lpl_walks_open(&keeper->walks, report));
	LPL_TRY(lpl_blocks_open(&keeper->code, report));
	return lpl_state_new(&keeper->state, NULL, report);
}

void lpl_guest_keeper_close(struct lpl_guest_keeper *keeper)
{
	lpl_state_free(keeper->state);
	lpl_translations_close(keeper->translations);
	lpl_walks_close(keeper->walks);
	lpl_blocks_close(keeper->code);
	keeper->state = NULL;
	keeper->translations = NULL;
	keeper->walks = NULL;
	keeper->code = NULL;
}

enum lpl_error lpl_guest_keeper_save(struct lpl_guest_keeper *keeper, const char *path,
				     struct lpl_report *report)
{
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_writer *writer = NULL;
	enum lpl_error error = meta ? lpl_writer_open(&writer, path, meta, NULL, true, report) :
				      lpl_fail(report, LPL_ERR_MEMORY, "no memory for a header");

	lpl_meta_free(meta);
	if (error == LPL_OK)
		error = send(&keeper->keeper, lpl_writer_sink(writer), report);
	if (error == LPL_OK)
		return lpl_writer_close(writer, report);
	lpl_writer_abandon(writer);
	return error;
}

enum lpl_error lpl_guest_keeper_load(struct lpl_guest_keeper *keeper, const char *path,
				     struct lpl_report *report)
{
	const struct lpl_event *event = NULL;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;
	enum lpl_error error = lpl_reader_open(&reader, path, report);

	while (error == LPL_OK) {
		error = lpl_reader_next(reader, &refs, &count, &event, report);
		if (error != LPL_OK || (count == 0 && event == NULL))
			break;
		if (event != NULL)
			error = take(&keeper->keeper, event, report);
	}
	if (error == LPL_OK && !lpl_reader_complete(reader))
		error = lpl_fail(report, LPL_ERR_DAMAGED, "%s: is cut off", path);
	lpl_reader_close(reader);
	return error;
}
