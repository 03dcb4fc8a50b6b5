// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost: measure the cost that KTAU adds to system calls, page faults, interrupts, switches and
 * forks, in ticks of the cycle counter. Under QEMU's -icount, on one CPU, these are instructions,
 * the same in each run. On arm64 this requires a generic timer of 1 GHz.
 *
 *	cost [bare|MODULE]
 *
 * Prints "figure<TAB>NAME<TAB>VALUE<TAB>instructions". The figures bare_* are the costs as the
 * kernel is. A kernel without KTAU, and the word "bare", give only these. Otherwise, KTAU must not
 * have been enabled before; that state is the baseline, so its two nops for each pair of hooks
 * only count in the difference between the figures bare_* of the two kernels. MODULE is the file of
 * a module whose handler does nothing, which is loaded for the figures hit_*. The figures user_*
 * are those of libktau-user in user mode.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <ktau_user.h>
#include <linux/ktau.h>

/* A batch is short compared with the timer's period: most have no timer interrupt. */
#define CALLS 1000
#define BATCHES 100

/* Number of calls that are timed one by one; the figure is that of the cheapest. */
#define SINGLES 1000
/* Calls before these, which are not timed. */
#define WARM_UP 20

/* Tasks that wait for the CPU during switches and forks. */
#define NR_BUSY 2

/* New tasks whose interrupts are measured. */
#define NR_NEW 5

/* An interrupt comes within this time, in nanoseconds; it is awaited for twice as long. */
#define SHOT 20000

#define CONTROL "/proc/ktau/control"
#define HOOKS "/proc/ktau/hooks"

static char *page;
static int empty_pipe; /* a pipe that does not block, without data */
static int to_child, from_child; /* pipes to and from a task that returns each byte */
static int udp; /* connected to itself */
static int timer;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void schedule_as(int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(0, policy, &param))
		die("cost: sched_setscheduler");
}

static uint64_t counter(void)
{
#ifdef __aarch64__
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
#else
	return __rdtsc();
#endif
}

/* Not through the C library, whose instructions would count. */
static void call(void)
{
#ifdef __aarch64__
	register long nr __asm__("x8") = SYS_getppid;
	register long result __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(result) : "r"(nr) : "memory");
#else
	long nr = SYS_getppid;

	__asm__ volatile("syscall"
			 : "+a"(nr)
			 :
			 : "rcx", "r11", "memory");
#endif
}

static void fault(void)
{
	madvise(page, 4096, MADV_DONTNEED);
	*(volatile char *)page = 1;
}

/* pipe_read() is a frame of the group "wait" inside the system call. */
static void nested(void)
{
	char byte;

	if (read(empty_pipe, &byte, 1) >= 0)
		die("cost: a pipe has data");
}

/* Two wakeups, two switches and four system calls, of which two sleep. */
static void round_trip(void)
{
	char byte = 0;

	if (write(to_child, &byte, 1) != 1 || read(from_child, &byte, 1) != 1)
		die("cost: pipe");
}

/* The softirq of received packets and its poll function run inside send(). */
static void packet(void)
{
	char byte = 0;

	if (send(udp, &byte, 1, 0) != 1 || recv(udp, &byte, 1, MSG_DONTWAIT) != 1)
		die("cost: loopback");
}

/* Without a copy of the address space, whose pages differ from run to run. */
static void fork_exit(void)
{
	pid_t pid = vfork();

	if (pid < 0)
		die("cost: vfork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die("cost: waitpid");
}

/* Ticks for one call of @what, from the cheapest batch. */
static double batches(void (*what)(void))
{
	uint64_t best = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t ticks = counter();

		for (int i = 0; i < CALLS; i++)
			what();
		ticks = counter() - ticks;
		if (ticks < best)
			best = ticks;
	}
	return (double)((best + CALLS / 2) / CALLS);
}

/*
 * Ticks for the cheapest call of @what, without the first calls: the first traced round trip takes
 * less than all others in some boots.
 */
