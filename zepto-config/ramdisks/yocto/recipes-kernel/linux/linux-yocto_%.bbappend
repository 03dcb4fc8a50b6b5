# SPDX-License-Identifier: GPL-2.0-only
# KTAU_QUEUE is the folder that "zepto-config/ramdisks/queue VERSION DIR" has written, for the
# version of the kernel that the machine uses.
FILESEXTRAPATHS:prepend := "${KTAU_QUEUE}:"

python () {
    import os
    queue = d.getVar('KTAU_QUEUE')
    if not queue or not os.path.exists(os.path.join(queue, 'ktau.cfg')):
        bb.fatal('KTAU_QUEUE is not a folder that zepto-config/ramdisks/queue has written')
    names = sorted(n for n in os.listdir(queue) if n.endswith('.patch'))
    d.appendVar('SRC_URI', ''.join(' file://' + n for n in names + ['ktau.cfg']))
}
