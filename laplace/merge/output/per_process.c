/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merge format `per-process`: a directory per process, in it a file per task
 * (Laplace, WOSP 2004, section 3.3.3), and an index.  docs/merging.md specifies it.
 *
 * A task that changes its process (a kernel thread that executes a program) goes
 * on in another file.  A line of the index is written when its file is complete,
 * so that memory is needed for the tasks that live and no others.
 */
#include <laplace/merge.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/map.h"
#include "merge/event_line.h"
#include "open_files.h"
#include "output_directory.h"
#include "per_process.h"

/* type, cycle, length, virtual page, canonical page, instruction, reference, two signs, blanks, newline */
#define REFERENCE_LINE (1 + 5 * LPL_HEX_DIGITS + LPL_DECIMAL_DIGITS + 2 + 9)

/* One file, and what the index will say of it. */
struct entry {
	LIST_ENTRY(entry) in_all;
	struct task_file file;
	uint64_t first_cycle, last_cycle, references, events;
	bool any;		/* line in it */
	struct task_numbers last;	/* of its last reference, if differences are written */
};

struct per_process {
	struct lpl_merge_output output;
	struct lpl_output_directory directory;
	struct open_files *files;
	FILE *index;
	LIST_HEAD(, entry) all;
	struct lpl_map by_task;		/* task's serial -> struct entry, of all */
	struct entry *last;		/* the one last written to ... */
	uint64_t last_serial;		/* ... and its task */
	bool in_state;			/* what there is is listed: no task's doing */
	bool differences;
};

static struct entry *entry_of(struct per_process *p, uint64_t serial)
{
	if (p->last == NULL || p->last_serial != serial) {
		p->last = (struct entry *)(uintptr_t)lpl_map_get(&p->by_task, LPL_KEY(serial));
		p->last_serial = serial;
	}
	return p->last;
}

/* NULL: no memory, which *error and the report say. */
static struct entry *entry_begin(struct per_process *p, const struct lpl_merge_task *task,
				 enum lpl_error *error, struct lpl_report *report)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL || !lpl_map_put(&p->by_task, LPL_KEY(task->serial), (uintptr_t)entry)) {
		free(entry);
		*error = lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for another task");
		return NULL;
	}
	LIST_INSERT_HEAD(&p->all, entry, in_all);
	entry->file.directory = task->process;
	entry->file.name = task->serial;
	return entry;
}

/* ---- the index ---- */

static int index_failed(const struct per_process *p, struct lpl_report *report)
{
	return lpl_fail(report, errno == ENOSPC || errno == EDQUOT ? LPL_ERR_FULL : LPL_ERR_IO,
			"%s/" TASKS_INDEX ": cannot be written", p->directory.part);
}

static void print_name(FILE *index, const struct lpl_merge_task *task)
{
	char name[4 * LPL_TASK_NAME + 1];

	lpl_text_escape(name, sizeof(name), task->name, task->name_length);
	lpl_text_print_cell(index, name);
}

static void print_line(const struct per_process *p, const struct entry *entry,
		       const struct lpl_merge_task *task, const char *end)
{
	FILE *index = p->index;
	char directory[FILES_PATH];

	fprintf(index, "%s,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",",
		lpl_task_file_directory(directory, entry->file.directory), entry->file.name,
		task->tid, task->tgid);
	if (task->parent != 0)
		fprintf(index, "%" PRIu64, task->parent);
	if (entry->any)
		fprintf(index, ",%" PRIu64 ",%" PRIu64, entry->first_cycle, entry->last_cycle);
	else
		fputs(",,", index);
	fprintf(index, ",%" PRIu64 ",%s,", entry->references, end);
	if (task->state == LPL_TASK_EXITED)
		fprintf(index, "%" PRIu64, task->exit_code);
	fputc(',', index);
	print_name(index, task);
	fprintf(index, ",%" PRIu64 ",%c\n", entry->events,
		p->differences ? TASKS_DIFFERENCES : TASKS_PLAIN);
}

