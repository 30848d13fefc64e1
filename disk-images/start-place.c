/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start-program: the machine that its program finds: disks, file systems, loopback, memory. */
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "start-program.h"

#define PATIENCE 3000	/* hundredths of a second of the guest's, until a drive is there */

enum drive { OUTPUT, DISK, SWAP };

/*
 * Is this one of sysfs' block devices that drive?  Its device is called
 * HOST:CHANNEL:TARGET:LUN: a host is a cable, and its targets are master and slave.
 */
static bool is_drive(const char *name, enum drive drive)
{
	static const char *const place[] = {
		[OUTPUT] = "/0:0:1:0", [DISK] = "/1:0:0:0", [SWAP] = "/1:0:1:0",
	};
	char link[300], device[300];
	ssize_t length;
	size_t end;

	snprintf(link, sizeof(link), "/sys/block/%s/device", name);
	length = readlink(link, device, sizeof(device) - 1);
	if (strncmp(name, "sd", 2) != 0 || length < 0)
		return false;
	device[length] = '\0';
	end = strlen(place[drive]);
	return (size_t)length > end && strcmp(device + length - end, place[drive]) == 0;
}

/*
 * Linux looks for drives in threads of its own, and names them in the order in which they
 * answer: so a drive is known by its place, and is waited for.
 */
static void find_drive(char path[300], enum drive drive)
{
	static const char *const what[] = {
		[OUTPUT] = "the disk for output", [DISK] = "the disk", [SWAP] = "the swap disk",
	};

	for (int i = 0; i < PATIENCE; i++) {
		DIR *directory = opendir("/sys/block");
		const struct dirent *entry;
		bool found = false;

		while (directory && !found && (entry = readdir(directory))) {
			snprintf(path, 300, "/dev/%s", entry->d_name);
			found = is_drive(entry->d_name, drive) && access(path, F_OK) == 0;
		}
		if (directory)
			closedir(directory);
		if (found)
			return;
		usleep(10000);
	}
	errno = ENODEV;
	fail("%s", what[drive]);
}

void await_drives(void)
{
	char path[300];

	find_drive(path, OUTPUT);
	find_drive(path, DISK);
}

static void mount_at(const char *what, const char *where, const char *type, unsigned long flags)
{
	if (mkdir(where, 0755) < 0 && errno != EEXIST)
		fail("%s", where);
	if (mount(what, where, type, flags, NULL) < 0)
		fail("mount %s", where);
}

/*
 * Its node goes: a program that is root and takes disks as it finds them is not to find this
 * one.  And what we know of it is ours alone: to our children, which others may look into, it
 * is all zeros.
 */
struct output *begin_output(void)
{
	struct output *output = mmap(NULL, sizeof(*output), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char disk[300];

	find_drive(disk, OUTPUT);
	if (output == MAP_FAILED || madvise(output, sizeof(*output), MADV_WIPEONFORK) < 0 ||
	    !output_open(output, disk))
		fail("the disk for output");
	(void)unlink(disk);
	return output;
}

void begin_swap(void)
{
	char swap[300];

	find_drive(swap, SWAP);
	if (swapon(swap, 0) < 0)
		fail("swapon %s", swap);
}

void mount_all(void)
{
	char disk[300];

	find_drive(disk, DISK);
	mount_at(disk, ROOT, "ext4", 0);
	mount_at("sysfs", ROOT "/sys", "sysfs", 0);
	mount_at("/dev", ROOT "/dev", NULL, MS_BIND);
	mount_at("devpts", ROOT "/dev/pts", "devpts", 0);
	mount_at("tmpfs", ROOT "/dev/shm", "tmpfs", 0);
	mount_at("tmpfs", ROOT "/run", "tmpfs", 0);
	if (chmod(ROOT "/dev/shm", 01777) < 0)
		fail("/dev/shm");
	(void)symlink("/proc/self/fd", "/dev/fd");
	(void)symlink("/proc/self/fd/0", "/dev/stdin");
	(void)symlink("/proc/self/fd/1", "/dev/stdout");
	(void)symlink("/proc/self/fd/2", "/dev/stderr");
}

/* Of whoever calls: of a PID namespace its processes. */
void mount_proc(void)
{
	mount_at("proc", ROOT "/proc", "proc", 0);
}

/* The guest has no network but this. */
void begin_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		fail("loopback");
	close(fd);
}

/* What is on the disk is there when the machine is switched off. */
void unmount_all(void)
{
	static const char *const places[] = { "/run", "/dev/shm", "/dev/pts", "/dev", "/sys", "/proc" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), ROOT "%s", places[i]);
		(void)umount2(path, MNT_DETACH);
	}
	sync();
	if (umount(ROOT) < 0 && mount(NULL, ROOT, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
		fail("umount %s", ROOT);
}

/* What /proc/meminfo says, in KiB. */
static void read_memory(uint64_t *total, uint64_t *available)
{
	FILE *info = fopen("/proc/meminfo", "re");
	unsigned long long value;
	char line[128];

	*total = *available = 0;
	while (info && fgets(line, sizeof(line), info)) {
		if (sscanf(line, "MemTotal: %llu", &value) == 1)
			*total = value;
		if (sscanf(line, "MemAvailable: %llu", &value) == 1)
			*available = value;
	}
	if (!info || *available == 0)
		fail("/proc/meminfo");
	fclose(info);
}

/*
 * Take what is more than so many megabytes, for good: what a kernel has for itself depends on its
 * version, its modules and the machine, and only here it is known.
 */
void leave_memory(unsigned int megabytes, struct output *output)
{
	uint64_t wanted = (uint64_t)megabytes * 1024, total, available;

	read_memory(&total, &available);
	for (int i = 0; i < 3 && wanted != 0 && available > wanted; i++) {
		if (mmap(NULL, (size_t)(available - wanted) * 1024, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0) == MAP_FAILED)
			fail("%llu KiB of memory", (unsigned long long)(available - wanted));
		read_memory(&total, &available);
	}
	output->end.total = total;
	output->end.available = available;
}
