/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text files that appear when they are whole; see text_output.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"

static int complain(const struct lpl_report *report, bool overwrite)
{
	return report->error != LPL_ERR_USAGE || overwrite ? cli_report(report) :
		cli_complain(CLI_USAGE, "%s (--overwrite)", report->text);
}

int cli_output_open(struct cli_output *output, const char *path, bool overwrite)
{
	struct lpl_report report = { 0 };
	int status = cli_refuse_existing(path, overwrite);

	output->held = NULL;
	output->file = stdout;
	if (status || strcmp(path, "-") == 0)
		return status;
	if (lpl_output_open(&output->output, path, overwrite, &report))
		return complain(&report, overwrite);
	output->file = lpl_output_stream(&output->output);
	if (output->file)
		return CLI_DONE;
	status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	lpl_output_discard(&output->output);
	return status;
}

/* Is it no file, that is or will be? */
static bool is_stream(const char *path)
{
	struct stat there;
	int fd;

	return strcmp(path, "-") == 0 || lpl_names_descriptor(path, &fd) ||
	       (stat(path, &there) == 0 && !S_ISREG(there.st_mode));
}

int cli_output_try(const char *path, bool overwrite)
{
	struct lpl_report report = { 0 };
	int status;

	/* what is at the other end of a pipe would see it end */
	if (is_stream(path))
		return CLI_DONE;
	status = cli_refuse_existing(path, overwrite);
	if (!status && lpl_output_try(path, overwrite, &report))
		status = complain(&report, overwrite);
	return status;
}

int cli_output_hold(struct cli_output *output, const char *path, bool overwrite)
{
	int status, fd;

	if (is_stream(path))
		return cli_output_open(output, path, overwrite);
	status = cli_output_try(path, overwrite);
	if (status)
		return status;
	*output = (struct cli_output){ .held = path, .overwrite = overwrite };
	lpl_short_name(output->output.name, path);
	fd = memfd_create("laplace", MFD_CLOEXEC);
	output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (output->file)
		return CLI_DONE;
	status = cli_complain(CLI_FAILED, "%s: no memory to hold it: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return status;
}

/* What was written to a descriptor, whoever wrote it, becomes the file. */
static enum lpl_error copy_all(struct lpl_output *output, int fd, struct lpl_report *report)
{
	char bytes[16384];
	off_t offset = 0;
	ssize_t count;

	while ((count = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		LPL_TRY(lpl_output_write(output, bytes, (size_t)count, report));
		offset += count;
	}
	return count == 0 ? LPL_OK : lpl_fail(report, LPL_ERR_IO, "%s: cannot be read back", output->name);
}

/* Make the file of what is held. */
static int write_held(struct cli_output *output)
{
	struct lpl_report report = { 0 };

	if (fflush(output->file) != 0)
		return cli_complain(CLI_FAILED, "%s: %s", output->output.name, strerror(errno));
	if (lpl_output_open(&output->output, output->held, output->overwrite, &report))
		return complain(&report, output->overwrite);
	if (copy_all(&output->output, fileno(output->file), &report)) {
		(void)unlink(output->output.part);
		lpl_output_discard(&output->output);
		return cli_report(&report);
	}
	return lpl_output_commit(&output->output, &report) ? cli_report(&report) : CLI_DONE;
}

static int close_held(struct cli_output *output, int status)
{
	int written = status == CLI_FAILED || status == CLI_USAGE ? status : write_held(output);

	fclose(output->file);
	return written ? written : status;
}

int cli_output_close(struct cli_output *output, int status)
{
	struct lpl_report report = { 0 };
	const char *why = NULL;

	if (output->held)
		return close_held(output, status);
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
