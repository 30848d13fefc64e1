// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of system calls: those that were chosen, none at first.  The kernel
 * takes a longer way through every call while somebody looks at any, so it is
 * looked at only while a choice stands.
 */
#include "laplace.h"

#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <asm/syscall.h>

/* By number, as the kernel's own headers have them (./build). */
static const char *const lpl_names_64[] = {
#include "syscalls_64.h"
};

static const char *const lpl_names_32[] = {
#include "syscalls_32.h"
};

#define LPL_CALLS 1024

/* Those of one kind of program. */
struct lpl_abi {
	const char *const *name;
	size_t count;
	DECLARE_BITMAP(chosen, LPL_CALLS);
};

static struct lpl_abi lpl_abi[] = {
	[KTR_ABI_64] = { lpl_names_64, ARRAY_SIZE(lpl_names_64) },
	[KTR_ABI_32] = { lpl_names_32, ARRAY_SIZE(lpl_names_32) },
};

static DEFINE_MUTEX(lpl_syscall_lock);
static struct tracepoint *lpl_syscall_enter, *lpl_syscall_exit;
static bool lpl_syscall_attached;

static char *lpl_syscall_parameter = "none";
module_param_named(syscalls, lpl_syscall_parameter, charp, 0444);
MODULE_PARM_DESC(syscalls, "calls to report: none (default), all, or a list of names and numbers");

static unsigned int lpl_current_abi(void)
{
#ifdef CONFIG_IA32_EMULATION
	if (in_ia32_syscall())
		return KTR_ABI_32;
#endif
	return KTR_ABI_64;
}

static bool lpl_is_chosen(const struct lpl_abi *abi, unsigned long number)
{
	return number < LPL_CALLS && test_bit(number, abi->chosen);
}

static struct kernel_trace_record *lpl_syscall_begin(unsigned long *flags,
						     u32 tag, unsigned int abi,
						     unsigned long number)
{
	struct kernel_trace_record *record = lpl_begin(flags, tag);

	record->arg[KTR_SYSCALL_NUMBER] = number;
	record->arg[KTR_SYSCALL_ABI] = abi;
	if (number < lpl_abi[abi].count && lpl_abi[abi].name[number])
		lpl_text(record, lpl_abi[abi].name[number], KTR_TEXT);
	return record;
}

static void lpl_sys_enter(void *data, struct pt_regs *regs, long id)
{
	unsigned int abi = lpl_current_abi();
	unsigned long number = (unsigned int)id;
	struct kernel_trace_record *record;
	unsigned long arg[6];
	unsigned long flags;
	size_t i;

	if (!lpl_is_chosen(&lpl_abi[abi], number))
		return;
	record = lpl_syscall_begin(&flags, KTR_SYSCALL_ENTER, abi, number);
	syscall_get_arguments(current, regs, arg);
	for (i = 0; i < ARRAY_SIZE(arg); i++)
		record->arg[KTR_SYSCALL_ENTER_ARG1 + i] = arg[i];
	lpl_end(flags);
}

static void lpl_sys_exit(void *data, struct pt_regs *regs, long result)
{
	unsigned int abi = lpl_current_abi();
	unsigned long number = (unsigned int)syscall_get_nr(current, regs);
	struct kernel_trace_record *record;
	unsigned long flags;

	if (!lpl_is_chosen(&lpl_abi[abi], number))
		return;
	record = lpl_syscall_begin(&flags, KTR_SYSCALL_EXIT, abi, number);
	record->arg[KTR_SYSCALL_EXIT_RESULT] = result;
	lpl_end(flags);
}

static void lpl_syscall_detach(void)
{
	if (!lpl_syscall_attached)
		return;
	tracepoint_probe_unregister(lpl_syscall_enter, lpl_sys_enter, NULL);
	tracepoint_probe_unregister(lpl_syscall_exit, lpl_sys_exit, NULL);
	tracepoint_synchronize_unregister();
	lpl_syscall_attached = false;
}