static int entry_end(struct per_process *p, struct entry *entry,
		     const struct lpl_merge_task *task, const char *end, struct lpl_report *report)
{
	enum lpl_error error = lpl_task_file_close(p->files, &entry->file, report);

	print_line(p, entry, task, end);
	(void)lpl_map_remove(&p->by_task, LPL_KEY(task->serial));
	LIST_REMOVE(entry, in_all);
	free(entry);
	p->last = NULL;
	if (error == LPL_OK && ferror(p->index))
		error = index_failed(p, report);
	return error;
}

/* ---- the calls ---- */

/*
 * Where the task's next line goes: *out, in the entry's file.  NULL, and *error is set, when it
 * cannot be written.
 */
static struct entry *line_begin(struct per_process *p, const struct lpl_merge_task *task,
				size_t size, char **out, enum lpl_error *error, struct lpl_report *report)
{
	struct entry *entry = entry_of(p, task->serial);

	/* an event is given before its task is reported */
	if (entry == NULL)
		entry = entry_begin(p, task, error, report);
	if (entry == NULL)
		return NULL;
	*error = lpl_task_file_room(p->files, &entry->file, size, out, report);
	return *error == LPL_OK ? entry : NULL;
}

static void line_end(struct entry *entry, const char *end, uint64_t cycle)
{
	if (!entry->any)
		entry->first_cycle = cycle;
	entry->any = true;
	entry->last_cycle = cycle;
	lpl_task_file_advance(&entry->file, end);
}

static char *put_numbers(char *out, uint32_t length, const struct task_numbers *numbers)
{
	out = lpl_put_hex(out, numbers->cycle);
	*out++ = ' ';
	out = lpl_put_decimal(out, length);
	*out++ = ' ';
	out = lpl_put_hex(out, numbers->virtual_page);
	*out++ = ' ';
	out = lpl_put_hex(out, numbers->page);
	*out++ = ' ';
	out = lpl_put_hex(out, numbers->instr);
	*out++ = ' ';
	return lpl_put_hex(out, numbers->ref);
}

static char *put_differences(char *out, uint32_t length, const struct task_numbers *numbers,
			     const struct task_numbers *last)
{
	out = lpl_put_hex(out, numbers->cycle - last->cycle);
	*out++ = ' ';
	out = lpl_put_decimal(out, length);
	*out++ = ' ';
	out = lpl_put_difference(out, numbers->virtual_page, last->virtual_page);
	*out++ = ' ';
	out = lpl_put_difference(out, numbers->page, last->page);
	*out++ = ' ';
	out = lpl_put_hex(out, numbers->instr - last->instr);
	*out++ = ' ';
	return lpl_put_hex(out, numbers->ref - last->ref);
}

static enum lpl_error take_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				     struct lpl_report *report)
{
	struct per_process *p = (struct per_process *)output;
	const struct lpl_ref *ref = merged->ref;
	const struct task_numbers numbers = {
		.cycle = ref->cycle, .virtual_page = ref->address >> LPL_PAGE_SHIFT,
		.page = merged->page, .instr = ref->instr, .ref = ref->ref
	};
	char *out = NULL;
	enum lpl_error error = LPL_OK;
	struct entry *entry = line_begin(p, merged->task, REFERENCE_LINE, &out, &error, report);

	if (entry == NULL)
		return error;
	*out++ = lpl_type_letter(ref->type);
	*out++ = ' ';
	out = p->differences ? put_differences(out, ref->length, &numbers, &entry->last) :
		put_numbers(out, ref->length, &numbers);
	*out++ = '\n';
	entry->last = numbers;
	entry->references++;
	line_end(entry, out, ref->cycle);
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_merge_output *output, const struct lpl_event *event,
				 const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct per_process *p = (struct per_process *)output;
	char *out = NULL;
	enum lpl_error error = LPL_OK;
	struct entry *entry;

