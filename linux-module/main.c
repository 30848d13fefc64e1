// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The laplace module: reports to the simulator below what this kernel does with
 * tasks, address spaces and the page cache.  On any other machine it loads and
 * works the same, and has no effect.
 */
#include "laplace.h"

#include <linux/module.h>
#include <linux/string.h>
#include <linux/utsname.h>

static int __init lpl_init(void)
{
	int error;

#ifdef X86_FEATURE_PTI
	if (boot_cpu_has(X86_FEATURE_PTI))
		pr_warn("page-table isolation is on: programs run on page tables other than those the events name; boot with nopti\n");
#endif
	/* Another one of the same release could have all of it elsewhere. */
	if (strcmp(init_utsname()->version, LPL_KERNEL_VERSION)) {
		pr_err("built for the kernel %s, and this is %s: refusing to load; build it for this one\n",
		       LPL_KERNEL_VERSION, init_utsname()->version);
		return -ENOEXEC;
	}
	lpl_record_init();
	lpl_handshake();
	error = lpl_attach();
	if (error)
		goto families;
	lpl_snapshot();
	error = lpl_choice_init();
	if (error)
		goto detach;
	error = lpl_syscalls_init();
	if (error)
		goto choice;
	error = lpl_device_init();
	if (error)
		goto syscalls;
	return 0;

syscalls:
	lpl_syscalls_exit();
choice:
	lpl_choice_exit();
detach:
	lpl_detach();
families:
	/* Hooks attached before the one that failed have seen forks. */
	lpl_family_exit();
	lpl_goodbye();
	lpl_log_exit();
	return error;
}

static void __exit lpl_exit(void)
{
	u64 missed;

	lpl_device_exit();
	lpl_syscalls_exit();
	missed = lpl_missed();
	lpl_choice_exit();
	lpl_detach();
	lpl_family_exit();
	lpl_goodbye();
	lpl_log_exit();
	if (missed)
		pr_warn("%llu calls were not seen: the trace lacks events\n",
			missed);
	pr_info("%llu events\n", lpl_events());
}

module_init(lpl_init);
module_exit(lpl_exit);

MODULE_DESCRIPTION("Reports to the Laplace memory tracer what the kernel does");
MODULE_LICENSE("GPL");
