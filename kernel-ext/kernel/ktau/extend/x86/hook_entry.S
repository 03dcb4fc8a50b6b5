/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the trampoline of hooked functions on x86-64.
 *
 * At the beginning of a hooked function, ftrace patches in a call to the stub of its event. The
 * stack then contains the address after that call and, above it, the return address of the
 * function; the arguments are in registers. The trampoline opens a frame on the stack, calls
 * the rest of the function, closes the frame, and returns to the caller of the function. This
 * code is never freed, so a task may sleep in a function while it is unhooked.
 *
 * A function with arguments on the stack would not find them, so hook_types.c rejects it.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

#include "extend/x86/hook_offsets.h"

#ifdef X86_current_task
#define CURRENT PER_CPU_VAR(pcpu_hot + X86_current_task)
#else
#define CURRENT PER_CPU_VAR(current_task)
#endif

/* On the stack: the frame, then the arguments, which the result overwrites later. */
#define ARGS	FRAME_BYTES
#define SIZE	(ARGS + 6 * 8)

	.text

/*
 * Call the address in %r11, which is in a hooked function, after its call to the stub. This
 * uses a return, because an indirect call would need a retpoline, or an endbr at that address.
 */
SYM_FUNC_START_LOCAL(hook_call)
	pushq	%r11
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(hook_call)

/* The common part of the stubs of functions with up to \nr words of arguments; %eax: the id. */
.macro trampoline name:req nr:req
SYM_FUNC_START_LOCAL(\name)
	movq	CURRENT, %r11
	testl	$GROUP_FUNC, TASK_MASK(%r11)
	jnz	.Lselected\@
	RET

.Lselected\@:
	subq	$SIZE, %rsp
	movq	%rdi, ARGS(%rsp)
	movq	%rsi, ARGS + 8(%rsp)
	.if	\nr > 2
	movq	%rdx, ARGS + 16(%rsp)
	movq	%rcx, ARGS + 24(%rsp)
	movq	%r8, ARGS + 32(%rsp)
	movq	%r9, ARGS + 40(%rsp)
	.endif
	movl	%eax, FRAME_INFO(%rsp)
	movq	%r11, %rdi
	movq	%rsp, %rsi
	call	ktau_hook_enter
	movq	ARGS(%rsp), %rdi
	movq	ARGS + 8(%rsp), %rsi
	.if	\nr > 2
	movq	ARGS + 16(%rsp), %rdx
	movq	ARGS + 24(%rsp), %rcx
	movq	ARGS + 32(%rsp), %r8
	movq	ARGS + 40(%rsp), %r9
	.endif
	movq	SIZE(%rsp), %r11
	call	hook_call
	movq	CURRENT, %rsi
	cmpq	%rsp, TASK_TOP(%rsi)
	jne	.Lclosed\@
	movq	%rax, ARGS(%rsp)
	movq	%rdx, ARGS + 8(%rsp)
	movq	%rsp, %rdi
	call	__ktau_exit_function
	movq	ARGS(%rsp), %rax
	movq	ARGS + 8(%rsp), %rdx
.Lclosed\@:
	addq	$SIZE + 8, %rsp		/* skip the return to the function */
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(\name)
.endm

trampoline hook_few FEW_ARGS
trampoline hook_many 6

/* A stub for each event that a function can have. */
.macro stubs name:req
.Lid = ID_FUNCTION
	.rept	NR_STUBS
	UNWIND_HINT_FUNC
	movl	$.Lid, %eax
	jmp	\name
	.balign	STUB_BYTES, 0xcc
.Lid = .Lid + 1
	.endr
.endm

	.balign	STUB_BYTES
SYM_CODE_START(ktau_hook_stubs)
	ANNOTATE_NOENDBR
	stubs	hook_few
	stubs	hook_many
SYM_CODE_END(ktau_hook_stubs)
