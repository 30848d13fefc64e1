// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/laplace, by which programs in the guest steer the collection: a write
 * is one command, a read says how the module fares.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define LPL_MARK	"mark "
#define LPL_MARK_LENGTH	(sizeof(LPL_MARK) - 1)

static void lpl_mark(const char *text, size_t size)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_MARK);
	lpl_text(record, text, size);
	lpl_end(flags);
}

static void lpl_control(enum ktr_control control)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_CONTROL);
	record->arg[0] = control;
	lpl_end(flags);
}

static ssize_t lpl_write(struct file *file, const char __user *user,
			 size_t size, loff_t *offset)
{
	static const struct {
		const char *word;
		enum ktr_control control;
	} command[] = {
		{ "start", KTR_CONTROL_START },
		{ "stop", KTR_CONTROL_STOP },
		{ "flush", KTR_CONTROL_FLUSH },
		{ "end", KTR_CONTROL_END },
		{ "fail", KTR_CONTROL_FAIL },
	};
	/* The longest mark, with a newline and a terminator. */
	char text[LPL_MARK_LENGTH + KTR_TEXT + 2];
	size_t length = size;
	size_t i;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, size))
		return -EFAULT;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';

	if (length > LPL_MARK_LENGTH &&
	    !memcmp(text, LPL_MARK, LPL_MARK_LENGTH)) {
		lpl_mark(text + LPL_MARK_LENGTH, length - LPL_MARK_LENGTH);
		return size;
	}
	for (i = 0; i < ARRAY_SIZE(command); i++) {
		if (length == strlen(command[i].word) &&
		    !memcmp(text, command[i].word, length)) {
			lpl_control(command[i].control);
			return size;
		}
	}
	return -EINVAL;
}

static ssize_t lpl_read(struct file *file, char __user *user, size_t size,
			loff_t *offset)
{
	char text[80];
	int length = scnprintf(text, sizeof(text), "events %llu\nmissed %llu\n",
			       lpl_events(), lpl_missed());

	return simple_read_from_buffer(user, size, offset, text, length);
}

static const struct file_operations lpl_operations = {
	.owner = THIS_MODULE,
	.read = lpl_read,
	.write = lpl_write,
	.llseek = default_llseek,
};

static struct miscdevice lpl_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "laplace",
	.fops = &lpl_operations,
	/* Marks may come from any program of the workload. */
	.mode = 0666,
};

int lpl_device_init(void)
{
	return misc_register(&lpl_device);
}

void lpl_device_exit(void)
{
	misc_deregister(&lpl_device);
}
