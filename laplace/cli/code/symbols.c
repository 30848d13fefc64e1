/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel's symbols. */
#include "symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digits.h"
#include "cli/say.h"

#define PAGE UINT64_C(4096)

struct symbol {
	uint64_t address;
	size_t line;		/* of several at one address the first counts */
	char *name;
	char *module;		/* "[ext4]"; NULL: the kernel's own */
};

struct symbols {
	struct symbol *symbol;	/* by address */
	size_t count, room;
};

static void free_symbol(struct symbol *symbol)
{
	free(symbol->name);
	free(symbol->module);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->count; i++)
		free_symbol(&symbols->symbol[i]);
	free(symbols->symbol);
	free(symbols);
}

/* Cut a line, without its end, in its parts; false: it is no symbol. */
static bool parse_line(char *line, uint64_t *address, char **name, char **module)
{
	const char *end = lpl_scan_hex(line, address);
	size_t length;

	if (!end || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	*name = line + (end - line) + 3;
	length = strcspn(*name, " \t");
	*module = NULL;
	if ((*name)[length]) {
		*module = *name + length + 1;
		(*name)[length] = '\0';
		if ((*module)[0] != '[' || (*module)[strlen(*module) - 1] != ']')
			return false;
	}
	/* it is printed as it is */
	for (const char *c = *name; *c; c++) {
		if (*c <= ' ' || *c > '~' || *c == '\\')
			return false;
	}
	return length != 0;
}

/* Addresses that are 0, as others than root see them, are left out. */
static int add_line(struct symbols *symbols, char *line, const char *path, size_t number)
{
	struct symbol symbol = { .line = number };
	char *name, *module;

	line[strcspn(line, "\n")] = '\0';
	if (!parse_line(line, &symbol.address, &name, &module))
		return cli_complain(CLI_DAMAGED, "%s:%zu: is no line ADDRESS TYPE NAME, as a System.map "
				    "or /proc/kallsyms has them (Debian's System.map is in the package "
				    "linux-image-*-dbg)", path, number);
	if (symbol.address == 0)
		return CLI_DONE;
	symbol.name = strdup(name);
	symbol.module = module ? strdup(module) : NULL;
	if (!symbol.name || (module && !symbol.module) ||
	    !lpl_reach(symbols->symbol, symbols->room, symbols->count)) {
		free_symbol(&symbol);
		return cli_complain(CLI_FAILED, "%s: no memory for its symbols", path);
	}
	symbols->symbol[symbols->count++] = symbol;
	return CLI_DONE;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *other = b;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one->line < other->line ? -1 : one->line > other->line;
}

static int read_lines(struct symbols *symbols, FILE *file, const char *path)
{
	char *line = NULL;
	size_t size = 0, number = 0;
	int status = CLI_DONE;

	while (!status && getline(&line, &size, file) > 0)
		status = add_line(symbols, line, path, ++number);
	if (!status && ferror(file))
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	free(line);
	if (!status && !symbols->count)
		status = cli_complain(CLI_DAMAGED, "%s: has no symbols with an address; /proc/kallsyms "
				      "has addresses for root alone", path);
	return status;
}

int symbols_read(struct symbols **symbols, const char *path)
{
	struct symbols *made;
	FILE *file = fopen(path, "re");
	int status;

	*symbols = NULL;
	if (!file)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	made = calloc(1, sizeof(*made));
	if (!made) {
		fclose(file);
		return cli_complain(CLI_FAILED, "%s: no memory for its symbols", path);
	}
	status = read_lines(made, file, path);
	fclose(file);
	if (status) {
		symbols_free(made);
		return status;
	}
	if (made->count)
		qsort(made->symbol, made->count, sizeof(*made->symbol), by_address);
	*symbols = made;
	return CLI_DONE;
}

static bool same_module(const struct symbol *a, const struct symbol *b)
{
	return a->module && b->module ? strcmp(a->module, b->module) == 0 : a->module == b->module;
}

/* Its last byte.  What follows the last symbol of a module may be anything. */
static uint64_t end_of(const struct symbols *symbols, size_t i)
{
	const struct symbol *symbol = &symbols->symbol[i];
	const uint64_t page_end = symbol->address | (PAGE - 1);
	size_t next = i + 1;

	while (next < symbols->count && symbols->symbol[next].address == symbol->address)
		next++;
	if (next == symbols->count || !same_module(symbol, &symbols->symbol[next]) ||
	    (symbol->address ^ symbols->symbol[next].address) >> 63)
		return page_end;
	return symbols->symbol[next].address - 1;
}

static const struct symbol *find_named(const struct symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->symbol[i];

		if (!symbol->module && strcmp(symbol->name, name) == 0)
			return symbol;
	}
	return NULL;
}

int symbols_move(struct symbols *symbols, uint64_t text, const char *path)
{
	const struct symbol *begin = find_named(symbols, "_text"), *end = find_named(symbols, "_end");
	uint64_t first, last, shift;

	if (!begin || !end)
		return cli_complain(CLI_USAGE, "%s: has no _text and _end, so that it is not known what "
				    "--kernel-text moves", path);
	first = begin->address;
	last = end->address;
	shift = text - first;
	for (size_t i = 0; i < symbols->count; i++) {
		struct symbol *symbol = &symbols->symbol[i];

		if (!symbol->module && symbol->address >= first && symbol->address <= last)
			symbol->address += shift;
	}
	qsort(symbols->symbol, symbols->count, sizeof(*symbols->symbol), by_address);
	return CLI_DONE;
}

/* How many symbols begin at an address or before it. */
static size_t count_to(const struct symbols *symbols, uint64_t address)
{
	size_t first = 0, left = symbols->count;

	while (left) {
		size_t half = left / 2;

		if (symbols->symbol[first + half].address <= address) {
			first += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	return first;
}

struct code_place symbols_place(const struct symbols *symbols, uint64_t address)
{
	const size_t next = count_to(symbols, address);
	size_t first = next;
	struct code_place place = { .last = UINT64_MAX };
	uint64_t last;

	if (next < symbols->count)
		place.last = symbols->symbol[next].address - 1;
	if (!first)
		return place;
	first--;
	while (first && symbols->symbol[first - 1].address == symbols->symbol[first].address)
		first--;
	place.first = symbols->symbol[first].address;
	/* where the kernel's image ends there may be anything */
	if (strcmp(symbols->symbol[first].name, "_end") == 0)
		return place;
	last = end_of(symbols, first);
	if (address > last) {
		place.first = last + 1;
		return place;
	}
	place.last = last;
	place.name = symbols->symbol[first].name;
	place.module = symbols->symbol[first].module;
	return place;
}

const char *symbols_find(const struct symbols *symbols, uint64_t address, uint64_t *offset)
{
	const struct code_place place = symbols_place(symbols, address);

	if (place.name)
		*offset = address - place.first;
	return place.name;
}
