/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text files that appear when they are whole; see text_output.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "replace.h"
#include "say.h"
#include "text_output.h"

int cli_output_open(struct cli_output *output, const char *path, bool overwrite)
{
	struct lpl_report report = { 0 };
	int status = cli_refuse_existing(path, overwrite);

	output->file = stdout;
	if (status || strcmp(path, "-") == 0)
		return status;
	if (lpl_output_open(&output->output, path, overwrite, &report))
		return report.error != LPL_ERR_USAGE || overwrite ? cli_report(&report) :
			cli_complain(CLI_USAGE, "%s (--overwrite)", report.text);
	output->file = lpl_output_stream(&output->output);
	if (output->file)
		return CLI_DONE;
	status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	lpl_output_discard(&output->output);
	return status;
}

int cli_output_try(const char *path, bool overwrite)
{
	struct cli_output output;
	struct stat there;
	int status;

	/* what is at the other end of a pipe would see it end */
	if (strcmp(path, "-") == 0 || (stat(path, &there) == 0 && !S_ISREG(there.st_mode)))
		return CLI_DONE;
	status = cli_output_open(&output, path, overwrite);
	if (!status)
		(void)cli_output_close(&output, CLI_FAILED);
	return status;
}

int cli_output_close(struct cli_output *output, int status)
{
	struct lpl_report report = { 0 };
	const char *why = NULL;

	if (output->file == stdout)
		return status;
	if (ferror(output->file))
		why = "could not be written";
	if (fclose(output->file) != 0)
		why = strerror(errno);
	if (why)
		status = cli_complain(CLI_FAILED, "%s: %s", output->output.name, why);
	if (status == CLI_FAILED || status == CLI_USAGE)
		lpl_output_discard(&output->output);
	else if (lpl_output_commit(&output->output, &report))
		status = cli_report(&report);
	return status;
}

bool cli_output_ends_with(const char *path, const char *end)
{
	size_t length = strlen(path);

	return length > strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}
