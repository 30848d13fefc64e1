/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a trace's survey. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/draw/chart.h"
#include "cli/code/symbols.h"

const char *trace_kind_name(unsigned int kind)
{
	return lpl_page_kind_name((enum lpl_page_kind)kind);
}

const char *trace_reason_name(unsigned int reason)
{
	return lpl_survey_reason_name((enum lpl_survey_reason)reason);
}

/* How many lines of all of them. */
static uint64_t lines_of(const struct table *table, const struct surveyed_trace *trace, uint64_t all)
{
	return table->form == TABLE_JSON ? all : trace_shown(trace, all);
}

static struct cell share_of_all(const struct surveyed_trace *trace, uint64_t references)
{
	return cell_share(references, trace->survey->references->all);
}

/* ---- tasks ---- */

static const char *activity_name(unsigned int activity)
{
	static const char *const name[LPL_SURVEY_ACTIVITIES] = { "runs", "ready", "blocked" };

	return name[activity];
}

static const char *state_name(enum lpl_task_state state)
{
	return state == LPL_TASK_EXITED ? "exited" : state == LPL_TASK_LOST ? "lost" : "lives";
}

/* A column shows how much a task ran, or else what it waited for. */
static struct strip task_strip(const struct lpl_survey *survey, const struct lpl_survey_task *task)
{
	const unsigned int bins = survey->time->bins;
	uint64_t time[STRIP][LPL_SURVEY_ACTIVITIES] = { { 0 } }, width[STRIP] = { 0 };
	char text[STRIP];

	for (unsigned int bin = 0; bin < bins; bin++) {
		const unsigned int column = strip_column(bin, bins, STRIP);

		width[column] += lpl_survey_bin_start(survey->time, 1);
		for (int i = 0; i < LPL_SURVEY_ACTIVITIES; i++)
			time[column][i] += lpl_time_series_get(&task->activity[i], bin);
	}
	for (unsigned int i = 0; i < STRIP; i++) {
		const double ran = share_of(time[i][LPL_SURVEY_RUNNING], width[i]);

		text[i] = ran > 0.5 ? '#' : ran > 0.1 ? '+' : ran > 0 ? '.' :
			  time[i][LPL_SURVEY_READY] > 0 ? '~' :
			  time[i][LPL_SURVEY_BLOCKED] > 0 ? '-' : ' ';
	}
	return strip_of(text, bins < STRIP ? bins : STRIP);
}

/* In the units of the charts' axis. */
static struct cell cell_time(const struct surveyed_trace *trace, bool known, uint64_t time)
{
	const double unit = chart_time_unit(trace);

	return cell_if(known, cell_real((double)time * unit, unit < 1 ? 3 : 0));
}

