/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions.
 *
 * What code is of is a source: a file, the kernel, or all of a kind of pages.  A place in one,
 * where a function begins or a page without symbols, has the number of its function; and functions
 * are one if they have the same name in the same file.  (Static ones of several of its modules
 * are; each of them would be a line that looks like the other.)
 */
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"

#include "cli/say.h"
#include "elf_code.h"
#include "inlined.h"
#include "inside.h"
#include "symbols.h"

enum {
	MOST_COMPLAINTS = 5,
	MOST_NAME = 4096,
	NAME = 4 * KTR_TEXT + 1,
	PAGE = 1 << LPL_PAGE_SHIFT
};
/* Where x86-64 has modules, and from where on it has other things. */
#define MODULES		UINT64_C(0xffffffffa0000000)
#define FIXED		UINT64_C(0xffffffffff000000)

struct source {
	char name[NAME];
	enum lpl_page_kind kind;
	struct elf_code *code;		/* of a file; NULL: it is not here, or has no functions */
	bool by_pages;			/* where it has no symbol, each page is a place */
};

struct code_page {
	size_t source;			/* from 1 on; 0: it was not noted */
	uint64_t at;			/* in a file, of the page's first byte; or its address */
};

struct functions {
	struct function **function;
	size_t count, room;
	void *by_name;			/* a tree of them, by mode, file and name */
	struct source **source;		/* [0] is not used */
	size_t sources, source_room;
	struct lpl_map by_file;		/* device, inode, generation -> source */
	size_t of_kind[LPL_PAGE_KINDS];	/* the source that all pages of a kind are of */
	struct code_page *page;		/* by canonical page */
	size_t page_room;
	struct lpl_map by_place;	/* source and mode, place -> function + 1 */
	struct symbols *symbols;	/* the kernel's: one of both, or none */
	struct elf_code *kernel;
	const char *files;
	int root;			/* of the files; -1: not here */
	bool inlined;			/* functions are divided where others are inlined in them */
	uint64_t programs, missing, damaged;	/* files: all, not here, damaged */
	char *first_missing;
};

const char *code_mode_name(enum code_mode mode)
{
	static const char *const names[] = { "user", "kernel", "" };

	return names[mode];
}

/* ---- functions by name ---- */

static int by_name(const void *a, const void *b)
{
	const struct function *one = a, *other = b;
	int order = one->mode < other->mode ? -1 : one->mode > other->mode;

	if (!order)
		order = strcmp(one->file, other->file);
	return order ? order : strcmp(one->name, other->name);
}

/* Its number, or FUNCTION_NO_MEMORY; the texts are copied if there was none. */
static uint32_t number_of(struct functions *functions, const struct function *named)
{
	const size_t file = strlen(named->file) + 1, name = strlen(named->name) + 1;
	struct function **found = tfind(named, &functions->by_name, by_name), *made;
	char *text;

	if (found)
		return (*found)->number;
	if (functions->count >= UINT32_MAX - 1 ||
	    !lpl_reach(functions->function, functions->room, functions->count))
		return FUNCTION_NO_MEMORY;
	made = calloc(1, sizeof(*made) + file + name);
	if (!made)
		return FUNCTION_NO_MEMORY;
	text = (char *)(made + 1);
	made->mode = named->mode;
	made->number = (uint32_t)functions->count;
	made->file = memcpy(text, named->file, file);
	made->name = memcpy(text + file, named->name, name);
	if (!tsearch(made, &functions->by_name, by_name)) {
		free(made);
		return FUNCTION_NO_MEMORY;
	}
	functions->function[functions->count++] = made;
	return made->number;
}

/* ---- files ---- */

static void complain(struct functions *functions, const char *path, const char *why,
		     const char *without)
{
	if (functions->damaged++ < MOST_COMPLAINTS)
		cli_complain(0, "warning: %s/%s: %s: its %s are not used",
			     strcmp(functions->files, "/") == 0 ? "" : functions->files,
			     path + strspn(path, "/"), why, without);
}

/* What a file's debug information names is looked for from where the file is. */
struct beside {
	const struct functions *functions;
	const char *path;
};

static int open_beside(void *context, const char *name)
{
	const struct beside *beside = context;
	const char *slash = strrchr(beside->path, '/');
	char *path;
	int fd;

	if (*name == '/')
		return inside_open(beside->functions->root, name);
	if (asprintf(&path, "%.*s/%s", slash ? (int)(slash - beside->path) : 0, beside->path, name) < 0)
		return -1;
	fd = inside_open(beside->functions->root, path);
	free(path);
	return fd;
}