	if (event->tag == LPL_EVENT_STATE)
		p->in_state = event->arg[LPL_EVENT_STATE_BEGINS] != 0;
	if (event->tag == LPL_EVENT_GAP)
		p->in_state = false;
	if (p->in_state || event->tag == LPL_EVENT_STATE)
		return LPL_OK;
	entry = line_begin(p, task, EVENT_LINE, &out, &error, report);
	if (entry == NULL)
		return error;
	entry->events++;
	line_end(entry, lpl_put_event_line(out, event), event->cycle);
	return LPL_OK;
}

static enum lpl_error take_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
				struct lpl_report *report)
{
	static const char *const end[] = {
		[LPL_TASK_EXITED] = "exit", [LPL_TASK_LOST] = "lost", [LPL_TASK_LEFT] = "left"
	};
	struct per_process *p = (struct per_process *)output;
	struct entry *entry = entry_of(p, task->serial);
	enum lpl_error error = LPL_OK;

	if (entry != NULL && entry->file.directory != task->process) {
		if (entry->any) {
			error = entry_end(p, entry, task, "moved", report);
			entry = NULL;
		} else {
			entry->file.directory = task->process;
		}
	}
	if (error == LPL_OK && entry == NULL)
		entry = entry_begin(p, task, &error, report);
	if (entry == NULL || task->state == LPL_TASK_LIVES)
		return error;
	return entry_end(p, entry, task, end[task->state], report);
}

static enum lpl_error take_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct per_process *p = (struct per_process *)output;
	FILE *index = p->index;

	p->index = NULL;
	if (fclose(index) != 0)
		return index_failed(p, report);
	return lpl_output_directory_commit(&p->directory, report);
}

static int open_index(struct per_process *p, struct lpl_report *report)
{
	int fd = openat(p->directory.fd, TASKS_INDEX, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	p->index = fd < 0 ? NULL : fdopen(fd, "w");
	if (p->index == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return index_failed(p, report);
	}
	/* by this line the directory is known as ours, whatever happens from now on */
	if (fputs(TASKS_HEADING, p->index) < 0 || fflush(p->index) != 0)
		return index_failed(p, report);
	return LPL_OK;
}

enum lpl_error lpl_merge_per_process_open(struct lpl_merge_output **output, const char *path,
					  bool overwrite, struct lpl_report *report)
{
	struct per_process *p = calloc(1, sizeof(*p));
	enum lpl_error error;

	*output = NULL;
	if (p == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for the output");
	p->output = (struct lpl_merge_output){ .reference = take_reference, .event = take_event,
					       .finish = take_finish, .task = take_task };
	LIST_INIT(&p->all);
	lpl_map_init(&p->by_task, 1);
	error = lpl_output_directory_open(&p->directory, path, TASKS_INDEX, TASKS_COLUMNS, overwrite, report);
	if (error == LPL_OK)
		error = open_index(p, report);
	if (error == LPL_OK) {
		p->files = lpl_open_files_new(p->directory.fd, p->directory.part);
		if (p->files == NULL)
			error = lpl_fail(report, LPL_ERR_MEMORY,
					 "merge: no memory for the output");
	}
	if (error != LPL_OK) {
		lpl_merge_per_process_close(&p->output);
		return error;
	}
	*output = &p->output;
	return LPL_OK;
}

enum lpl_error lpl_merge_per_process_jobs(struct lpl_merge_output *output, unsigned int jobs,
					  struct lpl_report *report)
{
	if (lpl_open_files_jobs(((struct per_process *)output)->files, jobs))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for the output");
}

void lpl_merge_per_process_differences(struct lpl_merge_output *output)
{
	((struct per_process *)output)->differences = true;
}

void lpl_merge_per_process_close(struct lpl_merge_output *output)
{
	struct per_process *p = (struct per_process *)output;
	struct entry *entry;

	if (p == NULL)
		return;
	if (p->index != NULL)
		(void)fclose(p->index);
	lpl_open_files_free(p->files);
	while ((entry = LIST_FIRST(&p->all)) != NULL) {
		LIST_REMOVE(entry, in_all);
		free(entry);
	}
	lpl_map_free(&p->by_task);
	lpl_output_directory_discard(&p->directory);
	free(p);
}