static double single(void (*what)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < WARM_UP; i++)
		what();
	for (int i = 0; i < SINGLES; i++) {
		uint64_t ticks = counter();

		what();
		ticks = counter() - ticks;
		if (ticks < best)
			best = ticks;
	}
	return (double)best;
}

/* Start tasks that never sleep. */
static void start_busy(pid_t *busy)
{
	for (int i = 0; i < NR_BUSY; i++) {
		busy[i] = fork();
		if (busy[i] < 0)
			die("cost: fork");
		while (!busy[i])
			;
	}
}

static void stop_busy(const pid_t *busy)
{
	for (int i = 0; i < NR_BUSY; i++)
		if (kill(busy[i], SIGKILL) || waitpid(busy[i], NULL, 0) != busy[i])
			die("cost: kill");
}

/*
 * Ticks for the cheapest call of @what, after @warm_up calls, as SCHED_FIFO, so that the fair
 * scheduler does not choose the next task. add_nr_running() takes up to 6 instructions more while
 * fewer than two other tasks wait for the CPU, and a task of the kernel may do so in some boots
 * only. So two always do.
 */
static double as_fifo(void (*what)(void), int warm_up)
{
	pid_t busy[NR_BUSY];
	double best;

	start_busy(busy);
	schedule_as(SCHED_FIFO);
	for (int i = 0; i < warm_up; i++)
		what();
	best = single(what);
	schedule_as(SCHED_OTHER);
	stop_busy(busy);
	return best;
}

/* @what switches to child(), which has the same priority: neither preempts the other. */
static double switches(void (*what)(void))
{
	return as_fifo(what, 0);
}

/*
 * After fewer calls than these, the allocator's lists and the queue of exited tasks still change
 * from call to call.
 */
static double forks(void (*what)(void))
{
	return as_fifo(what, SINGLES);
}

static bool timer_runs(void)
{
	struct itimerspec left;

	if (timerfd_gettime(timer, &left))
		die("cost: timerfd_gettime");
	return left.it_value.tv_sec || left.it_value.tv_nsec;
}

/*
 * The longest distance between two readings of the counter while a timer expires after @ns;
 * UINT64_MAX if it has not expired between any two.
 */
static uint64_t longest_gap(long ns)
{
	const struct itimerspec shot = { .it_value.tv_nsec = ns };
	uint64_t start, last, now, longest = 0;

	if (timerfd_settime(timer, 0, &shot, NULL))
		die("cost: timerfd_settime");
	if (!timer_runs())
		return UINT64_MAX;
	start = last = counter();
	do {
		now = counter();
		if (now - last > longest)
			longest = now - last;
		last = now;
	} while (now - start < (uint64_t)2 * SHOT);
	return timer_runs() ? UINT64_MAX : longest;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/*
 * Ticks for an interrupt from user mode with the callback of one hrtimer: the median, because a few
 * gaps are longer, when the timer of the scheduler expires at the same time, and a few are shorter,
 * depending on the instruction of the loop that is interrupted.
 */
static double interrupt(void (*what)(void))
{
	static uint64_t gaps[SINGLES];

	(void)what;	/* the timer, armed by longest_gap() */
	for (int i = 0; i < SINGLES; i++)
		gaps[i] = longest_gap(SHOT + i);
	qsort(gaps, SINGLES, sizeof(*gaps), compare);
	return (double)gaps[SINGLES / 2];
}

/*
 * The same for the cheapest of some new tasks. With the account, what was interrupted is found in a
 * list of events, in the order in which this task was first interrupted or slept inside them. Each
 * event before that of user mode takes 6 instructions; most new tasks have none.
 */
static double interrupt_of_new(void (*what)(void))
{
	double best = 0, ticks;
	int ends[2], status;

	if (pipe2(ends, O_CLOEXEC))
		die("cost: pipe");
	for (int i = 0; i < NR_NEW; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cost: fork");
		if (!pid) {
			ticks = interrupt(what);
			_exit(write(ends[1], &ticks, sizeof(ticks)) != sizeof(ticks));
		}
		if (waitpid(pid, &status, 0) != pid || status ||
		    read(ends[0], &ticks, sizeof(ticks)) != sizeof(ticks))
			die("cost: a new task");
		if (!i || ticks < best)
			best = ticks;
	}
	close(ends[0]);
	close(ends[1]);
	return best;
}

static void control(const char *words)
{
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, words, strlen(words)) < 0) {
		fprintf(stderr, "cost: cannot write \"%s\" to " CONTROL ": %s\n", words,
			strerror(errno));
		exit(1);
	}
	close(fd);
}

