/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the module is loaded and removed (linux-module/main.c): whichever step fails, whatever was begun
 * is ended, in reverse order.  The steps are written here; each notes that it was called.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- what main.c takes from the kernel and from laplace.h ---- */

#define LAPLACE_MODULE_H
#define __init
#define __exit
#define module_init(function)
#define module_exit(function)
#define MODULE_DESCRIPTION(text)	_Static_assert(sizeof(text) > 1, "a description")
#define MODULE_LICENSE(text)		_Static_assert(sizeof(text) > 1, "a license")
#define pr_err(...)			((void)snprintf(printed, sizeof(printed), __VA_ARGS__))
#define pr_warn				pr_err
#define pr_info				pr_err
#define LPL_KERNEL_VERSION		"#1 of the test"

typedef unsigned long long u64;

struct named {
	char version[65];
};

static char printed[200];
static char calls[400];			/* the names of the steps, each after a space */
static const char *failing;		/* the one that fails; NULL: none does */
static bool forks;			/* seen by the hooks, and not forgotten */
static struct named kernel;

static int step(const char *name)
{
	strncat(calls, " ", sizeof(calls) - strlen(calls) - 1);
	strncat(calls, name, sizeof(calls) - strlen(calls) - 1);
	return failing != NULL && strcmp(name, failing) == 0 ? -ENOMEM : 0;
}

static const struct named *init_utsname(void)
{
	return &kernel;
}

static void lpl_record_init(void)
{
	step("record_init");
}

static void lpl_handshake(void)
{
	step("handshake");
}

static void lpl_goodbye(void)
{
	step("goodbye");
}

/* If it fails it has detached what it had attached; but a fork may have been seen until then. */
static int lpl_attach(void)
{
	forks = true;
	return step("attach");
}

static void lpl_detach(void)
{
	step("detach");
}

static void lpl_family_exit(void)
{
	forks = false;
	step("family_exit");
}

static void lpl_snapshot(void)
{
	step("snapshot");
}

static int lpl_choice_init(void)
{
	return step("choice_init");
}

static void lpl_choice_exit(void)
{
	step("choice_exit");
}

static int lpl_syscalls_init(void)
{
	return step("syscalls_init");
}

static void lpl_syscalls_exit(void)
{
	step("syscalls_exit");
}

static int lpl_device_init(void)
{
	return step("device_init");
}

static void lpl_device_exit(void)
{
	step("device_exit");
}

static void lpl_log_exit(void)
{
	step("log_exit");
}

static u64 lpl_missed(void)
{
	return 0;
}

static u64 lpl_events(void)
{
	return 0;
}

#include "../../linux-module/main.c"	/* NOLINT(bugprone-suspicious-include) */

/* ---- tests ---- */

static int load(const char *fails)
{
	failing = fails;
	*calls = '\0';
	forks = false;
	snprintf(kernel.version, sizeof(kernel.version), "%s", LPL_KERNEL_VERSION);
	return lpl_init();
}

static void loaded_and_removed(void **unused)
{
	(void)unused;
	assert_int_equal(load(NULL), 0);
	assert_string_equal(calls, " record_init handshake attach snapshot choice_init syscalls_init device_init");
	*calls = '\0';
	lpl_exit();
	assert_string_equal(calls, " device_exit syscalls_exit choice_exit detach family_exit goodbye log_exit");
	assert_false(forks);
}

static void another_kernel_is_left_alone(void **unused)
{
	(void)unused;
	*calls = '\0';
	snprintf(kernel.version, sizeof(kernel.version), "#2");
	assert_int_equal(lpl_init(), -ENOEXEC);
	assert_string_equal(calls, "");
}

static void forks_seen_before_attaching_failed_are_forgotten(void **unused)
{
	(void)unused;
	assert_int_equal(load("attach"), -ENOMEM);
	assert_false(forks);
	assert_string_equal(calls, " record_init handshake attach family_exit goodbye log_exit");
}

static void a_later_failure_detaches(void **unused)
{
	(void)unused;
	assert_int_equal(load("choice_init"), -ENOMEM);
	assert_false(forks);
	assert_string_equal(calls, " record_init handshake attach snapshot choice_init"
				   " detach family_exit goodbye log_exit");
	assert_int_equal(load("syscalls_init"), -ENOMEM);
	assert_false(forks);
	assert_string_equal(calls, " record_init handshake attach snapshot choice_init syscalls_init"
				   " choice_exit detach family_exit goodbye log_exit");
	assert_int_equal(load("device_init"), -ENOMEM);
	assert_false(forks);
	assert_string_equal(calls, " record_init handshake attach snapshot choice_init syscalls_init device_init"
				   " syscalls_exit choice_exit detach family_exit goodbye log_exit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_and_removed),
		cmocka_unit_test(another_kernel_is_left_alone),
		cmocka_unit_test(forks_seen_before_attaching_failed_are_forgotten),
		cmocka_unit_test(a_later_failure_detaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
