// SPDX-License-Identifier: LGPL-2.1-or-later
/* Load the BPF programs, and read what they have measured. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <ktau.h>

#include "bpf.h"
#include "include/ktau_bpf.h"
#include "ktau.skel.h"

#define CAP_SYS_ADMIN	21
#define CAP_PERFMON	38
#define CAP_BPF		39
#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define CALLS_EVENT	"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"
#define READ_BYTES	65536
#define CPU_RETRIES	1000
#define LIVE_RETRIES	10
#define SETTLE_TRIES	20
#define SETTLE_US	5000
#define GROUPS_OF_ACCOUNT (KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED | KTAU_GROUP_EXCEPTION)

/* The inode numbers of the initial namespaces are part of the kernel's interface. */
#define INITIAL_USER_NS	0xeffffffd
#define INITIAL_PID_NS	0xeffffffc

static const struct {
	const char *prefix;	/* of the names of programs */
	uint32_t group;
} program_groups[] = {
	{ "sys_", KTAU_GROUP_SYSCALL },
	{ "sched_switch", KTAU_GROUP_SCHED },
	{ "sched_waking", KTAU_GROUP_SCHED },
	{ "irq_handler_", KTAU_GROUP_IRQ },
	{ "local_timer_", KTAU_GROUP_IRQ },
	{ "reschedule_", KTAU_GROUP_IRQ },
	{ "call_function_", KTAU_GROUP_IRQ },
	{ "irq_work_", KTAU_GROUP_IRQ },
	{ "softirq_", KTAU_GROUP_BH },
	{ "signal_", KTAU_GROUP_SIGNAL },
	{ "page_fault_", KTAU_GROUP_EXCEPTION },
	{ "tcp_", KTAU_GROUP_TCP },
	{ "kvm_", KTAU_GROUP_KVM },
};

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The program's effective capabilities, or none if they cannot be read. */
static uint64_t capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (file)
		fclose(file);
	return caps;
}

static bool is_initial(const char *ns, ino_t initial)
{
	struct stat st;

	return stat(ns, &st) || st.st_ino == initial;
}

/*
 * The kernel checks the capabilities in its initial user namespace. The iterator shows only the
 * tasks of the reader's PID namespace, but the programs run for all tasks, and their records have
 * the pids of the initial namespace.
 */
static int check_namespaces(struct ktau__error *error)
{
	if (!is_initial("/proc/self/ns/user", INITIAL_USER_NS))
		return ktau__fail(error, -EPERM, "measuring by BPF requires CAP_BPF and "
				  "CAP_PERFMON in the initial user namespace");
	if (!is_initial("/proc/self/ns/pid", INITIAL_PID_NS))
		return ktau__fail(error, -EOPNOTSUPP, "measuring by BPF requires the initial PID "
				  "namespace: in another one, the tasks outside it cannot be read");
	return 0;
}

int ktau__bpf_check_rights(struct ktau__error *error)
{
	uint64_t caps = capabilities();
	bool bpf = caps >> CAP_BPF & 1, perfmon = caps >> CAP_PERFMON & 1;
	int err;

	if (caps >> CAP_SYS_ADMIN & 1)
		bpf = perfmon = true;
	if (!bpf || !perfmon)
		return ktau__fail(error, -EPERM, "measuring by BPF requires root, or CAP_BPF and "
				  "CAP_PERFMON: %s%s%s missing", bpf ? "" : "CAP_BPF",
				  bpf || perfmon ? "" : " and ",
				  perfmon ? " is" : bpf ? "CAP_PERFMON is" : "CAP_PERFMON are");
	err = check_namespaces(error);
	if (err)
		return err;
	if (access(BTF_FILE, R_OK))
		return ktau__fail(error, errno == ENOENT ? -EOPNOTSUPP : -errno,
				  "measuring by BPF requires a kernel with CONFIG_DEBUG_INFO_BTF: "
				  "cannot read " BTF_FILE ": %s", strerror(errno));
	return 0;
}