enum load_id {
	CALL,
	FAULT,
	NESTED,
	ROUND_TRIP,
	PACKET,
	INTERRUPT,
	INTERRUPT_OF_NEW,
	FORK_EXIT,
	NR_LOADS
};

/* What is measured, and how. */
static struct load {
	const char *name;
	void (*what)(void);
	double (*how)(void (*what)(void));
	double bare;
} loads[NR_LOADS] = {
	[CALL] = { "getppid", call, batches, 0 },
	[FAULT] = { "page_fault", fault, single, 0 },
	[NESTED] = { "read", nested, single, 0 },
	[ROUND_TRIP] = { "round_trip", round_trip, switches, 0 },
	[PACKET] = { "packet", packet, single, 0 },
	[INTERRUPT] = { "interrupt", NULL, interrupt, 0 },
	[INTERRUPT_OF_NEW] = { "interrupt_of_new", NULL, interrupt_of_new, 0 },
	[FORK_EXIT] = { "fork_exit", fork_exit, forks, 0 },
};

/*
 * A measurement, with the words that are written to control before. One named "-" is the baseline
 * of the next.
 */
struct step {
	const char *name;
	const char *words;
	enum load_id load;
	double hooks; /* the added cost is divided by this number */
};

static const struct step steps[] = {
	{ "syscall_pair_profile", "groups=syscall", CALL, 1 },
	{ "syscall_pair_profile_trace", "trace=on", CALL, 1 },
	{ "fault_pair_profile", "trace=off groups=exception", FAULT, 1 },
	{ "fault_pair_profile_trace", "trace=on", FAULT, 1 },
	{ "-", "trace=off groups=syscall", NESTED, 1 },
	{ "nested_profile", "groups=syscall,wait", NESTED, 1 },
	{ "-", "trace=on groups=syscall", NESTED, 1 },
	{ "nested_traced", "groups=syscall,wait", NESTED, 1 },
	{ "switch_pair", "trace=off groups=sched", ROUND_TRIP, 1 },
	{ "switch_pair_traced", "trace=on", ROUND_TRIP, 1 },
	{ "switch_pair_syscalls", "trace=off groups=sched,syscall", ROUND_TRIP, 1 },
	{ "softirq_pair", "groups=bh", PACKET, 1 },
	{ "softirq_pair_traced", "trace=on", PACKET, 1 },
	{ "irq_pair", "trace=off groups=irq", INTERRUPT, 1 },
	{ "irq_pair_traced", "trace=on", INTERRUPT, 1 },
	{ "irq_hrtimer", "trace=off groups=irq,bh", INTERRUPT, 1 },
	{ "fork_exit", "groups=syscall,exception,sched", FORK_EXIT, 1 },
	{ "fork_exit_trace", "trace=on", FORK_EXIT, 1 },
	{ "irq_unselected", "trace=off groups=irq filter=pid:", INTERRUPT, 1 },
	{ "hook_unselected", "trace=off groups=syscall filter=pid:", CALL, 2 },
	{ "hook_off_again", "groups=none filter=none", CALL, 2 },
	{ "irq_off_again", "groups=none", INTERRUPT, 1 },
	{ "switch_off_again", "groups=none", ROUND_TRIP, 1 },
	{ "syscall_pair_account", "groups=syscall,account", CALL, 1 },
	{ "fault_pair_account", "groups=exception,syscall,account", FAULT, 1 },
	{ "irq_pair_account", "groups=irq,account", INTERRUPT_OF_NEW, 1 },
	{ "switch_pair_account", "groups=sched,syscall,account", ROUND_TRIP, 1 },
};

