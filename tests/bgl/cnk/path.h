/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_PATH_H
#define CNK_PATH_H

#include "cnk/call.h"

/* Ship a call on a path, or query the attributes of a file. */
cnk_handler cnk_open, cnk_openat, cnk_creat, cnk_stat, cnk_lstat, cnk_fstat, cnk_newfstatat;
cnk_handler cnk_statx, cnk_statfs, cnk_fstatfs, cnk_truncate, cnk_mkdir, cnk_mkdirat;
cnk_handler cnk_rmdir, cnk_unlink, cnk_unlinkat, cnk_rename, cnk_renameat2, cnk_link;
cnk_handler cnk_linkat, cnk_symlink, cnk_readlink, cnk_readlinkat, cnk_access, cnk_faccessat;
cnk_handler cnk_faccessat2, cnk_chmod, cnk_fchmodat, cnk_chown, cnk_lchown, cnk_fchownat;
cnk_handler cnk_utime, cnk_utimes, cnk_futimesat, cnk_utimensat;

#endif