static void add_task(struct table *table, const struct surveyed_trace *trace,
		     const struct lpl_survey_task *task)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_task *parent = task->parent ? lpl_survey_task(survey, task->parent) : NULL;
	const uint64_t *left = task->left, waited = left[LPL_SURVEY_WAITING];
	const uint64_t slept = left[LPL_SURVEY_SLEEPING] + left[LPL_SURVEY_STOPPED] + left[LPL_SURVEY_IDLE];
	const unsigned int bins = survey->time->bins;
	char name[32], end[32], end_and_strip[96];

	snprintf(name, sizeof(name), "%.12s (%" PRIu32 ")", task->name, task->tid);
	if (task->state != LPL_TASK_EXITED)
		snprintf(end, sizeof(end), "%s", state_name(task->state));
	else if ((task->exit_code & 0x7f) != 0)
		snprintf(end, sizeof(end), "signal %u", (unsigned int)(task->exit_code & 0x7f));
	else
		snprintf(end, sizeof(end), "exit %u", (unsigned int)(task->exit_code >> 8 & 0xff));
	if (table->form == TABLE_TEXT)
		snprintf(end_and_strip, sizeof(end_and_strip), " %-9s%.40s", end,
			 task_strip(survey, task).text);
	TABLE_ROW(table,
		JSON("task", cell_id(task->serial)), HTML("task", cell_text(task->name)),
		TEXT("task (tid)", -20, cell_text(name)), NO_TEXT("tid", "tid", cell_id(task->tid)),
		JSON("tgid", cell_id(task->tgid)), JSON("process", cell_id(task->process)),
		JSON("parent", cell_id(task->parent)), JSON("name", cell_text(task->name)),
		JSON("state", cell_text(state_name(task->state))),
		JSON(task->state == LPL_TASK_EXITED ? "exit_code" : NULL, cell_id(task->exit_code)),
		JSON("begin", cell_if(task->begun, cell_number(task->begin))),
		JSON("end", cell_number(task->end)),
		NO_JSON("time", "time", 6, cell_share(task->time[LPL_SURVEY_RUNNING], survey->tasks->running)),
		NO_TEXT("references", "references", cell_number(task->references)),
		NO_JSON("", "refs", 6, share_of_all(trace, task->references)),
		JSON("user_references", cell_number(task->user_references)),
		ALL("scheduled", "scheduled", "sched", 7, cell_number(task->scheduled)),
		HTML("slept", cell_number(slept)), HTML("waited", cell_number(waited)),
		TEXT("blocked", 7, cell_number(slept + waited)),
		NO_JSON("preempted", "preempt", 7, cell_number(left[LPL_SURVEY_PREEMPTED])),
		HTML("began", cell_time(trace, task->begun, task->begin)),
		HTML("ended", cell_time(trace, task->state != LPL_TASK_LEFT, task->end)),
		HTML(" parent", cell_text(parent ? parent->name : "")),
		HTML(" end", cell_text(end)),
		TEXT(" end       over time", 0, cell_text(end_and_strip)),
		JSON("left", cell_numbers(left, LPL_SURVEY_REASONS, trace_reason_name)),
		JSON("runs", cell_series(&task->activity[LPL_SURVEY_RUNNING], bins)),
		JSON("ready", cell_series(&task->activity[LPL_SURVEY_READY], bins)),
		JSON("blocked", cell_series(&task->activity[LPL_SURVEY_BLOCKED], bins)),
		JSON("time", cell_numbers(task->time, LPL_SURVEY_ACTIVITIES, activity_name)),
		JSON("references_by_bin", cell_series(&task->references_by_bin, bins)),
		JSON("calls", cell_number(task->calls)),
		JSON("call_errors", cell_number(task->call_errors)));
}

/* What the tasks did together that text has no line for. */
static void add_other_tasks(struct table *table, const struct surveyed_trace *trace, uint64_t shown)
{
	const struct lpl_survey_tasks *tasks = trace->survey->tasks;
	uint64_t time = tasks->sum->time[LPL_SURVEY_RUNNING], references = tasks->sum->references;
	char name[32];

	for (uint64_t i = shown; i < trace->tasks; i++) {
		time += trace->task[i]->time[LPL_SURVEY_RUNNING];
		references += trace->task[i]->references;
	}
	snprintf(name, sizeof(name), "%" PRIu64 " more", trace->tasks + tasks->others - shown);
	TABLE_ROW(table, TEXT("", -20, cell_text(name)), TEXT("", 6, cell_share(time, tasks->running)),
		  TEXT("", 6, share_of_all(trace, references)));
}

void trace_tasks(struct table *table, const struct surveyed_trace *trace)
{
	const struct lpl_survey_tasks *tasks = trace->survey->tasks;
	const uint64_t shown = lines_of(table, trace, trace->tasks);
	const uint64_t more = trace->tasks + tasks->others - shown;

	table_begin(table);
	add_task(table, trace, tasks->sum);
	for (uint64_t i = 0; i < shown; i++)
		add_task(table, trace, trace->task[i]);
	if (table->form == TABLE_TEXT && more)
		add_other_tasks(table, trace, shown);
	table_end(table, table->form == TABLE_TEXT ? 0 : more);
}

/* ---- pages by kind ---- */