/*
 * The same while the handler of a module listens to some types of hits, bits of KTAU_HIT_*. A step
 * named "-" is the baseline of those after it.
 */
static const struct hit_step {
	const char *name;
	const char *words;
	const char *types;
} hit_steps[] = {
	{ "-", "groups=syscall", NULL },
	{ "hit_none", "groups=syscall", "types=4" },
	{ "hit_stop", "groups=syscall", "types=2" },
	{ "hit_pair", "groups=syscall", "types=3" },
	{ "-", "trace=on", NULL },
	{ "hit_pair_traced", "trace=on", "types=3" },
};

/* The same for a thread that has regions, in region @region; less the bare cost. */
static const struct region_step {
	const char *name;
	const char *words;
	enum load_id load;
	uint32_t region;
} region_steps[] = {
	{ "region_outside", "trace=off groups=syscall", CALL, 0 },
	{ "region_pair", "groups=syscall", CALL, 1 },
	{ "region_pair_traced", "trace=on groups=syscall", CALL, 1 },
	{ "region_pair_account", "trace=off groups=syscall,account", CALL, 1 },
	{ "region_irq", "groups=irq", INTERRUPT, 1 },
};

/* The same for the function of a system call, hooked at run time. */
static const struct step function_steps[] = {
	{ "-", "groups=func", CALL, 1 },
	{ "function_pair", "hook=__x64_sys_getppid", CALL, 1 },
	{ "-", "unhook=__x64_sys_getppid", CALL, 1 },
	{ "function_pair_traced", "trace=on hook=__x64_sys_getppid", CALL, 1 },
	{ "-", "trace=off unhook=__x64_sys_getppid groups=syscall", CALL, 1 },
	{ "function_nested", "groups=syscall,func hook=__x64_sys_getppid", CALL, 1 },
	{ "-", "groups=func unhook=__x64_sys_getppid filter=pid:", CALL, 1 },
	{ "function_unselected", "hook=__x64_sys_getppid", CALL, 1 },
	{ "-", "filter=none unhook=__x64_sys_getppid groups=none", CALL, 1 },
	{ "function_unhooked", "groups=func", CALL, 1 },
};

static void show(const char *name, double value)
{
	printf("figure\t%s\t%g\tinstructions\n", name, value);
}

static double cost(const struct load *load)
{
	return load->how(load->what);
}

/* The other end of round_trip(). */
static _Noreturn void child(int in, int out)
{
	char byte;

	schedule_as(SCHED_FIFO);
	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

static void measure(const struct step *step, size_t nr)
{
	double added, less = 0;

	for (; nr--; step++) {
		const struct load *load = &loads[step->load];

		control(step->words);
		added = (cost(load) - load->bare) / step->hooks;
		if (step->name[0] == '-') {
			less = added;
			continue;
		}
		show(step->name, added - less);
		less = 0;
	}
}

/* What a handler adds to a system call, beside what KTAU adds. */
static void hits(const char *module)
{
	const struct load *load = &loads[CALL];
	double without = 0;
	int fd;

	fd = open(module, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(module);
	for (size_t i = 0; i < sizeof(hit_steps) / sizeof(*hit_steps); i++) {
		const struct hit_step *step = &hit_steps[i];

		control(step->words);
		if (!step->types) {
			without = cost(load);
			continue;
		}
		if (syscall(SYS_finit_module, fd, step->types, 0))
			die("cost: finit_module");
		show(step->name, cost(load) - without);
		if (syscall(SYS_delete_module, "ktau_empty", O_NONBLOCK))
			die("cost: delete_module");
	}
	close(fd);
}

static void regions(void)
{
	struct ktau_regions args = { .size = sizeof(args) };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC), area;
	volatile uint32_t *region;

	control("groups=syscall");
	area = fd < 0 ? -1 : ioctl(fd, KTAU_IOC_REGIONS, &args);
	if (area < 0)
		die("cost: KTAU_IOC_REGIONS");
	region = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, area, 0);
	if (region == MAP_FAILED)
		die("cost: mmap");
	for (size_t i = 0; i < sizeof(region_steps) / sizeof(*region_steps); i++) {
		const struct region_step *step = &region_steps[i];

		control(step->words);
		*region = step->region;
		show(step->name, cost(&loads[step->load]) - loads[step->load].bare);
		*region = 0;
	}
	control("groups=syscall");
	munmap((void *)region, getpagesize());
	close(area);
	close(fd);
}

