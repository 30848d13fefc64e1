/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shown text|json|csv|markup FILE...: may these be shown (shown.h)?  Names those that may not. */
#include <stdio.h>

#include "shown.h"

#define LARGEST ((size_t)1 << 24)

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *(*fault)(const char *text, size_t size);
	} form[] = {
		{ "text", shown_text }, { "json", shown_json }, { "csv", shown_csv },
		{ "markup", shown_markup }
	};
	static char text[LARGEST + 1];
	int status = 0;
	size_t f = 0;

	while (f < 4 && argc > 2 && strcmp(form[f].name, argv[1]) != 0)
		f++;
	if (argc < 3 || f == 4) {
		fprintf(stderr, "usage: shown text|json|csv|markup FILE...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size = file ? fread(text, 1, LARGEST, file) : 0;
		const char *fault = size == 0 ? "is empty, or cannot be read" : NULL;

		text[size] = '\0';
		if (!fault)
			fault = form[f].fault(text, size);
		if (fault) {
			printf("%s: %s\n", argv[i], fault);
			status = 1;
		}
		if (file)
			(void)fclose(file);
	}
	return status;
}