static void add_kind(struct table *table, const struct surveyed_trace *trace, enum lpl_page_kind kind)
{
	const struct lpl_survey_pages *pages = trace->survey->pages;
	const uint64_t *type = trace->survey->references->count[kind];
	const uint64_t references = trace->survey->references->by_kind[kind];
	const struct strip strip = series_strip(trace->survey, &pages->alive_by_bin[kind], 0);
	const bool is_cache = kind == LPL_PAGE_CACHE;
	uint64_t shared = 0;

	for (int i = 2; i < LPL_SURVEY_SHARINGS; i++)
		shared += pages->by_sharing[kind][i];
	TABLE_ROW(table,
		NO_JSON("kind", "kind", -12, cell_text(lpl_page_kind_name(kind))),
		NO_JSON("references", "references", 13, cell_number(references)),
		NO_JSON("", "", 6, share_of_all(trace, references)),
		HTML("reads", cell_number(type[LPL_READ] + type[LPL_WALK_READ])),
		HTML("writes", cell_number(type[LPL_WRITE] + type[LPL_WALK_WRITE])),
		HTML("fetches", cell_number(type[LPL_FETCH])),
		is_cache ? HTML("", CELL(SPAN, .text = "are pages of files")) :
			   NO_JSON("pages", "pages", 9, cell_number(pages->ever[kind])),
		is_cache ? TEXT("", 0, cell_text("  (pages of files, by the kernel's own mapping)")) :
			   NO_JSON("alive at the end", "at end", 9, cell_number(pages->alive[kind])),
		is_cache ? NOTHING : TEXT("shared", 9, cell_number(shared)),
		is_cache ? NOTHING : TEXT("alive over time", 0, cell_text(strip.text)));
}

void trace_kinds(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	add_kind(table, trace, LPL_PAGE_ANONYMOUS);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (trace->survey->references->by_kind[kind])
			add_kind(table, trace, (enum lpl_page_kind)kind);
	}
	table_end(table, 0);
}

/* ---- pages by how many share them ---- */

static void add_shared(struct table *table, unsigned int kind,
		       const uint64_t pages[LPL_SURVEY_SHARINGS])
{
	struct entry row[1 + LPL_SURVEY_SHARINGS] = {
		NO_JSON("kind", "kind", -12, cell_text(trace_kind_name(kind)))
	};

	for (unsigned int i = 0; i < LPL_SURVEY_SHARINGS; i++)
		row[1 + i] = NO_JSON(lpl_survey_sharing_name(i), lpl_survey_sharing_name(i), 12,
				     cell_number(pages[i]));
	table_row(table, row, 1 + LPL_SURVEY_SHARINGS);
}

void trace_sharing(struct table *table, const struct surveyed_trace *trace,
		   const uint64_t pages[][LPL_SURVEY_SHARINGS])
{
	table_begin(table);
	add_shared(table, 0, pages[0]);
	for (unsigned int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (trace->survey->pages->ever[kind])
			add_shared(table, kind, pages[kind]);
	}
	table_end(table, 0);
}

/* ---- files, and places in them and elsewhere ---- */

/* "/lib/libc.so.6", "segment 3" ... */
char *trace_file_name(const struct lpl_survey_file *file, char buf[PLACE_SIZE])
{
	if (file->name)
		snprintf(buf, PLACE_SIZE, "%s", file->name);
	else if (file->inode & KTR_INODE_SYSV)
		snprintf(buf, PLACE_SIZE, "segment %" PRIu64,
			 file->inode & ~KTR_INODE_SYSV);
	else
		snprintf(buf, PLACE_SIZE, "inode %" PRIu64 " of device %" PRIu64 ":%"
			 PRIu64, file->inode, file->device >> 20, file->device & 0xfffff);
	return buf;
}

/* An address of the kernel's, and which symbol it lies in. */
static void kernel_place(const struct surveyed_trace *trace, uint64_t address,
			 char buf[PLACE_SIZE])
{
	uint64_t offset;
	const char *name = trace->symbols ? symbols_find(trace->symbols, address, &offset) : NULL;

	if (name)
		snprintf(buf, PLACE_SIZE, "%" PRIx64 " %.200s+%" PRIx64, address, name,
			 offset);
	else
		snprintf(buf, PLACE_SIZE, "%" PRIx64, address);
}

