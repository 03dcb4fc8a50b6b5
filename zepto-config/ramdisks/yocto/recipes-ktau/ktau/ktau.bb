# SPDX-License-Identifier: GPL-2.0-only
SUMMARY = "Kernel TAU: per-task profiles of the kernel"
PV = "${@os.popen(d.getVar('KTAU_TOP') + '/tools/version').read().strip()}"
LICENSE = "GPL-2.0-only & GPL-2.0-or-later & LGPL-2.1-or-later"
LIC_FILES_CHKSUM = "file://LICENSES/GPL-2.0-only.txt;md5=e6a75371ba4d16749254a51215d13f97 \
                    file://LICENSES/GPL-2.0-or-later.txt;md5=e6a75371ba4d16749254a51215d13f97 \
                    file://LICENSES/LGPL-2.1-or-later.txt;md5=8c6e7513c570546f65ae570dae278c17"
DEPENDS = "zlib"

inherit externalsrc pkgconfig systemd

EXTERNALSRC = "${KTAU_TOP}"
B = "${WORKDIR}/build"
SYSTEMD_SERVICE:${PN} = "ktaud.service"

KTAU_OPTIONS = "B=${B} PREFIX=${prefix} SYSCONFDIR=${sysconfdir} HAVE_LIBELF=n HAVE_ZSTD=n \
                HAVE_BPF=n HAVE_NCURSES=n HAVE_SQLITE=n HAVE_OTF2=n \
                HAVE_INIH=n HAVE_OPENCSD=n HAVE_LIBIPT=n HAVE_BABELTRACE=n HAVE_TRACECMD=n HAVE_EXPAT=n \
                HAVE_NATS=n"

do_compile() {
	oe_runmake -C ${S} ${KTAU_OPTIONS} ${B}/ktaud/ktaud ${B}/ktaud/ship/ktaud-ship \
		${B}/tools/ktau/ktau
}

do_install() {
	install -D -m 0755 -t ${D}${sbindir} ${B}/ktaud/ktaud ${B}/ktaud/ship/ktaud-ship
	install -D -m 0755 -t ${D}${bindir} ${B}/tools/ktau/ktau
	install -D -m 0644 -t ${D}${sysconfdir} ${S}/ktaud/ktaud.conf
	install -d ${D}${systemd_system_unitdir}
	sed -e 's|@SBINDIR@|${sbindir}|' -e 's|@SYSCONFDIR@|${sysconfdir}|' \
		${S}/ktaud/ktaud.service.in > ${D}${systemd_system_unitdir}/ktaud.service
}
