# SPDX-License-Identifier: GPL-2.0-only
# KTAU_QUEUE is a directory written by "zepto-config/ramdisks/queue VERSION DIR" for the kernel
# version of the machine.
FILESEXTRAPATHS:prepend := "${KTAU_QUEUE}:"

python () {
    import os
    queue = d.getVar('KTAU_QUEUE')
    if not queue or not os.path.exists(os.path.join(queue, 'ktau.cfg')):
        bb.fatal('KTAU_QUEUE is not a directory written by zepto-config/ramdisks/queue')
    names = sorted(n for n in os.listdir(queue) if n.endswith('.patch'))
    d.appendVar('SRC_URI', ''.join(' file://' + n for n in names + ['ktau.cfg']))
}