/* false: the file says nothing of inlined functions. */
static bool divide(struct functions *functions, struct elf_code *code, int fd, const char *path)
{
	struct beside beside = { functions, path };
	const struct inlined_beside open = { open_beside, &beside };
	const char *why;
	const bool divided = elf_code_inline(code, fd, &open, &why);

	if (why)
		complain(functions, path, why, "inlined functions");
	return divided || why;
}

/* What Debian's packages of debug symbols have, and distributions like it. */
static void find_debug(struct functions *functions, struct elf_code *code)
{
	const char *id = elf_code_build_id(code), *why;
	struct elf_code *debug;
	char *path;
	int fd;

	if (strlen(id) < 3 ||
	    asprintf(&path, "usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2) < 0)
		return;
	fd = inside_open(functions->root, path);
	if (fd >= 0) {
		debug = elf_code_read(fd, &why);
		if (!debug)
			complain(functions, path, why, "symbols");
		else if (!elf_code_take_symbols(code, debug))
			complain(functions, path, "has another build ID, or no symbols", "symbols");
		else if (functions->inlined)
			(void)divide(functions, code, fd, path);
		elf_code_free(debug);
		close(fd);
	}
	free(path);
}

/* Of a file as the guest called it. */
static void read_file(struct functions *functions, struct source *source, const char *path)
{
	const char *why;
	int fd;

	functions->programs++;
	if (functions->root < 0)
		return;
	errno = ENOENT;		/* of a name that is no path */
	fd = *path == '/' ? inside_open(functions->root, path) : -1;
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
		complain(functions, path, errno == ENOSYS ? "this system has no openat2, which "
			 "keeps to a directory" : strerror(errno), "symbols");
		return;
	}
	if (fd < 0) {
		functions->missing++;
		if (!functions->first_missing)
			functions->first_missing = strdup(path);
		return;
	}
	source->code = elf_code_read(fd, &why);
	if (!source->code)
		complain(functions, path, why, "symbols");
	else if (!elf_code_is_whole(source->code) ||
		 (functions->inlined && !divide(functions, source->code, fd, path)))
		find_debug(functions, source->code);
	close(fd);
}

/* ---- what code is of ---- */

static struct source *new_source(struct functions *functions, enum lpl_page_kind kind,
				 const char *name, size_t length)
{
	struct source *source;

	if (!lpl_reach(functions->source, functions->source_room, functions->sources + 1))
		return NULL;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	source->kind = kind;
	lpl_text_escape(source->name, sizeof(source->name), name, length);
	functions->source[++functions->sources] = source;
	return source;
}

static size_t file_source(struct functions *functions, const struct lpl_merge_page *page)
{
	const struct lpl_key key = LPL_KEY(page->device, page->inode, page->generation);
	size_t known = lpl_map_get(&functions->by_file, key);
	struct source *source;
	char *path;

	if (known)
		return known;
	path = page->name_length ? strndup(page->name, page->name_length) : strdup("[file]");
	source = path ? new_source(functions, page->kind, path, strlen(path)) : NULL;
	if (source && lpl_map_put(&functions->by_file, key, functions->sources)) {
		known = functions->sources;
		source->by_pages = true;
		if (page->kind == LPL_PAGE_FILE)
			read_file(functions, source, path);
	}
	free(path);
	return known;
}

/* All pages of the kind, which are no file's. */
static size_t kind_source(struct functions *functions, enum lpl_page_kind kind)
{
	char name[32];
	struct source *source;

	if (functions->of_kind[kind])
		return functions->of_kind[kind];
	snprintf(name, sizeof(name), "[%s]", lpl_page_kind_name(kind));
	source = new_source(functions, kind, name, strlen(name));
	if (!source)
		return 0;
	source->by_pages = kind != LPL_PAGE_ANONYMOUS;
	return functions->of_kind[kind] = functions->sources;
}

bool functions_note_page(struct functions *functions, const struct lpl_merge_page *page)
{
	const bool is_file = page->kind == LPL_PAGE_FILE || page->kind == LPL_PAGE_SHM ||
			     (page->kind == LPL_PAGE_SPECIAL && page->name_length);
	const size_t source =
		is_file ? file_source(functions, page) : kind_source(functions, page->kind);

	if (!source || !lpl_reach(functions->page, functions->page_room, page->page))
		return false;
	functions->page[page->page] = (struct code_page){
		source, (page->kind == LPL_PAGE_KERNEL || page->kind == LPL_PAGE_UNRESOLVED ?
			 page->virtual_page : page->offset) << LPL_PAGE_SHIFT
	};
	return true;
}

bool functions_is_kernel(const struct functions *functions, uint64_t page)
{
	return functions->source[functions->page[page].source]->kind == LPL_PAGE_KERNEL;
}

/* ---- functions by place ---- */

/* In the kernel's symbols. */
static struct code_place kernel_place(const struct functions *functions, uint64_t address)
{
	return functions->symbols ? symbols_place(functions->symbols, address) :
	       functions->kernel ? elf_code_find(functions->kernel, address) :
				   (struct code_place){ .last = UINT64_MAX };
}

/* The place of a byte of a source, in bytes of it. */
static struct code_place place_of(const struct functions *functions, const struct source *source,
				  uint64_t at)
{
	struct code_place place = { .last = UINT64_MAX };
	uint64_t address;

	if (source->kind == LPL_PAGE_KERNEL)
		return kernel_place(functions, at);
	if (!source->code || !elf_code_address(source->code, at, &address))
		return place;
	place = elf_code_find(source->code, address);
	/* as far as the page goes, which is all that is asked for, both go along */
	place.first = address - place.first > at ? 0 : at - (address - place.first);
	place.last = place.last - address > UINT64_MAX - at ? UINT64_MAX :
		     at + (place.last - address);
	return place;
}

static const char *kernel_file(const struct code_place *place, uint64_t at)
{
	if (place->module)
		return place->module;
	return !place->name && at >= MODULES && at < FIXED ? "[module]" : "[kernel]";
}

/* A symbol's, or in brackets that of what has none; NULL: no memory. */
static char *name_of(const struct source *source, const struct code_place *place, uint64_t at)
{
	const bool has_addresses =
		source->kind == LPL_PAGE_KERNEL || source->kind == LPL_PAGE_UNRESOLVED;
	char *name = NULL, *cut = place->name ? strndup(place->name, MOST_NAME) : NULL;

	if (cut && strncmp(cut, ".plt", 4) != 0)
		name = cli_escaped(cut);
	else if (cut)			/* a section */
		name = strdup("[.plt]");
	else if (place->name)
		return NULL;
	else if (!source->by_pages)
		name = strdup("[no symbol]");
	else if (asprintf(&name, "[%s%" PRIx64 "]", has_addresses ? "" : "+",
			  at & ~(uint64_t)(PAGE - 1)) < 0)
		name = NULL;
	free(cut);
	return name;
}

/* A function that no place in its source has had so far. */
static uint32_t new_place(struct functions *functions, const struct source *source,
			  const struct code_place *place, uint64_t at, bool user)
{
	const bool is_kernel = source->kind == LPL_PAGE_KERNEL;
	char *name = name_of(source, place, at),
	     *file = is_kernel ? cli_escaped(kernel_file(place, at)) : NULL;
	uint32_t number = FUNCTION_NO_MEMORY;

	if (name && (file || !is_kernel)) {
		const struct function function = { .mode = user ? CODE_USER : CODE_KERNEL,
						   .name = name,
						   .file = file ? file : source->name };

		number = number_of(functions, &function);
	}
	free(name);
	free(file);
	return number;
}

uint32_t functions_find(struct functions *functions, uint64_t page, uint32_t offset, bool user,
			uint32_t *first, uint32_t *last)
{
	const struct code_page *where = &functions->page[page];
	const struct source *source = functions->source[where->source];
	const uint64_t at = where->at + offset, end = where->at + (PAGE - 1);
	const struct code_place place = place_of(functions, source, at);
	uint64_t key = place.name ? place.first : source->by_pages ? where->at : 0, *number;
	uint32_t found;

	*first = place.first > where->at ? (uint32_t)(place.first - where->at) : 0;
	*last = place.last < end ? (uint32_t)(place.last - where->at) : PAGE - 1;
	number = lpl_map_reach(
		&functions->by_place,
		LPL_KEY(where->source << 2 | (place.name ? 2U : 0U) | (user ? 1U : 0U), key));
	if (!number)
		return FUNCTION_NO_MEMORY;
	if (*number)
		return (uint32_t)(*number - 1);
	found = new_place(functions, source, &place, at, user);
	*number = (uint64_t)found + 1;
	return found;
}

uint32_t functions_count(const struct functions *functions)
{
	return (uint32_t)functions->count;
}

struct function *functions_at(const struct functions *functions, uint32_t i)
{
	return functions->function[i];
}

/* ---- opening and closing ---- */

static int open_nothing(void *context, const char *name)
{
	(void)context;
	(void)name;
	return -1;
}

/* By the debug information of a vmlinux. */
static int divide_kernel(struct functions *functions, int fd, const char *path)
{
	const struct inlined_beside none = { open_nothing, NULL };
	const char *why;

	if (!elf_code_inline(functions->kernel, fd, &none, &why))
		return cli_complain(CLI_DAMAGED, "%s: %s", path,
				    why ? why : "has no debug information, or none of inlined functions");
	return CLI_DONE;
}

/* A System.map, a copy of /proc/kallsyms, or a vmlinux; moved to `text`, unless that is 0. */
static int read_kernel(struct functions *functions, const char *path, uint64_t text)
{
	char magic[4] = "";
	const char *why;
	FILE *file = fopen(path, "re");
	int status = CLI_DONE;

	if (!file)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (fread(magic, 1, sizeof(magic), file) != sizeof(magic) ||
	    memcmp(magic, "\177ELF", sizeof(magic)) != 0) {
		fclose(file);
		status = symbols_read(&functions->symbols, path);
		return status || !text ? status : symbols_move(functions->symbols, text, path);
	}
	functions->kernel = elf_code_read(fileno(file), &why);
	if (!functions->kernel)
		status = cli_complain(CLI_DAMAGED, "%s: %s", path, why);
	else if (!elf_code_is_whole(functions->kernel))
		status = cli_complain(CLI_DAMAGED, "%s: has no symbols", path);
	else if (functions->inlined)
		status = divide_kernel(functions, fileno(file), path);
	if (!status && text)
		elf_code_move(functions->kernel, text);
	fclose(file);
	return status;
}

static int open_sources(struct functions *functions, const struct functions_options *options,
			const char *path, const struct lpl_meta *meta)
{
	const struct function none[] = {
		[FUNCTION_UNKNOWN] = { .file = "", .name = "(unknown)", .mode = CODE_NONE },
		[FUNCTION_PROCESSOR] = { .file = "", .name = "(processor)", .mode = CODE_NONE }
	};
	int status = CLI_DONE;

	for (size_t i = 0; i < FUNCTION_FIRST; i++) {
		if (number_of(functions, &none[i]) == FUNCTION_NO_MEMORY)
			return cli_complain(CLI_FAILED, "no memory for functions");
	}
	functions->inlined = options->inlined;
	if (options->files) {
		functions->files = options->files;
		functions->root = inside_root(options->files);
		if (functions->root < 0)
			return cli_complain(CLI_FAILED, "%s: %s", options->files, strerror(errno));
	}
	if (options->symbols)
		status = read_kernel(functions, options->symbols, options->kernel_text);
	else
		functions->symbols = guest_symbols(path, meta);
	return status;
}

int functions_open(struct functions **functions, const struct functions_options *options,
		   const char *path, const struct lpl_meta *meta)
{
	struct functions *made = calloc(1, sizeof(*made));
	int status;

	*functions = NULL;
	if (!made)
		return cli_complain(CLI_FAILED, "no memory for functions");
	made->root = -1;
	lpl_map_init(&made->by_file, 3);
	lpl_map_init(&made->by_place, 2);
	status = open_sources(made, options, path, meta);
	if (status)
		functions_close(made);
	else
		*functions = made;
	return status;
}

static void leave(void *function)
{
	(void)function;		/* which is in the array, too */
}

void functions_close(struct functions *functions)
{
	if (!functions)
		return;
	tdestroy(functions->by_name, leave);
	for (size_t i = 0; i < functions->count; i++)
		free(functions->function[i]);
	for (size_t i = 1; i <= functions->sources; i++) {
		elf_code_free(functions->source[i]->code);
		free(functions->source[i]);
	}
	free(functions->function);
	free(functions->source);
	free(functions->page);
	lpl_map_free(&functions->by_file);
	lpl_map_free(&functions->by_place);
	symbols_free(functions->symbols);
	elf_code_free(functions->kernel);
	free(functions->first_missing);
	if (functions->root >= 0)
		close(functions->root);
	free(functions);
}

void functions_warn(const struct functions *functions)
{
	if (functions->damaged > MOST_COMPLAINTS)
		cli_complain(0, "warning: %s: the symbols of %" PRIu64 " more files are not used",
			     functions->files, functions->damaged - MOST_COMPLAINTS);
	if (functions->programs && functions->root < 0)
		cli_complain(0, "the functions of programs are shown by pages: --files names a "
			     "directory with the guest's files");
	if (functions->missing)
		cli_complain(0, "warning: %s: does not have %" PRIu64 " of the %" PRIu64 " files of "
			     "which code ran (%s): their functions are shown by pages",
			     functions->files, functions->missing, functions->programs,
			     functions->first_missing ? functions->first_missing : "");
}