static uint32_t group_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(program_groups) / sizeof(*program_groups); i++)
		if (!strncmp(name, program_groups[i].prefix, strlen(program_groups[i].prefix)))
			return program_groups[i].group;
	return 0;
}

/*
 * Whether programs can be attached to a function. Some kernels have no ftrace, or do not permit it:
 * try it with a program that does nothing. EBUSY counts as permission: the function has another
 * trampoline. attach() then fails, instead of the group being left out.
 */
static bool can_attach_to(const struct btf *btf, const char *function)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options), .expected_attach_type = BPF_TRACE_FENTRY,
	};
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC), program, link;

	if (id <= 0)
		return false;
	options.attach_btf_id = id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nothing", "GPL", nothing, 2, &options);
	if (program < 0)
		return false;
	link = bpf_raw_tracepoint_open(NULL, program);
	close(program);
	if (link >= 0)
		close(link);
	return link >= 0 || link == -EBUSY;
}

/* Whether this kernel has what the program would be attached to. */
static bool has_target(const struct btf *btf, const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	const char *target = strrchr(section, '/');
	char name[128];

	if (!target || !strncmp(section, "iter/", 5))
		return true;
	target++;
	if (strncmp(section, "tp", 2))
		return can_attach_to(btf, target);
	snprintf(name, sizeof(name), "btf_trace_%s", target);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* Whether the programs of tracepoints can be preempted: from Linux 7.0 on. */
static bool is_preemptible(void)
{
	struct utsname name;

	return !uname(&name) && atoi(name.release) >= 7;
}

/* Which of the pairs of programs for system calls this kernel, and these rights, permit. */
static const char *prefix_of_calls(void)
{
	if (!is_preemptible())
		return "sys_e";
	return access(CALLS_EVENT, R_OK) ? "sys_preemptible_" : "sys_perf_";
}

static bool is_chosen(const char *name)
{
	const char *prefix = prefix_of_calls();

	return strncmp(name, "sys_", 4) || !strncmp(name, prefix, strlen(prefix));
}

/*
 * The account follows from the frames of a task: no program belongs to it alone. Return: @groups
 * with those that it needs.
 */
static uint32_t add_needed(uint32_t groups)
{
	return groups & KTAU_GROUP_ACCOUNT ? groups | GROUPS_OF_ACCOUNT : groups;
}

static uint32_t with_account(uint32_t groups)
{
	return (groups & GROUPS_OF_ACCOUNT) == GROUPS_OF_ACCOUNT ? groups | KTAU_GROUP_ACCOUNT :
								   groups;
}

/* Return: 0, or -EOPNOTSUPP if one of @groups (unless all) has no program. */
static int check_groups(const struct ktau__bpf *bpf, uint32_t groups, struct ktau__error *error)
{
	uint32_t missing = groups == UINT32_MAX ? 0 : groups & ~bpf->groups;
	const char *name = ktau_group_name(missing & -missing);

	if (!missing)
		return 0;
	return ktau__fail(error, -EOPNOTSUPP, "measuring by BPF: group '%s' cannot be measured on "
			  "this kernel", name ? name : "?");
}

/*
 * The types of the kernel and of the module kvm, NULL if it is not loaded. libbpf finds the
 * module's only with CAP_SYS_ADMIN.
 */
static struct btf *types_with_kvm(struct btf *vmlinux)
{
	if (!(capabilities() >> CAP_SYS_ADMIN & 1))
		return NULL;
	return btf__load_module_btf("kvm", vmlinux);
}

/* The program of changes of a name only traces them. */
static bool is_of_trace(const char *name)
{
	return !strcmp(name, "task_rename");
}

/* Without kvm, no task is ever in a guest: the group is then none that could be measured. */
static int select_program(struct ktau__bpf *bpf, const struct btf *btf,
			  struct bpf_program *program, uint32_t groups)
{
	const char *name = bpf_program__name(program);
	uint32_t group = group_of(name);
	bool wanted = !group || group & groups;

	if (!bpf->traced && is_of_trace(name)) {
		bpf_program__set_autoload(program, false);
		return 0;
	}
	/* The target comes last, because the search may attach something to it. */
	wanted = wanted && is_chosen(name) && has_target(btf, program);
	if (!group && !wanted)
		return -EOPNOTSUPP;
	if (group != KTAU_GROUP_KVM || has_target(btf, program))
		bpf->groups_built |= group;
	bpf_program__set_autoload(program, wanted);
	if (wanted)
		bpf->groups |= group;
	return 0;
}

/* Select the programs to load. A missing target also removes its group, unless it has others. */
static int select_programs(struct ktau__bpf *bpf, uint32_t groups, struct ktau__error *error)
{
	struct btf *btf = btf__load_vmlinux_btf(), *kvm;
	struct bpf_program *program;
	int err = 0;

	if (!btf)
		return ktau__fail(error, -errno, "cannot read " BTF_FILE ": %s", strerror(errno));
	kvm = types_with_kvm(btf);
	groups = add_needed(groups);
	for (program = bpf_object__next_program(bpf->skeleton->obj, NULL); !err && program;
	     program = bpf_object__next_program(bpf->skeleton->obj, program)) {
		err = select_program(bpf, kvm ? kvm : btf, program, groups);
		if (err)
			ktau__fail(error, err, "measuring by BPF: this kernel has no place for the "
				   "program %s", bpf_program__name(program));
	}
	btf__free(kvm);
	btf__free(btf);
	bpf->groups = with_account(bpf->groups);
	bpf->groups_built = with_account(bpf->groups_built);
	return err ? err : check_groups(bpf, groups, error);
}

static int receive(void *context, void *data, size_t size)
{
	int err = ktau__exited_add(context, data, size);

	/* An invalid record is skipped; the records after it are still read. */
	return err == -EBADMSG ? 0 : err;
}

static int attach_all(struct ktau__bpf *bpf)
{
	struct bpf_object_skeleton *s = bpf->skeleton->skeleton;
	int i;

	for (i = 0; i < s->prog_cnt; i++) {
		if (!bpf_program__autoload(*s->progs[i].prog))
			continue;
		*s->progs[i].link = bpf_program__attach(*s->progs[i].prog);
		if (!*s->progs[i].link)
			return -errno;
	}
	return 0;
}

static bool has_unsettled(const struct ktau__buffer *live)
{
	struct ktau__bpf_task task;
	size_t at = 0, size;

	while ((size = ktau__bpf_next(live, at, &task))) {
		if (task.state->unsettled)
			return true;
		at += size;
	}
	return false;
}

/*
 * In which mode the tasks are that were running is known after their next event, which is the timer
 * tick at the latest, except on CPUs without a tick.
 */
static int await_settled(struct ktau__bpf *bpf)
{
	int err = ktau__bpf_read(bpf, 0), i;

	for (i = 0; !err && has_unsettled(&bpf->live) && i < SETTLE_TRIES; i++) {
		usleep(SETTLE_US);
		err = ktau__bpf_read(bpf, 0);
	}
	return err;
}

/* The programs do nothing until all of them are attached. */
static int attach(struct ktau__bpf *bpf, struct ktau__error *error)
{
	struct ktau_bpf *s = bpf->skeleton;
	int err = attach_all(bpf);

	if (!err) {
		s->bss->phase = KB_ACTIVATING;
		err = ktau__bpf_read(bpf, 0);
		s->bss->phase = KB_MEASURING;
	}
	if (!err)
		err = await_settled(bpf);
	return err ? ktau__fail(error, err, "cannot attach the BPF programs: %s", strerror(-err)) :
		     0;
}

/*
 * The number of tasks that this machine has, or 0 if that cannot be read: the number after the
 * slash in /proc/loadavg.
 */
static uint32_t count_tasks(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned int nr = 0;

	if (file && fscanf(file, "%*s %*s %*s %*u/%u", &nr) != 1)
		nr = 0;
	if (file)
		fclose(file);
	return nr;
}

/* At least four times as many slots as tasks, within limits: then few tasks share a slot. */
static int set_slots(struct ktau_bpf *s)
{
	uint32_t nr_tasks = count_tasks(), nr = KB_MIN_SLOTS;

	while (nr < KB_MAX_SLOTS && nr / 4 < nr_tasks)
		nr *= 2;
	s->rodata->slot_shift = 32 - __builtin_ctz(nr);
	return bpf_map__set_max_entries(s->maps.slots, nr);
}

static int set_rings(struct ktau__bpf *bpf)
{
	struct ktau_bpf *s = bpf->skeleton;
	uint64_t nr = (uint64_t)bpf->nr_cpus * bpf->trace.ring_slots;
	int err;

	if (!bpf->traced)
		return 0;
	if (nr > INT32_MAX)
		return -E2BIG;
	bpf->trace.nr_cpus = bpf->nr_cpus;
	err = bpf_map__set_max_entries(s->maps.rings, bpf->nr_cpus);
	return err ? err : bpf_map__set_max_entries(s->maps.trace, nr);
}

static size_t rings_bytes(const struct ktau__bpf *bpf)
{
	return bpf->nr_cpus * sizeof(struct kb_ring);
}

static size_t slots_bytes(const struct ktau__bpf *bpf)
{
	return (size_t)bpf->nr_cpus * bpf->trace.ring_slots * sizeof(struct kb_slot);
}

uint64_t ktau__bpf_idle_serial(const struct ktau__bpf *bpf, uint32_t cpu)
{
	return bpf->first_cpu_serial + 32768 + cpu;
}

/* The programs find in the rings where their slots are. */
static void fill_rings(const struct ktau__bpf *bpf, struct kb_ring *rings)
{
	uint32_t cpu;

	for (cpu = 0; cpu < bpf->nr_cpus; cpu++) {
		rings[cpu].base = cpu * bpf->trace.ring_slots;
		rings[cpu].mask = bpf->trace.ring_slots - 1;
		rings[cpu].idle_serial = ktau__bpf_idle_serial(bpf, cpu);
	}
}

static int map_rings(struct ktau__bpf *bpf)
{
	struct ktau_bpf *s = bpf->skeleton;
	void *rings, *slots;

	if (!bpf->traced)
		return 0;
	rings = mmap(NULL, rings_bytes(bpf), PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_map__fd(s->maps.rings), 0);
	if (rings == MAP_FAILED)
		return -errno;
	bpf->trace.rings = rings;
	slots = mmap(NULL, slots_bytes(bpf), PROT_READ, MAP_SHARED, bpf_map__fd(s->maps.trace), 0);
	if (slots == MAP_FAILED)
		return -errno;
	bpf->trace.slots = slots;
	fill_rings(bpf, rings);
	bpf->trace.start = now_ns(CLOCK_MONOTONIC);
	return ktau__trace_init(&bpf->trace);
}

static void unmap_rings(struct ktau__bpf *bpf)
{
	if (bpf->trace.rings)
		munmap((void *)bpf->trace.rings, rings_bytes(bpf));
	if (bpf->trace.slots)
		munmap((void *)bpf->trace.slots, slots_bytes(bpf));
	ktau__trace_free(&bpf->trace);
}

/* What is most often the reason why the kernel refuses the programs. */
static const char *why_not_loaded(int err)
{
	/* It looks through the modules for what a program may use if the kernel has it. */
	if (err == -EINVAL && !(capabilities() >> CAP_SYS_ADMIN & 1))
		return " (on kernels before 6.10, libbpf 1.1 requires CAP_SYS_ADMIN)";
	switch (err) {
	case -EPERM:
		return " (lockdown or a security module)";
	case -ENOENT:
		return " (the kernel must have CONFIG_KALLSYMS_ALL)";
	default:
		return "";
	}
}

static int load(struct ktau__bpf *bpf, struct ktau__error *error)
{
	struct ktau_bpf *s = bpf->skeleton;
	int nr_cpus = libbpf_num_possible_cpus(), err;

	if (nr_cpus < 0)
		return ktau__fail(error, nr_cpus, "cannot count the CPUs: %s", strerror(-nr_cpus));
	bpf->nr_cpus = nr_cpus;
	s->rodata->first_serial = bpf->first_serial;
	s->rodata->nr_cpus = nr_cpus;
	s->rodata->has_calls = !!(bpf->groups & KTAU_GROUP_SYSCALL);
	s->rodata->has_switches = !!(bpf->groups & KTAU_GROUP_SCHED);
	s->rodata->time_faults = bpf_program__autoload(s->progs.page_fault_user_exit);
	err = bpf_map__set_max_entries(s->maps.cpus, nr_cpus);
	if (!err)
		err = set_slots(s);
	if (!err)
		err = set_rings(bpf);
	if (!err)
		err = ktau_bpf__load(s);
	if (err)
		return ktau__fail(error, err, "cannot load the BPF programs: %s%s", strerror(-err),
				  why_not_loaded(err));
	err = map_rings(bpf);
	if (err)
		return ktau__fail(error, err, "cannot map the trace: %s", strerror(-err));
	err = attach(bpf, error);
	if (err)
		return err;
	bpf->ring = ring_buffer__new(bpf_map__fd(s->maps.exited), receive, &bpf->exited, NULL);
	return bpf->ring ? 0 : ktau__fail(error, -errno, "cannot read the exited tasks: %s",
					  strerror(errno));
}

static int start(struct ktau__bpf *bpf, uint32_t groups, struct ktau__error *error)
{
	int err;

	/*
	 * Serials start at the time in ns: they stay unique until the next boot, because
	 * no machine creates a task in each nanosecond.
	 */
	ktau__read_clocks(&bpf->start);
	bpf->first_cpu_serial = bpf->start.boottime_ns;
	bpf->first_serial = bpf->first_cpu_serial + 65536;
	ktau__exited_init(&bpf->exited, bpf->first_serial);
	bpf->trace_seq = bpf->first_serial;
	bpf->skeleton = bpf->traced ? ktau__bpf_open_traced() : ktau_bpf__open();
	if (!bpf->skeleton)
		return ktau__fail(error, -errno, "cannot open the BPF programs: %s",
				  strerror(errno));
	err = select_programs(bpf, groups, error);
	if (err)
		return err;
	return load(bpf, error);
}

int ktau__bpf_create(struct ktau__bpf **result, const struct ktau_bpf_options *options,
		     struct ktau__error *error)
{
	libbpf_print_fn_t before;
	struct ktau__bpf *bpf;
	int err;

	*result = NULL;
	err = ktau__bpf_check_rights(error);
	if (err)
		return err;
	bpf = calloc(1, sizeof(*bpf));
	if (!bpf)
		return ktau__fail(error, -ENOMEM, "%s", strerror(ENOMEM));
	bpf->users = 1;
	bpf->traced = options->ring_slots;
	bpf->trace.ring_slots = ktau__ring_size(options->ring_slots);
	before = libbpf_set_print(quiet);
	err = start(bpf, options->groups ? options->groups : UINT32_MAX, error);
	libbpf_set_print(before);
	if (err) {
		ktau__bpf_destroy(bpf);
		return err;
	}
	*result = bpf;
	return 0;
}

void ktau__bpf_share(struct ktau__bpf *bpf)
{
	bpf->users++;
}

void ktau__bpf_destroy(struct ktau__bpf *bpf)
{
	if (!bpf || --bpf->users)
		return;
	ring_buffer__free(bpf->ring);
	unmap_rings(bpf);
	ktau_bpf__destroy(bpf->skeleton);
	ktau__exited_free(&bpf->exited);
	ktau__buffer_free(&bpf->live);
	free(bpf);
}

static int read_iterator(int fd, struct ktau__buffer *buffer)
{
	ssize_t got;
	int err;

	for (;;) {
		err = ktau__buffer_reserve(buffer, buffer->size + READ_BYTES);
		if (err)
			return err;
		got = read(fd, buffer->data + buffer->size, READ_BYTES);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return got ? -errno : 0;
		buffer->size += got;
	}
}

size_t ktau__bpf_next(const struct ktau__buffer *live, size_t at, struct ktau__bpf_task *task)
{
	const size_t first = offsetof(struct kb_state, index);
	const uint8_t *data = live->data + at;
	size_t left = live->size - at, size = 0;
	uint32_t type;

	task->more = NULL;
	if (left >= sizeof(struct kb_more)) {
		memcpy(&type, data, sizeof(type));
		if (type == KB_RECORD_MORE) {
			task->more = (const void *)data;
			size = sizeof(struct kb_more);
		}
	}
	if (left - size < first)
		return 0;
	task->state = (const void *)(data + size);
	return task->state->type == KB_RECORD_LIVE ? size + first : 0;
}

bool ktau__bpf_is_torn(const struct ktau__bpf_task *task)
{
	return task->state->torn || (task->state->nr_cells > KB_NR_FIRST && !task->more);
}

static bool has_torn(const struct ktau__buffer *live)
{
	struct ktau__bpf_task task;
	size_t at = 0, size;

	while ((size = ktau__bpf_next(live, at, &task))) {
		if (ktau__bpf_is_torn(&task))
			return true;
		at += size;
	}
	return false;
}

static int read_live(struct ktau__bpf *bpf)
{
	int fd, err;

	bpf->live.size = 0;
	fd = bpf_iter_create(bpf_link__fd(bpf->skeleton->links.read_task));
	if (fd < 0)
		return -errno;
	err = read_iterator(fd, &bpf->live);
	close(fd);
	return err;
}

int ktau__bpf_read(struct ktau__bpf *bpf, uint32_t only_tgid)
{
	int err, i;

	bpf->skeleton->bss->only_tgid = only_tgid;
	/*
	 * A virtual CPU may be stopped in the middle of an update for longer than the iterator
	 * tries to copy the task.
	 */
	for (i = 0; i < LIVE_RETRIES; i++) {
		err = read_live(bpf);
		if (err || !has_torn(&bpf->live))
			break;
	}
	/* A task that exits between the two is in both; that is part of the interface. */
	if (!err && bpf->ring) {
		err = ring_buffer__consume(bpf->ring);
		err = err < 0 ? err : 0;
	}
	return err;
}

static bool is_settled(const struct kb_cpu *before, const struct kb_cpu *after)
{
	uint64_t odd = 0;
	int i;

	for (i = 0; i < KB_NR_CONTEXTS; i++) {
		odd |= before->seq[i] & 1;
		if (before->seq[i] != after->seq[i])
			return false;
	}
	return !odd && before->now.hard_start == after->now.hard_start &&
	       before->now.soft_start == after->now.soft_start;
}

/* Interrupts leave long gaps, so two equal copies are found soon. */
int ktau__bpf_read_cpu(struct ktau__bpf *bpf, uint32_t cpu, struct kb_cpu *copy, uint64_t *ticks)
{
	int fd = bpf_map__fd(bpf->skeleton->maps.cpus), i;
	struct kb_cpu again;

	for (i = 0; i < CPU_RETRIES; i++) {
		if (bpf_map_lookup_elem(fd, &cpu, copy))
			return -errno;
		*ticks = now_ns(CLOCK_MONOTONIC);
		if (bpf_map_lookup_elem(fd, &cpu, &again))
			return -errno;
		if (is_settled(copy, &again))
			return 0;
	}
	return -EAGAIN;
}

const struct kb_losses *ktau__bpf_losses(const struct ktau__bpf *bpf)
{
	return &bpf->skeleton->bss->losses;
}

uint64_t ktau__bpf_missed(const struct ktau__bpf *bpf)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	for (program = bpf_object__next_program(bpf->skeleton->obj, NULL); program;
	     program = bpf_object__next_program(bpf->skeleton->obj, program)) {
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}
