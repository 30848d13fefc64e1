// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rubbish: a guest kernel module that lies to the simulator in every way a
 * kernel_trace_record and its handshake have.  For tests only.
 *
 *	mode=storm	records of random bytes; valid tags with senseless
 *			arguments; records begun twice, never ended, ended
 *			without a beginning, and changed in the middle
 *	mode=open	leaves a record begun
 *	mode=freed	says hello and frees the record's page
 *	mode=magic	says hello to a record with a wrong magic
 *	mode=size	... with a wrong size
 *	mode=nowhere	... where no memory is
 *	mode=crossing	... that crosses a page
 *	mode=half	says the first words of a hello, again and again
 */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

#include <laplace/kernel_trace_record.h>

static char *mode = "storm";
module_param(mode, charp, 0);

static struct kernel_trace_record *record;
static u64 state = 88172645463325252ULL;

static u64 draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void hello(const void *where)
{
	unsigned long address = (unsigned long)where;

	outl(KTR_HELLO, KTR_PORT);
	outl(lower_32_bits(address), KTR_PORT);
	outl(upper_32_bits(address), KTR_PORT);
}

static void be_honest(void)
{
	record->magic = KTR_MAGIC;
	record->version = KTR_VERSION;
	record->size = sizeof(*record);
}

/* Everything below `begin` but the head, which is right most of the time. */
static void fill(u32 tag)
{
	unsigned char *bytes = (unsigned char *)record;
	size_t i;

	for (i = offsetof(struct kernel_trace_record, tag);
	     i < offsetof(struct kernel_trace_record, trigger); i++)
		bytes[i] = draw();
	if (tag) {
		record->tag = tag;
		record->text_length = draw() % (2 * KTR_TEXT);
	}
	be_honest();
	switch (draw() % 8) {
	case 0:
		record->magic = draw();
		break;
	case 1:
		record->version = draw();
		break;
	case 2:
		record->size = draw();
		break;
	}
}

static void trigger(void)
{
	barrier();
	WRITE_ONCE(record->trigger, 1);
}

static void begin(void)
{
	WRITE_ONCE(record->begin, 1);
	barrier();
}

/* None of the tags that end a run or start it anew. */
static u32 senseless_tag(void)
{
	u32 tag = 1 + draw() % (KTR_SNAPSHOT - 1);

	return tag < KTR_CONTROL ? tag : tag + 1;
}

static void storm(void)
{
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		switch (draw() % 8) {
		case 0:		/* random from end to end */
			begin();
			fill(0);
			trigger();
			break;
		case 1:		/* begun twice */
			begin();
			fill(senseless_tag());
			begin();
			trigger();
			break;
		case 2:		/* not begun */
			fill(senseless_tag());
			trigger();
			break;
		case 3:		/* one store over both ends of a field */
			begin();
			fill(senseless_tag());
			*(u64 *)((char *)&record->trigger - 4) = draw();
			break;
		case 4:		/* stores that are too short */
			begin();
			*((char *)&record->begin + 3) = 1;
			fill(senseless_tag());
			*((char *)&record->trigger + 1) = 1;
			break;
		case 5:		/* a control that does not exist */
			begin();
			fill(KTR_CONTROL);
			record->arg[KTR_CONTROL_REQUEST] = 10 + draw() % 1000;
			trigger();
			break;
		default:	/* a valid head and tag, and no sense in the rest */
			begin();
			fill(senseless_tag());
			record->text_length %= KTR_TEXT + 1;
			be_honest();
			trigger();
		}
	}
	be_honest();
}

static int __init rubbish_init(void)
{
	char *pages = (char *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 1);
	unsigned long flags;

	if (!pages)
		return -ENOMEM;
	record = (struct kernel_trace_record *)pages;
	be_honest();
	local_irq_save(flags);
	if (!strcmp(mode, "magic")) {
		record->magic = 0x4b52504c;
		hello(record);
	} else if (!strcmp(mode, "size")) {
		record->size = 8;
		hello(record);
	} else if (!strcmp(mode, "nowhere")) {
		hello((void *)0xffff123400000000UL);
	} else if (!strcmp(mode, "crossing")) {
		record = (struct kernel_trace_record *)(pages + PAGE_SIZE - 64);
		be_honest();
		hello(record);
	} else if (!strcmp(mode, "half")) {
		/* the second and third word are taken for an address: of no memory */
		outl(KTR_GOODBYE, KTR_PORT);
		outl(KTR_HELLO, KTR_PORT);
		outl(KTR_HELLO, KTR_PORT);
		outl(KTR_HELLO, KTR_PORT);
	} else {
		hello(record);
		if (!strcmp(mode, "open"))
			begin();
		else if (strcmp(mode, "freed"))
			storm();
	}
	local_irq_restore(flags);
	if (!strcmp(mode, "freed"))
		free_pages((unsigned long)pages, 1);
	pr_info("rubbish: done\n");
	return 0;
}

static void __exit rubbish_exit(void)
{
}

module_init(rubbish_init);
module_exit(rubbish_exit);

MODULE_DESCRIPTION("Writes nonsense into a kernel_trace_record");
MODULE_LICENSE("GPL");