/* "/lib/libc.so.6, page 12", "7ffe1000 of sh (61)", "ffffffff81a18000 memcpy+1f0" ... likewise. */
static struct cell place_cell(const struct surveyed_trace *trace,
			      const struct lpl_survey_hot_page *page, char buf[PLACE_SIZE])
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_task *task = lpl_survey_task(survey, page->task);
	size_t length;

	if (page->file != 0) {
		trace_file_name(&survey->files->file[page->file - 1], buf);
		length = strlen(buf);
		snprintf(buf + length, PLACE_SIZE - length, ", page %" PRIu64, page->offset);
	} else if (page->kind == LPL_PAGE_PHYSICAL) {
		snprintf(buf, PLACE_SIZE, "physical %" PRIx64, page->offset << 12);
	} else if (page->kind == LPL_PAGE_KERNEL) {
		kernel_place(trace, page->offset << 12, buf);
	} else if (!task) {
		snprintf(buf, PLACE_SIZE, "%" PRIx64, page->offset << 12);
	} else {
		snprintf(buf, PLACE_SIZE, "%" PRIx64 " of %s (%" PRIu32 ")",
			 page->offset << 12, task->name, task->tid);
	}
	/* of the kernel's, the address and the symbol say most */
	return page->kind == LPL_PAGE_KERNEL ? CELL(CUT, .text = buf) : CELL(PATH, .text = buf);
}

static void add_file(struct table *table, const struct surveyed_trace *trace,
		     const struct lpl_survey_file *file)
{
	char name[PLACE_SIZE];

	TABLE_ROW(table,
		ALL("name", "file", "file", -52, CELL(PATH, .text = trace_file_name(file, name))),
		JSON("device", cell_id(file->device)), JSON("inode", cell_id(file->inode)),
		JSON("generation", cell_id(file->generation)),
		ALL("pages", "pages", "pages", 9, cell_number(file->pages)),
		ALL("references", "references", "references", 13, cell_number(file->references)),
		NO_JSON("", "", 6, share_of_all(trace, file->references)),
		ALL("most_programs", "programs", "programs", 8, cell_number(file->most_programs)));
}

void trace_files(struct table *table, const struct surveyed_trace *trace)
{
	const uint64_t shown = lines_of(table, trace, trace->files);

	table_begin(table);
	add_file(table, trace, &(struct lpl_survey_file){ .inode = 0 });
	for (uint64_t i = 0; i < shown; i++)
		add_file(table, trace, trace->file[i]);
	table_end(table, trace->files - shown);
}

/* ---- processes ---- */

static void add_process(struct table *table, const struct surveyed_trace *trace,
			const struct lpl_survey_process *process)
{
	const struct lpl_survey_footprint *footprint = &process->footprint;
	const uint64_t *pages = footprint->pages, all = footprint->all, own = footprint->unshared;
	const uint64_t other = all - pages[LPL_PAGE_FILE] - pages[LPL_PAGE_ANONYMOUS];
	const uint64_t kernels = pages[LPL_PAGE_KERNEL] + pages[LPL_PAGE_PHYSICAL];
	char name[40] = "kernel";

	if (process->number != 0)
		snprintf(name, sizeof(name), "%.14s (%" PRIu32 ")", process->name, process->tgid);
	TABLE_ROW(table,
		JSON("process", cell_id(process->number)),
		HTML("process", cell_text(process->name)),
		TEXT("process (tgid)", -22, cell_text(name)),
		NO_TEXT("tgid", "tgid", cell_id(process->tgid)),
		JSON("name", cell_text(process->name)), JSON("tasks", cell_number(process->tasks)),
		JSON("references", cell_number(process->references)),
		ALL("pages", "pages", "pages", 8, cell_number(all)),
		NO_JSON("file", "file", 8, cell_number(pages[LPL_PAGE_FILE])),
		NO_JSON("anonymous", "anon", 8, cell_number(pages[LPL_PAGE_ANONYMOUS])),
		NO_JSON("other", "other", 8, cell_number(other)),
		ALL("private", "private", "private", 8, cell_number(own)),
		NO_JSON("shared", "shared", 8, cell_number(all - own)),
		ALL("proportional", "proportional", "prop.", 9, cell_real(footprint->proportional, 1)),
		JSON("by_kind", cell_numbers(pages, LPL_PAGE_KINDS, trace_kind_name)),
		NO_TEXT("peak", "most alive", cell_number(process->most_alive)),
		NO_JSON("kernel's pages", "kernel", 8, cell_number(kernels)),
		JSON("resident", cell_series(&process->alive_by_bin, trace->survey->time->bins)));
}