static struct ktau_user_point point = { "cost", 0 };

static void user_scope(void)
{
	struct ktau_user_frame frame;

	ktau_user_enter(&frame, &point);
	ktau_user_exit(&frame);
}

static void user_read(void)
{
	uint64_t count;

	ktau_user_read(SYS_getppid, &count, NULL, NULL);
}

static void user_read_region(void)
{
	uint64_t count;

	ktau_user_read_region(SYS_getppid, &count, NULL, NULL);
}

/* The instructions of the library, in a child because the library gives the thread an area. */
static void user(void)
{
	struct ktau_user_frame frame;

	fflush(stdout);
	switch (fork()) {
	case -1:
		die("cost: fork");
	case 0:
		break;
	default:
		wait(NULL);
		return;
	}
	setenv("KTAU_USER_DIR", "/run", 1);
	user_scope();
	if (!ktau_user_is_mapped())
		die("cost: the figures are not mapped");
	show("user_scope", batches(user_scope));
	ktau_user_enter(&frame, &point);
	call();
	show("user_read", batches(user_read));
	show("user_read_region", batches(user_read_region));
	ktau_user_exit(&frame);
	exit(0);
}

static void open_pipes(void)
{
	int there[2], back[2], empty[2];

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC) ||
	    pipe2(empty, O_CLOEXEC | O_NONBLOCK))
		die("cost: pipe");
	empty_pipe = empty[0];
	to_child = there[1];
	from_child = back[0];
	switch (fork()) {
	case -1:
		die("cost: fork");
	case 0:
		close(there[1]); /* the parent's end is the only one, so its exit ends the child */
		child(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
}

static void prepare(void)
{
	struct sockaddr_in self = { .sin_family = AF_INET };
	socklen_t length = sizeof(self);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("cost: mmap");
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer < 0)
		die("cost: timerfd_create");
	self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (udp < 0 || bind(udp, (struct sockaddr *)&self, sizeof(self)) ||
	    getsockname(udp, (struct sockaddr *)&self, &length) ||
	    connect(udp, (struct sockaddr *)&self, sizeof(self)))
		die("cost: socket");
	open_pipes();
}

int main(int argc, char **argv)
{
	const bool bare = argc == 2 && !strcmp(argv[1], "bare");
	const bool ktau = !bare && access(CONTROL, F_OK) == 0;
	char name[64];

	if (argc > 2) {
		fprintf(stderr, "usage: cost [bare|MODULE]\n");
		return 2;
	}
	prepare();
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		loads[i].bare = cost(&loads[i]);
		snprintf(name, sizeof(name), "bare_%s", loads[i].name);
		show(name, loads[i].bare);
	}
	if (ktau)
		measure(steps, sizeof(steps) / sizeof(*steps));
	if (ktau && !access(HOOKS, F_OK))
		measure(function_steps, sizeof(function_steps) / sizeof(*function_steps));
	if (ktau && argc == 2)
		hits(argv[1]);
	if (ktau) {
		user();
		regions();
	}
	return 0;
}
