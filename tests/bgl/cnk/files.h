/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_FILES_H
#define CNK_FILES_H

#include "cnk/call.h"

int cnk_open_files(void);		/* an epoll descriptor for the watched ends; -errno */
struct cnk_file *cnk_find_file(pid_t pid, int fd);
int64_t cnk_add_file(const struct cnk_call *call, uint32_t remote, int flags);
void cnk_close_file(struct cnk_file *file);
void cnk_close_all_files(void);
extern int cnk_listener;

#endif