static int lpl_syscall_attach(void)
{
	int error;

	if (lpl_syscall_attached)
		return 0;
	lpl_syscall_enter = lpl_tracepoint("sys_enter");
	lpl_syscall_exit = lpl_tracepoint("sys_exit");
	if (!lpl_syscall_enter || !lpl_syscall_exit)
		return -EOPNOTSUPP;
	error = tracepoint_probe_register(lpl_syscall_exit, lpl_sys_exit, NULL);
	if (error)
		return error;
	error = tracepoint_probe_register(lpl_syscall_enter, lpl_sys_enter, NULL);
	if (error) {
		tracepoint_probe_unregister(lpl_syscall_exit, lpl_sys_exit, NULL);
		tracepoint_synchronize_unregister();
		return error;
	}
	lpl_syscall_attached = true;
	return 0;
}

/* The call of that name, in programs of both kinds. */
static bool lpl_choose_name(unsigned long chosen[][BITS_TO_LONGS(LPL_CALLS)],
			    const char *name)
{
	bool found = false;
	size_t abi, i;

	for (abi = 0; abi < ARRAY_SIZE(lpl_abi); abi++) {
		for (i = 0; i < lpl_abi[abi].count; i++) {
			if (!lpl_abi[abi].name[i] ||
			    strcmp(lpl_abi[abi].name[i], name))
				continue;
			__set_bit(i, chosen[abi]);
			found = true;
		}
	}
	return found;
}

/* A number is that of 64-bit programs, and stands for the name. */
static bool lpl_choose(unsigned long chosen[][BITS_TO_LONGS(LPL_CALLS)],
		       const char *word)
{
	unsigned int number;

	if (!isdigit(*word))
		return lpl_choose_name(chosen, word);
	if (kstrtouint(word, 0, &number) || number >= ARRAY_SIZE(lpl_names_64) ||
	    !lpl_names_64[number])
		return false;
	return lpl_choose_name(chosen, lpl_names_64[number]);
}

/* `list` is cut into pieces. */
int lpl_syscalls(char *list)
{
	unsigned long chosen[ARRAY_SIZE(lpl_abi)][BITS_TO_LONGS(LPL_CALLS)] = { };
	bool none = !strcmp(list, "none");
	size_t abi;
	char *word;
	int error = 0;

	if (!strcmp(list, "all"))
		memset(chosen, 0xff, sizeof(chosen));
	else
		while (!none && (word = strsep(&list, ", ")))
			if (!lpl_choose(chosen, word))
				return -EINVAL;

	mutex_lock(&lpl_syscall_lock);
	if (none)
		lpl_syscall_detach();
	else
		error = lpl_syscall_attach();
	if (!error)
		for (abi = 0; abi < ARRAY_SIZE(lpl_abi); abi++)
			bitmap_copy(lpl_abi[abi].chosen, chosen[abi], LPL_CALLS);
	mutex_unlock(&lpl_syscall_lock);
	return error;
}

int lpl_syscalls_init(void)
{
	char *list = kstrdup(lpl_syscall_parameter, GFP_KERNEL);
	int error = -ENOMEM;

	if (list)
		error = lpl_syscalls(list);
	if (error)
		pr_err("syscalls=%s: neither none nor all nor a list of system calls (error %d)\n",
		       lpl_syscall_parameter, error);
	kfree(list);
	return error;
}

void lpl_syscalls_exit(void)
{
	char none[] = "none";

	lpl_syscalls(none);
}

unsigned int lpl_syscalls_chosen(void)
{
	unsigned int abi, count = 0;
	size_t i;

	for (abi = 0; abi < ARRAY_SIZE(lpl_abi); abi++)
		for (i = 0; i < lpl_abi[abi].count; i++)
			count += lpl_abi[abi].name[i] &&
				 test_bit(i, lpl_abi[abi].chosen);
	return count;
}