void trace_processes(struct table *table, const struct surveyed_trace *trace)
{
	const struct lpl_survey_processes *processes = trace->survey->processes;
	const uint64_t shown = lines_of(table, trace, trace->processes);

	table_begin(table);
	add_process(table, trace, processes->sum);
	for (uint64_t i = 0; i < shown; i++)
		add_process(table, trace, trace->process[i]);
	table_end(table, trace->processes + processes->others - shown);
}

/* ---- the hottest pages ---- */

static void add_hot(struct table *table, const struct surveyed_trace *trace,
		    const struct lpl_survey_hot_page *hot)
{
	const bool is_kernels = hot->kind == LPL_PAGE_KERNEL || hot->kind == LPL_PAGE_PHYSICAL;
	const char *html = is_kernels ? "of the kernel's" : "of all others";
	const char *text = is_kernels ? "kernel's" : "kind";
	char where[PLACE_SIZE];

	TABLE_ROW(table,
		JSON("page", cell_id(hot->page)),
		ALL("kind", html, text, -11, cell_text(lpl_page_kind_name(hot->kind))),
		ALL("where", " where", "where", -44, place_cell(trace, hot, where)),
		JSON("offset", cell_id(hot->offset)),
		ALL("references", "references", "references", 13, cell_number(hot->references)),
		NO_JSON("", "", 6, share_of_all(trace, hot->references)),
		ALL("programs", "programs", "programs", 9, cell_number(hot->programs)));
}

static void hottest(struct table *table, const struct surveyed_trace *trace,
		    enum lpl_survey_side side, enum lpl_page_kind kind)
{
	const struct lpl_survey_hottest *hottest = &trace->survey->hottest[side];

	table_begin(table);
	add_hot(table, trace, &(struct lpl_survey_hot_page){ .kind = kind });
	for (size_t i = 0; i < hottest->count; i++)
		add_hot(table, trace, &hottest->page[i]);
	table_end(table, 0);
}

void trace_hottest(struct table *table, const struct surveyed_trace *trace)
{
	hottest(table, trace, LPL_SURVEY_OF_PROGRAMS, LPL_PAGE_ANONYMOUS);
}

void trace_hottest_of_kernel(struct table *table, const struct surveyed_trace *trace)
{
	hottest(table, trace, LPL_SURVEY_OF_KERNEL, LPL_PAGE_KERNEL);
}

/* ---- physical memory ---- */

static void add_mapped(struct table *table, const struct surveyed_trace *trace, unsigned int size)
{
	const struct lpl_survey_mapped *mapped = &trace->survey->frames->mapped[size];

	TABLE_ROW(table,
		ALL("page", "mapped by pages of", "page", -11, cell_text(lpl_survey_page_size_name(size))),
		ALL("references", "references", "references", 13, cell_number(mapped->references)),
		NO_JSON("", "", 6, share_of_all(trace, mapped->references)),
		ALL("pages", "pages", "pages", 9, cell_number(mapped->pages)),
		ALL("frames", "frames", "frames", 9, cell_number(mapped->frames)),
		/* small ones are used as a whole, and several may be one frame */
		NO_JSON("of them used", "used", 6,
			cell_if(mapped->bytes > mapped->pages << LPL_PAGE_SHIFT,
				cell_share(mapped->frames << LPL_PAGE_SHIFT, mapped->bytes))));
}

void trace_mapped(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	add_mapped(table, trace, 0);
	for (unsigned int size = 0; size < LPL_SURVEY_PAGE_SIZES; size++)
		if (trace->survey->frames->mapped[size].references || table->form == TABLE_JSON)
			add_mapped(table, trace, size);
	table_end(table, 0);
}

static void add_spaces(struct table *table, const struct surveyed_trace *trace, unsigned int sharing)
{
	const struct lpl_survey_frames *frames = trace->survey->frames;

	TABLE_ROW(table,
		ALL("spaces", "used by spaces", "spaces", -13, cell_text(lpl_survey_sharing_name(sharing))),
		ALL("frames", "frames", "frames", 9, cell_number(frames->by_spaces[sharing])),
		NO_JSON("", "", 6, cell_share(frames->by_spaces[sharing], frames->all)));
}

