// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/laplace, by which programs in the guest steer the collection: a write
 * is one command, a read says how the module fares.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Whoever may write may end the collection: not everybody, unless it is wanted. */
static unsigned short lpl_mode = 0660;
module_param_named(mode, lpl_mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/laplace, in octal (0660; 0666 lets all users in)");

/* The longest command, with a newline; and marks have their own limit. */
#define LPL_COMMAND	4096

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
	record->arg[KTR_CONTROL_REQUEST] = control;
	lpl_end(flags);
}

/* What follows the word in the command; NULL when it begins with another one. */
static char *lpl_after(char *command, const char *word)
{
	size_t length = strlen(word);

	return strncmp(command, word, length) ? NULL : command + length;
}

static int lpl_command(char *text)
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
		{ "rotate", KTR_CONTROL_ROTATE },
		{ "checkpoint", KTR_CONTROL_CHECKPOINT },
		{ "quit", KTR_CONTROL_QUIT },
		{ "ready", KTR_CONTROL_READY },
	};
	char *rest;
	size_t i;

	rest = lpl_after(text, "mark ");
	if (rest) {
		if (!*rest || strlen(rest) > KTR_TEXT)
			return -EINVAL;
		lpl_mark(rest, strlen(rest));
		return 0;
	}
	rest = lpl_after(text, "syscalls ");
	if (rest)
		return lpl_syscalls(rest);
	rest = lpl_after(text, "events ");
	if (rest)
		return lpl_choose_events(rest);
	for (i = 0; i < ARRAY_SIZE(command); i++) {
		if (!strcmp(text, command[i].word)) {
			lpl_control(command[i].control);
			return 0;
		}
	}
	return -EINVAL;
}

static ssize_t lpl_write(struct file *file, const char __user *user,
			 size_t size, loff_t *offset)
{
	char *text;
	int error;

	if (size > LPL_COMMAND)
		return -EINVAL;
	text = memdup_user_nul(user, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (size && text[size - 1] == '\n')
		text[size - 1] = '\0';
	error = lpl_command(text);
	kfree(text);
	return error ?: size;
}

static ssize_t lpl_read(struct file *file, char __user *user, size_t size,
			loff_t *offset)
{
	char choice[64], text[120 + sizeof(choice)];
	int length;

	lpl_choice_text(choice, sizeof(choice));
	length = scnprintf(text, sizeof(text),
			   "events %llu\nmissed %llu\nsyscalls %u\nchosen %s\n", lpl_events(),
			   lpl_missed(), lpl_syscalls_chosen(), choice);

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
};

int lpl_device_init(void)
{
	int error;

	/* A decimal number that was meant to be octal has other bits, too. */
	if (lpl_mode & ~0666) {
		pr_err("mode: it wants permissions to read and to write, in octal, as in mode=0660\n");
		return -EINVAL;
	}
	lpl_device.mode = lpl_mode;
	error = misc_register(&lpl_device);
	if (error)
		pr_err("cannot make /dev/laplace: error %d\n", error);
	return error;
}

void lpl_device_exit(void)
{
	misc_deregister(&lpl_device);
}
