/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The second line of /proc/meminfo: "Mem:" and bytes in all, used, free, shared, of buffers, cached. */
#include "guest.h"
#include "memory.h"

static const char *number(const char *text, u32 *value)
{
	while (*text && (*text < '0' || *text > '9'))
		text++;
	for (*value = 0; *text >= '0' && *text <= '9'; text++)
		*value = *value * 10 + (u32)(*text - '0');
	return text;
}

static char *append(char *at, u32 value)
{
	char digits[12];
	u32 i = 0;

	do
		digits[i++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (i > 0)
		*at++ = digits[--i];
	*at = '\0';
	return at;
}

void mark_memory(void)
{
	char line[40] = "mark memory ", text[512], *end = line + 12;
	const char *at = text;
	u32 value[6], i;
	long fd = must("open", CALL3(open, "/proc/meminfo", O_RDONLY, 0));
	long length = must("read", CALL3(read, fd, text, sizeof(text) - 1));

	CALL1(close, fd);
	text[length] = '\0';
	while (*at && *at != '\n')
		at++;
	for (i = 0; i < 6; i++)
		at = number(at, &value[i]);
	end = append(end, value[4] / PAGE);
	*end++ = ' ';
	append(end, value[5] / PAGE);
	must("mark", store("/proc/laplace", line));
}