void trace_frames_by_spaces(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	add_spaces(table, trace, 0);
	for (unsigned int sharing = 0; sharing < LPL_SURVEY_SHARINGS; sharing++)
		add_spaces(table, trace, sharing);
	table_end(table, 0);
}

static uint64_t all_runs(const uint64_t by_run[LPL_SURVEY_RUNS])
{
	uint64_t sum = 0;

	for (unsigned int run = 0; run < LPL_SURVEY_RUNS; run++)
		sum += by_run[run];
	return sum;
}

static void add_run(struct table *table, const struct surveyed_trace *trace, unsigned int run)
{
	const struct lpl_survey_frames *frames = trace->survey->frames;
	const uint64_t *pages = frames->contiguity.pages;

	TABLE_ROW(table,
		ALL("run", "in runs of", "in runs of", -13, cell_text(lpl_survey_run_name(run))),
		ALL("frames", "frames", "frames", 9, cell_number(frames->by_run[run])),
		NO_JSON("", "", 6, cell_share(frames->by_run[run], frames->all)),
		ALL("pages", "pages of 4 KB, of programs", "pages of 4 KB", 14, cell_number(pages[run])),
		NO_JSON("", "", 6, cell_share(pages[run], all_runs(pages))));
}

void trace_frames_by_run(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	add_run(table, trace, 0);
	for (unsigned int run = 0; run < LPL_SURVEY_RUNS; run++)
		add_run(table, trace, run);
	table_end(table, 0);
}

/* ---- system calls ---- */

static void add_call(struct table *table, const struct lpl_survey_call *call)
{
	TABLE_ROW(table,
		NO_TEXT("name", "call", cell_text(call->name)),
		TEXT("call", -24, CELL(CUT, .text = call->name[0] ? call->name : "?")),
		NO_TEXT("number", "number", cell_number(call->number)),
		JSON("abi", cell_id(call->abi)),
		ALL("count", "count", "count", 10, cell_number(call->count)),
		NO_TEXT("returned", "returned", cell_number(call->returned)),
		ALL("errors", "errors", "errors", 10, cell_number(call->errors)));
}

void trace_calls(struct table *table, const struct surveyed_trace *trace)
{
	const struct lpl_survey_call *others = &trace->survey->calls->others;
	const uint64_t shown = lines_of(table, trace, trace->calls);
	struct lpl_survey_call all = { .count = others->count, .errors = others->errors, .name = "all" };

	table_begin(table);
	add_call(table, others);
	for (uint64_t i = 0; i < shown; i++)
		add_call(table, trace->call[i]);
	if (table->form == TABLE_JSON && (others->count || others->returned))
		add_call(table, others);
	for (size_t i = 0; i < trace->calls; i++) {
		all.count += trace->call[i]->count;
		all.errors += trace->call[i]->errors;
	}
	if (table->form == TABLE_TEXT)
		add_call(table, &all);
	table_end(table, table->form == TABLE_TEXT ? 0 : trace->calls - shown);
}

/* As text they are a list, after `shown' others. */
static void add_calls_of_task(struct table *table, const struct lpl_survey_task *task, size_t shown)
{
	if (table->form == TABLE_TEXT)
		fprintf(table->out, "%s%.15s (%" PRIu32 ") %" PRIu64, shown == 0 ? " " :
			shown % 4 == 0 ? ",\n    " : ", ", task->name, task->tid, task->calls);
	else
		TABLE_ROW(table,
			HTML("task", cell_text(task->name)), HTML("tid", cell_id(task->tid)),
			HTML("calls", cell_number(task->calls)),
			HTML("errors", cell_number(task->call_errors)));
}

void trace_calls_of_tasks(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	if (table->form == TABLE_TEXT)
		fprintf(table->out, "  by task:");
	else
		add_calls_of_task(table, trace->survey->tasks->sum, 0);
	for (size_t i = 0, shown = 0; i < trace->tasks && shown < trace->top; i++) {
		if (trace->task[i]->calls)
			add_calls_of_task(table, trace->task[i], shown++);
	}
	if (table->form == TABLE_TEXT)
		fputc('\n', table->out);
	table_end(table, 0);
}
