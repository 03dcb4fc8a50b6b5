/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_DATA_H
#define CNK_DATA_H

#include "cnk/call.h"

/* Ship a call on a descriptor. */
cnk_handler cnk_read, cnk_pread, cnk_readv, cnk_preadv, cnk_preadv2;
cnk_handler cnk_write, cnk_pwrite, cnk_writev, cnk_pwritev, cnk_pwritev2;
cnk_handler cnk_lseek, cnk_ftruncate, cnk_fallocate, cnk_fsync, cnk_fdatasync, cnk_syncfs;
cnk_handler cnk_fadvise, cnk_getdents64, cnk_fchmod, cnk_fchown, cnk_fcntl;

#endif
