// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks of other libraries, which LeakSanitizer does not report in programs that are linked with
 * this file. The sanitizer calls the functions; its header may be missing.
 */
const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}

/* OpenCSD does not free the object with the callback: the decode tree does not remember it. */
const char *__lsan_default_suppressions(void)
{
	return "leak:^ocsd_dt_set_gen_elem_outfn$\n";
}
