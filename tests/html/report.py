#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test the pages of ktau report --html in Chromium: figures, pictures, names, size and speed.

    report.py BUILD OUT     BUILD has the programs; files and screenshots go to OUT
"""

import csv
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
from xml.etree import ElementTree

from browser import Browser

BIG_TASKS, BIG_ROUNDS = 10000, 13
BIG_SLOTS = 1000000
VIEW_ROWS = 1000
MAX_BYTES, MAX_FIRST_VIEW, MAX_ZOOM = 40 << 20, 3.0, 200.0
PARTS = ("user", "kernel", "irq", "runq", "asleep", "guest")
HOSTILE = ("</script><b>x", "<img src=x>", "\x1b[31mred", "\ufffd\ufffd", "__proto__",
           "a\"b'c`d", "<!--", "$&\\u003c")

number = 0


def test(what, good, *details):
    """Print one line of TAP."""
    global number
    number += 1
    print(("ok" if good else "not ok") + " - " + what)
    if not good:
        for detail in details:
            print("#   " + str(detail)[:2000])
    sys.stdout.flush()
    return good


def same(what, got, wanted):
    return test(what, got == wanted, f"got  {got}", f"want {wanted}")


class Files:
    """Recorded files and their pages."""

    def __init__(self, build, out):
        self.ktau = build + "/tools/ktau/ktau"
        self.crowd = build + "/tests/unit/tools/crowd"
        self.sample = build + "/tests/unit/tools/sample"
        self.record_fixture = build + "/tests/unit/tools/record_fixture"
        self.out = out

    def path(self, name):
        return os.path.join(self.out, name)

    def record(self, name, *arguments):
        path = self.path(name + ".ktau")
        if os.path.exists(path):
            os.unlink(path)
        words = list(arguments)
        words.insert(1 if arguments and arguments[0] in ("machine", "hostile") else 0, path)
        subprocess.run([self.crowd] + words, check=True)
        return path

    def page(self, name, *options):
        page = self.path(name + ".html")
        subprocess.run([self.ktau, "report", "--html=" + page, *options,
                        self.path(name + ".ktau")], check=True)
        return page

    def json(self, name):
        text = subprocess.run(
            [self.ktau, "report", "--by=process", "--tables=account,processes,counters,losses",
             "--idle", "--format=json", self.path(name + ".ktau")],
            check=True, stdout=subprocess.PIPE).stdout
        return json.loads(text)


ROWS = """report.rows.map((row) => { routinesOf(row); return {
    name: row.name, pid: row.pid, tasks: row.tasks, life: row.life, measured: row.measured,
    parts: row.parts, routines: row.routines.map((r) => ({ ...r, name: report.events[r.event].name })),
}; })"""


def number_of(value):
    return None if value is None else int(value)


def test_figures(b, files):
    """Every figure of the page equals that of ktau report."""
    wanted = files.json("machine")
    rows = {row["pid"]: row for row in b.run(ROWS) if row["name"] != "(evicted)"}
    account = [row for row in wanted["account"] if row["name"] != "(evicted)"]
    bad = []
    for row in account:
        if row["name"] == "again" or row["name"] == "short":
            continue
        got = rows.get(int(row["pid"]))
        if not got or got["name"] != row["name"] or got["life"] != number_of(row["life_ns"]):
            bad.append((row, got))
            continue
        for i, part in enumerate(PARTS):
            want = number_of(row[part + "_ns"])
            if want is None and got["measured"] >> i & 1 or want not in (None, got["parts"][i]):
                bad.append((part, row, got))
    test("the account of each process equals that of ktau report", account and not bad, *bad)
    bad, compared = [], 0
    key = "processes" if "processes" in wanted else "routines"
    for row in wanted[key]:
        got = [r for r in rows.get(int(row["pid"]), {"routines": []})["routines"]
               if r["name"] == row["routine"]]
        if row["process"] in ("again", "short", "(evicted)"):
            continue
        compared += 1
        if len(got) != 1 or [got[0][k] for k in ("count", "incl", "excl")] != \
                [number_of(row[k]) for k in ("count", "incl_ns", "excl_ns")]:
            bad.append((row, got))
    test(f"the figures of each routine equal those of ktau report ({compared})", compared > 3 and not bad, *bad)
    losses = {row["name"]: int(row["value"]) for row in wanted["losses"] if int(row["value"])}
    same("the losses equal those of ktau report", b.run("Object.fromEntries(report.losses.map((l) => [l.name, l.value]))"),
         losses)


def test_machine(b, files):
    files.record("machine", "machine")
    b.open(files.page("machine"))
    same("the page has no errors and makes no network requests", b.problems(), [])
    test_figures(b, files)
    text = "[...document.querySelectorAll('#rows .row')].map((row) => row.textContent).join('\\n')"
    test("each process has a row, idle tasks have none",
         "server" in b.run(text) and "swapper" not in b.run(text), b.run(text))
    b.click("#rows .row")
    detail = b.run("document.getElementById('detail').textContent")
    test("a click on a row shows its routines", "sys_read" in detail and "Running" in detail, detail)
    b.run("document.getElementById('search').value = 'SLEEP';"
          "document.getElementById('search').dispatchEvent(new Event('input'))")
    same("the search ignores case",
         b.run("state.list.map((row) => row.name)"), ["sleeper"])
    b.run("setSearch('')")
    test_table(b)
    b.key("5")
    losses = b.run("document.getElementById('losses').textContent")
    test("losses are listed, with what to do", "lost_overwritten" in losses and "give the rings more slots" in losses, losses)
    b.key("3")
    test("a loss is a gap in the timeline", int(b.run("document.getElementById('line').dataset.gaps")) >= 1)
    lost = b.run("lossesByTask().map((l) => [l.line.tid, l.slots, l.line.gaps.length, l.ns])")
    test("the tasks that lost slots are listed", lost and all(f"{name} {tid}" in losses for name, tid in b.run(
        "lossesByTask().map((l) => [l.line.name, l.line.tid])")), lost, losses)
    test_texts(b)
    light = b.run("getComputedStyle(document.body).backgroundColor")
    b.click("#theme")
    dark = b.run("getComputedStyle(document.body).backgroundColor")
    test("the button selects the dark theme", light == "rgb(255, 255, 255)" and dark == "rgb(20, 24, 29)", light, dark)
    same("the views of the page have no errors", b.problems(), [])


def test_table(b):
    """The table of processes: its head, its order, and the axis above it."""
    edges = "[...document.querySelectorAll('%s > *')].map((cell) => Math.round(cell.getBoundingClientRect().%s))"
    for edge in ("left", "right"):
        same(f"the titles are over their columns ({edge})", b.run(edges % ("#head", edge)),
             b.run(edges % ("#rows .row:nth-child(2)", edge)))
    same("an arrow shows the order", b.run("document.querySelector('#head .sorted').textContent"), "CPU \u25be")
    b.click("#head .sorted")
    same("a click reverses it", b.run("document.querySelector('#head .sorted').textContent"), "CPU \u25b4")
    b.click("#head .sorted")
    test("the bars have a time axis", b.run("+document.getElementById('over').dataset.ticks") >= 2)
    same("no path is in the heading", b.run("report.meta.source"), "machine.ktau")


def test_texts(b):
    """Each view has a legend, and text can be read on the colour behind it, in both themes."""
    for theme in ("light", "dark"):
        b.run(f"setTheme('{theme}')")
        for view, name in enumerate(("processes", "flame", "time", "cpus"), 1):
            b.key(str(view))
            test(f"{theme}: the view {name} has a legend", b.run("document.querySelectorAll('#legend i').length") >= 5)
        b.key("2")
        poor = b.run("[...document.querySelectorAll('#frames div')].map((frame) => [frame.textContent,"
                     "...[getComputedStyle(frame).color, frame.style.background].map(luminance).sort((x, y) => x - y)])"
                     ".filter(([, dark, light]) => (light + 0.05) / (dark + 0.05) < 4.5)")
        same(f"{theme}: the text of each frame has a contrast of 4.5 or more", poor, [])
        poor = b.run("[...PARTS, 'gap'].map((name) => [colours[name], inkOn(colours[name])].map(luminance).sort((x, y) => x - y))"
                     ".filter(([dark, light]) => (light + 0.05) / (dark + 0.05) < 4.5)")
        same(f"{theme}: so has text on the other colours", poor, [])
    b.run("setTheme('light')")
    b.key("3")


def test_partly(b, files):
    """A task whose kernel time was not measured has no CPU time; its other parts are not added up."""
    subprocess.run([files.sample, files.out], check=True)
    page = files.path("partly.html")
    subprocess.run([files.ktau, "report", "--html=" + page, files.path("partly")], check=True)
    b.open(page)
    same("time on the CPU is shown only if user and kernel time were measured",
         b.run("[...document.querySelectorAll('#rows .row')].map((row) => [row.children[0].textContent, row.children[5].textContent])"),
         [["a\tb", "8.00 s"], ["partly", "n/a"]])
    same("a wait is named by what was waited in", b.run("report.rows.map(waitsMostIn)"), ["", "sys_read"])


def test_period(b, files):
    """A period within the trace: frames and gaps that begin before it begin with it."""
    page = files.path("period.html")
    subprocess.run([files.ktau, "report", "--html=" + page, "--from=+1",
                    "tests/unit/tools/data/recorded.ktau"], check=True)
    b.open(page)
    b.key("3")
    same("the page of a period has no errors", b.problems(), [])
    same("no frame is outside the period", b.run(
        "lines.list.filter((line) => line.bytes).reduce((sum, line) => sum + decode(line).depths.reduce((n, level) => n +"
        "level.start.filter((start, i) => start < 0 || level.end[i] > report.meta.length || level.end[i] < start).length, 0), 0)"), 0)


def user_trace(files, folder):
    """
    Write the trace of a program for the task of "machine" with most frames, all of them in the
    region "outer". Return: its tid, and the number of these frames.
    """
    text = subprocess.run([files.ktau, "export", "--json", "-o", "-", files.path("machine.ktau")],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    host = next(row for row in rows if row["table"] == "hosts")
    frames = [row for row in rows if row["table"] == "frames" and row["tid"]]
    serial = statistics.mode(row["serial"] for row in frames)
    frames = [row for row in frames if row["serial"] == serial]
    begin = min(int(row["start_ns"]) for row in frames) - 500
    end = max(int(row["start_ns"]) + int(row["duration_ns"]) for row in frames) + 500
    hz, boot = int(host["clock_hz"]), host["boot_id"]
    boot = "-".join((boot[:8], boot[8:12], boot[12:16], boot[16:20], boot[20:]))
    slots = [(begin, 0, 1, 1, 0), (begin + 100, 42, 0, 3, 0), (begin + 200, 99, 1, 4, 7),
             (end, 0, 0, 1, 0)]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "ktau-user-trace.h.1.1"), "wb") as file:
        file.write(struct.pack("<8sQQI36s", b"KTAUUTR1", int(serial), len(slots), 64, boot.encode()))
        for ns, *rest in slots + [(0, 0, 0, 0, 0)] * (64 - len(slots)):
            file.write(struct.pack("<QQHHi", ns * hz // 1000000000, *rest))
    with open(os.path.join(folder, "ktau-user.h.1.1"), "w", encoding="utf-8") as file:
        file.write(f"ktau-user 1\nboot {boot}\nserial {serial}\nregion 1 0 outer\n"
                   "event 0 step\nevent 1 send\n")
    return frames[0]["tid"], len(frames)


def test_users(b, files):
    """The regions and events of a program are in the timeline."""
    tid, frames = user_trace(files, files.path("users"))
    b.open(files.page("machine", "--region-names=" + files.path("users")))
    b.key("3")
    line = f"decode(lines.list.find((line) => line.tid === {tid} && line.bytes))"
    same("a region is around the routines",
         b.run(f"{line}.depths[0].event.map((e) => report.events[e].name + ' ' + report.events[e].group)"),
         ["outer user"])
    same("no routine is missing",
         b.run(f"{line}.depths.reduce((sum, level) => sum + level.event.length, 0)"), frames + 1)
    same("events of a program", b.run(f"{line}.marks.filter((m) => m.type >= USER.MARK && m.type < POINT).map(markText)"),
         ["step: 42", "send: 99 bytes, process 7"])
    same("the timeline with regions has no errors", b.problems(), [])


def test_recorded(b, files):
    """A file that ktaud wrote on a real kernel, with a dark colour scheme."""
    page = files.path("recorded.html")
    subprocess.run([files.ktau, "report", "--html=" + page,
                    "tests/unit/tools/data/recorded.ktau"], check=True)
    b.open(page, dark=True)
    same("a page of a real kernel has no errors", b.problems(), [])
    same("it follows the dark colour scheme", b.run("document.documentElement.dataset.theme"), "dark")
    for view in range(1, 6):
        b.key(str(view))
    same("all its views have no errors", b.problems(), [])


def name_regions(files):
    """Name the region of the first task of the crowd, as libktau-user does."""
    with open(files.path("ktau-user.crowd.100.100"), "w", encoding="utf-8") as file:
        file.write("ktau-user 1\nboot 0b0071d0-0102-0304-0506-0708090a0b0c\nserial 1000\n"
                   "pid 100\ntid 100\nregion 1 0 outer\nregion 1 0 twice\nregion 1 2 x\n")


def test_regions(b, files):
    """The figures of regions equal those of ktau report; the first row is still selected."""
    text = subprocess.run(
        [files.ktau, "report", "--regions", "--format=json", "--region-names=" + files.out,
         files.path("hostile.ktau")], check=True, stdout=subprocess.PIPE).stdout
    wanted = sorted([int(r["pid"]), r["region"], r["routine"], int(r["count"]), int(r["incl_ns"]),
                     int(r["excl_ns"])] for r in json.loads(text)["regions"])
    got = sorted(b.run("report.rows.flatMap((row) => (row.regions || []).map((r) => "
                       "[row.pid, r.path, report.events[r.event].name, r.count, r.incl, r.excl]))"))
    test("every task has regions", len({r[0] for r in got}) == 16, got)
    same("the figures of regions equal those of ktau report", got, wanted)
    test("one task has a region with a name", {r[1] for r in got} == {"outer", "region 1"}, got)
    b.run("state.selected = report.rows.find((row) => row.regions[0].path === 'outer');"
          "state.selected.regions.push({ ...state.selected.regions[0], path: 'outer => <b>in</b>' });"
          "drawDetail()")
    same("regions are a tree, with names as text",
         b.run("[...document.querySelectorAll('details.region')].map((d) => [d.parentNode.className,"
               "d.firstElementChild.textContent.split('  ')[0]])"),
         [["detail", "outer"], ["region", "<b>in</b>"]])


def test_points(b, files):
    """Segments of TCP and others are marks, with what is known of them."""
    subprocess.run([os.path.join(os.path.dirname(files.crowd), "sample"), files.out], check=True)
    b.open(files.page("good"))
    b.key("3")
    same("segments of TCP, names, control groups and virtual CPUs are marks",
         b.run("decode(lines.list.find((line) => line.bytes && line.name === 'server')).marks.map(markText)"),
         ["net_send 10.0.0.1:5001 to 10.0.0.2:40000, 1000 bytes", "net_recv 10.0.0.1:5001 to [2001:db8::2]:40000, 1000 bytes",
          "fork of server 301", "comm ser\nver", "cgroup /user.slice/a", "exec", "kvm_enter vcpu 3", "kvm_exit vcpu 3, reason 48",
          "exit", "exec"])
    same("the page with marks has no errors", [p for p in b.problems() if "readback" not in p], [])


# What the fixture put on each CPU, in time order
RUNS = [["CPU 0", "sh", "tar", "late", "late", "sh"], ["CPU 1", "tar", "sh", "ls", "again"]]


def test_running(b, files):
    """Only some tasks are traced: each is on a CPU as long as its account says, and no line is as
    long as the uptime."""
    subprocess.run([files.record_fixture, files.path("record.ktau")], check=True)
    b.open(files.page("record"))
    text = subprocess.run([files.ktau, "report", "--by=thread", "--tables=account", "--format=json",
                           files.path("record.ktau")], check=True, stdout=subprocess.PIPE).stdout
    wanted = {row["name"]: sum(number_of(row[part + "_ns"]) for part in ("user", "kernel", "irq"))
              for row in json.loads(text)["account"]}
    same("tasks are on a CPU as long as their accounts say",
         b.run("Object.fromEntries(lines.list.filter((line) => line.bytes).map((line) => [line.name, "
               "decode(line).runs.reduce((sum, run) => sum + run.end - run.start, 0)]))"), wanted)
    same("the timeline begins with the recording", b.run("lines.begin"), 0)
    same("each CPU has a row with the tasks that were on it",
         b.run("(listLines(), lines.shown.filter((line) => line.on).map((cpu) => [cpu.name, ...cpu.on.map((run) => run.line.name)]))"),
         RUNS)
    b.key("3")
    test("time on a CPU is drawn", b.run(
        "(() => { const line = lines.shown.find((l) => l.name === 'tar'), ns = line.runs[0].end - 1e6;"
        "return describe({ line, ns, near: 1, y: 0 }); })()").endswith("on CPU 1 for 70.00 ms"))
    same("the page of some tasks has no errors", b.problems(), [])


COLOUR = """(() => { const d = document.getElementById('line').getContext('2d').getImageData(%s, %s, 1, 1).data;
    return '#' + [d[0], d[1], d[2]].map((v) => v.toString(16).padStart(2, '0')).join(''); })()"""


def click_state(b, row, start, end):
    """Click into the middle of a state, and read what the page says, and the colour left of the click."""
    x, y = b.run(f"(() => {{ const line = lines.views[{row}], box = document.getElementById('line').getBoundingClientRect();"
                 f"setWindow({start}, {end}); document.getElementById('time-box').scrollTop = line.y;"
                 "drawTime(); const y = AXIS + line.y - document.getElementById('time-box').scrollTop + 5;"
                 "return [box.x + LABEL + (box.width - LABEL) / 2, box.y + y]; })()")
    left, top = b.run("(() => { const box = document.getElementById('line').getBoundingClientRect(); return [box.x, box.y]; })()")
    b.mouse("mouseMoved", x, y)
    b.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    b.mouse("mouseReleased", x, y, button="left", clickCount=1)
    ratio = b.run("devicePixelRatio")
    return b.run("document.getElementById('time-cursor').textContent"), b.run(
        COLOUR % (round((x - left - 20) * ratio), round((y - top + 8) * ratio)))


def test_view(b, files):
    """The rows of a view are above the tasks, with the intervals and colours of ktau view."""
    file = files.path("record.ktau")
    for view in "waits", "cpus":
        text = subprocess.run([files.ktau, "view", view, "--intervals", "--csv", file], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout
        wanted = sorted(([row["row"], int(row["from_ns"]), int(row["to_ns"]), row["state"]] for row in csv.DictReader(
            text.splitlines()) if row["state"] != "-"), key=lambda row: row[:2])
        b.open(files.page("record", "--view=" + view))
        b.key("3")
        got = sorted(b.run("lines.views.flatMap((row) => row.states.map((s) => [row.name, s.start, s.end, s.name.text]))"),
                     key=lambda row: row[:2])
        base = min(row[1] for row in got) - min(row[1] for row in wanted)
        same(f"the page has the intervals of ktau view {view}", [[row, start - base, end - base, state]
                                                               for row, start, end, state in got], wanted)
        same(f"its rows are above all others ({view})", b.run("lines.shown.slice(0, lines.views.length).map((row) => row.name)"),
             sorted({row[0] for row in wanted}))
        test(f"they are drawn ({view})", int(b.run("document.getElementById('line').dataset.states")) >= 4)
        rows = b.run("lines.views.map((row) => row.name)")
        wrong = []
        for row, start, end, state in got[::max(1, len(got) // 8)]:
            said, colour = click_state(b, rows.index(row), start, end)
            drawn = b.run(f"lines.names.find((name) => name.text === {json.dumps(state)}).colour")
            if f"{row}, {state} for " not in said or drawn.startswith("#") and drawn.lower() != colour:
                wrong.append((row, start, end, state, said, drawn, colour))
        same(f"a click shows the state of that time, in its colour ({view})", wrong, [])
        same(f"the page with a view has no errors ({view})", [p for p in b.problems() if "readback" not in p], [])
    b.screenshot(files.path("view.png"))
    run = subprocess.run([files.ktau, "report", "--html=" + files.path("x.html"), "--view=mpi", file], stderr=subprocess.PIPE,
                         encoding="utf-8", check=False)
    test("a view that matches nothing: no page, and the events that it needs", run.returncode == 1 and "no event 'user mpi:work(rank)'"
         in run.stderr and not os.path.exists(files.path("x.html")), run)


def test_path(b, files):
    """A path is a row above the tasks, with the segments of ktau path."""
    shutil.copy("tests/unit/tools/data/recorded.ktau", files.path("path.ktau"))
    text = subprocess.run([files.ktau, "path", "--task=sh", "--segments", "--csv", files.path("path.ktau")], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout
    wanted = [[f"{row['task']}: {row['state']}", int(row["time_ns"])] for row in csv.DictReader(text.splitlines())]
    b.open(files.page("path", "--path=sh"))
    b.key("3")
    got = b.run("lines.views.flatMap((row) => row.states.map((s) => [s.name.text, s.end - s.start]))")
    same("the page has the segments of the path", got, wanted)
    same("its row is above all others", b.run("lines.shown[0].name"), "path of sh")
    same("the page with a path has no errors", [p for p in b.problems() if "readback" not in p], [])
    b.screenshot(files.path("path.png"))


def test_guests(b, files):
    """The CPUs of guests are rows above the tasks of the host; the guests' own tasks, on other clocks, are not."""
    page = files.path("vms.html")
    subprocess.run([files.sample, files.out], check=True)
    subprocess.run([files.ktau, "report", "--html=" + page, "--vm", *(files.path(name + ".ktau") for name in ("host", "guest1", "guest2"))],
                   check=True)
    b.open(page)
    b.key("3")
    same("the page of a host has a row for each CPU, and the tasks of the host", b.run("lines.shown.map((row) => row.name)"),
         ["host cpu 0", "guest1 cpu 0", "guest2 cpu 0", "CPU 0", "CPU 0/KVM", "CPU 0/KVM"])
    same("the legend names what has a colour, once", b.run(
        "[...document.querySelectorAll('#legend span')].map((item) => item.textContent).filter((text) => /guest|host|PREEMPTED/.test(text))"),
         ["tasks of the host", "tasks of guests", "PREEMPTED", "guest mode"])


def test_delays(b, files):
    """Who delayed whom is a table with the rows of ktau path --blame, and a graph of their sums."""
    text = subprocess.run([files.ktau, "path", "--blame", "--csv", files.path("path.ktau")], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout
    wanted = [[row[name] for name in ("waited", "for", "state", "in")] + [int(row["time_ns"]), int(row["segments"])]
              for row in csv.DictReader(text.splitlines())]
    b.open(files.page("path", "--blame"))
    b.key("6")
    same("the page has the rows of ktau path --blame", b.run(
        "report.delays.rows.map((row) => [row.victim, row.by, row.state, row.within, row.ns, row.count])"), wanted)
    same("they add up to the waiting time", b.run("report.delays.ns"), sum(row[4] for row in wanted))
    same("the table has all rows", b.run("document.querySelectorAll('#delays tbody tr').length"), len(wanted))
    bands = {}
    for row in wanted:
        bands[row[0], row[1]] = bands.get((row[0], row[1]), 0) + row[4]
    same("the graph has a band for each pair of names", sorted(b.run(
        "[...document.querySelectorAll('#delays path')].map((band) => +band.dataset.ns)")), sorted(bands.values()))
    heights = b.run("['victim', 'by'].map((side) => [...new Set(delayNodes(side).values())].reduce((sum, node) => sum + node.ns, 0))")
    same("both sides of the graph are the waiting time", heights, [sum(bands.values())] * 2)
    b.screenshot(files.path("delays.png"))
    b.run("report.delays.rows = Array.from({ length: 40 }, (_, i) => ({ victim: `v${i % 20}`, by: `w${i}`, state: '', within: '', ns: 1000, count: 1 }))")
    b.run("(report.delays.ns = 40000, drawDelays())")
    same("more names than fit share a node", b.run("[...document.querySelectorAll('#delays text')].map((text) => text.textContent)"
         ".filter((text) => text.includes('others'))"), ["(8 others)  16.00 us", "(28 others)  28.00 us"])
    same("the page with delays has no errors", [p for p in b.problems() if "readback" not in p], [])
    b.open(files.page("path", "--path=sh"))
    test("a page without delays has no such tab", b.run("document.querySelector('[data-view=delays]').hidden"))


def test_hostile(b, files):
    files.record("hostile", "hostile")
    name_regions(files)
    page = files.page("hostile", "--region-names=" + files.out)
    b.open(page)
    with open(page, "rb") as file:
        head = file.read().split(b'id="data-meta"')[0]
    test("no name is in the HTML", b"<b>x" not in head and b"pwned" not in head)
    for view in range(1, 6):
        b.key(str(view))
    b.key("1")
    names = b.run("[...new Set(report.rows.map((row) => row.name))]")
    same("the page has the original names", sorted(names), sorted(HOSTILE))
    shown = b.run("[...new Set([...document.querySelectorAll('#rows .row')].map((r) => r.firstElementChild.textContent))]")
    same("names are shown as text", sorted(shown), sorted(HOSTILE))
    b.click("#rows .row")
    test("names of routines are shown as text", "</script><script>window.pwned=1</script>" in
         b.run("document.getElementById('detail').textContent"))
    test_regions(b, files)
    same("no name has become an element", b.run("document.querySelectorAll('main b, main img, b:not(header b)').length"), 0)
    same("no name has run as a script", b.run("typeof window.pwned"), "undefined")
    same("the page has no errors", b.problems(), [])


def timed(b, action):
    """Milliseconds from an action to the next frame."""
    return b.run("new Promise((done) => { const begin = performance.now(); (() => { %s })();"
                 "requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))); })" % action)


WHEEL = ("document.getElementById('line').dispatchEvent(new WheelEvent('wheel', { deltaY: %d,"
         "clientX: 700, clientY: 400, bubbles: true, cancelable: true }))")


def test_zoom(b, files):
    b.key("3")
    spans = []
    times = []
    for step in (-100,) * 6 + (100,) * 2:
        times.append(timed(b, WHEEL % step))
        spans.append(b.run("lines.to - lines.from"))
    test("the wheel zooms the timeline in and out", spans[0] > spans[5] < spans[7], spans)
    zoom = statistics.median(times)
    test(f"a zoom takes {zoom:.0f} ms, at most {MAX_ZOOM:.0f}", zoom <= MAX_ZOOM, times)
    times = [timed(b, "document.getElementById('time-box').scrollTop = %d" % (step * 20011))
             for step in range(1, 6)]
    scroll = statistics.median(times)
    test(f"a scroll takes {scroll:.0f} ms", scroll <= MAX_ZOOM, times)
    same("scrolling shows other tasks", b.run("lines.rows[0].tid > 1000"), True)


def test_arrows(b, files):
    """Each task is woken by the one before it."""
    b.run("document.getElementById('time-box').scrollTop = 0")
    b.run("setWindow(60e6 - 1e4, 60e6 + 2e5)")
    arrows = b.run("findArrows(lines.rows).map((a) => [a.line.tid, a.waker.tid, a.w.ns - a.w.since])")
    test("wakeups are arrows", len(arrows) >= 5 and b.run("+document.getElementById('line').dataset.arrows") == len(arrows),
         arrows)
    wrong = [a for a in arrows if a[1] != a[0] - 1 or a[2] != 6700]
    test("an arrow begins at the waker, at the time of the wakeup", arrows and not wrong, wrong)
    b.run("setSearch(String(lines.shown[lines.cpus.length + 1].tid)); VIEWS.time()")
    same("a task that is not listed has no arrows", b.run("[lines.tasks, findArrows(lines.shown).length]"), [1, 0])
    b.run("setSearch(''); VIEWS.time()")
    x, y = b.run("(() => { const box = document.getElementById('line').getBoundingClientRect(), scale = "
                 "(box.width - LABEL) / (lines.to - lines.from), line = lines.shown[lines.cpus.length + 1];"
                 "return [box.x + LABEL + (line.woken[0].ns - 2e4 - lines.from) * scale, box.y + AXIS + line.y + 10]; })()")
    b.mouse("mouseMoved", x, y)
    tip = b.run("document.getElementById('tip').textContent")
    test("the pointer shows the wait, by what was waited in", "asleep in routine_0 (schedule_vol)  65.50 us" in tip, tip)
    b.mouse("mousePressed", 100, y, button="left", buttons=1, clickCount=1)
    b.mouse("mouseReleased", 100, y, button="left", clickCount=1)
    same("a click on a name opens its frames by depth", b.run("lines.shown[lines.cpus.length + 1].height > LINE_HEIGHT"), True)
    b.screenshot(files.path("arrows.png"))
    colours = b.run("(() => { const c = document.getElementById('line'), d = c.getContext('2d').getImageData(0, 0,"
                    "c.width, c.height).data, seen = new Set(); for (let i = 0; i < d.length; i += 4)"
                    "seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()")
    test("the canvas is painted", colours > 10, colours)


def test_flame(b, files):
    calls = BIG_TASKS * BIG_ROUNDS
    b.key("2")
    same("call paths on the CPU add up", b.run("flame.root.value"), calls * 3500)
    b.run("document.getElementById('cpu').value = 'off'; drawFlame()")
    same("call paths off the CPU add up", b.run("flame.root.value"), calls * 65500)
    boxes = b.run("document.querySelectorAll('#frames div').length")
    test("frames are drawn", boxes > 50, boxes)
    took = timed(b, "document.querySelectorAll('#frames div')[1].click()")
    test(f"a click zooms in {took:.0f} ms", b.run("flame.focus.name").startswith("worker_") and took <= MAX_ZOOM, took)
    b.run("setSearch('schedule'); drawFlame()")
    test("the search marks routines", b.run("document.querySelectorAll('#frames .hit').length") >= 1)
    tops = b.run("[...document.querySelectorAll('#frames div')].map((frame) => parseFloat(frame.style.top))")
    same("a shallow flame graph is at the top of its page", [min(tops), max(tops)], [0, 17 * (len(set(tops)) - 1)])
    b.run("setSearch(''); document.getElementById('source').value = 'account';"
          "document.getElementById('cpu').value = 'on'; drawFlame()")
    same("without a trace it shows the account", b.run("flame.root.value"),
         b.run("report.rows.reduce((sum, r) => sum + r.parts[0] + r.parts[1] + r.parts[2] + r.parts[5], 0)"))
    b.run("document.getElementById('shape').value = 'icicle'; drawFlame()")
    same("an icicle graph has its root at the top", b.run("document.querySelector('#frames div').style.top"), "0px")


def test_heat(b, files):
    b.key("4")
    same("the heat map has a row for each interrupt of each CPU",
         b.run("heatRows().map((row) => [row.cpu, report.events[row.event].name, row.sum])"),
         [[0, "local_timer", 160e6], [1, "local_timer", 160e6], [1, "irq:4:ttyS0", 80e6]])
    same("each interval has its own time",
         b.run("[...heatRows()[0].at.values()].every((ns) => ns === 20e6)"), True)
    b.screenshot(files.path("heat.png"))


def test_big(b, files):
    files.record("big", str(BIG_TASKS), str(BIG_SLOTS))
    page = files.page("big")
    size = os.path.getsize(page)
    test(f"{BIG_TASKS} tasks and {BIG_SLOTS} slots: {size / 1e6:.1f} MB, at most 40 MiB",
         size <= MAX_BYTES)
    first = b.open(page)
    test(f"the first view takes {first:.2f} s, at most {MAX_FIRST_VIEW:.0f}", first <= MAX_FIRST_VIEW)
    same("the page has all tasks", b.run("state.list.length"), BIG_TASKS)
    same("the page has all frames", b.run("lines.list.reduce((sum, line) => sum + decode(line).depths.reduce("
                                 "(n, level) => n + level.start.length, 0), 0)"), 3 * BIG_TASKS * BIG_ROUNDS)
    off = b.run("report.rows.filter((row) => [0, 1, 2, 3].some((part) => Math.abs(row.parts[part] - report.over.reduce("
                "(sum, interval) => sum + (interval.rows.get(row.index) || [0, 0, 0, 0])[part], 0)) > report.over.length)).length")
    same("the intervals of each row add up to its account", off, 0)
    b.screenshot(files.path("processes.png"))
    b.run("document.getElementById('by').value = 'name'; document.getElementById('by').onchange()")
    same("there is a row for each name", b.run("state.list.length"), 50)
    b.run("state.interval = 2; drawProcesses()")
    test("an interval has only its own time", 0 < b.run("state.most") < b.run("Math.max(...report.rows.map((r) => busyOf(r.parts)))") * 10000)
    b.run("state.interval = -1; state.by = 'process'; drawProcesses()")
    test_zoom(b, files)
    test_arrows(b, files)
    test_flame(b, files)
    test_heat(b, files)
    same("the page has no errors", b.problems(), [])


def folded(files, name, *options):
    """Nanoseconds by path."""
    text = subprocess.run([files.ktau, "flame", "--folded", "-o", "-", *options, files.path(name)],
                          check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
    return {path: int(ns) for path, ns in (line.rsplit(" ", 1) for line in text.splitlines())}


def boxes(path):
    """Text, left edge, width and top of each frame of an SVG flame graph."""
    space = "{http://www.w3.org/2000/svg}"
    return [(g.find(space + "title").text, *(float(g.find(space + "rect").get(k)) for k in ("x", "width", "y")))
            for g in ElementTree.parse(path).getroot().iter(space + "g")]


def test_folded(files):
    calls = BIG_TASKS // 50 * BIG_ROUNDS
    both = folded(files, "big.ktau", "--time=both")
    wanted = {}
    for i in range(50):
        path = f"worker_{i};sys_read"
        wanted.update({path: calls * 1000, path + ";routine_0": calls * 2500,
                       path + ";routine_0;schedule_vol": calls * 65500})
    same("folded stacks have each path and its exclusive time", both, wanted)
    on, off = folded(files, "big.ktau", "--time=on"), folded(files, "big.ktau", "--time=off")
    same("time on the CPU and off it add up to --time=both", {**on, **off}, both)
    same("no path is both on and off the CPU", set(on) & set(off), set())
    same("--pid shows the time of one process", sum(folded(files, "big.ktau", "--pid=200", "--time=both").values()),
         BIG_ROUNDS * 69000)
    test("a name cannot add a frame or a line", all(path.count(";") <= 3 and "\x1b" not in path
         for path in folded(files, "hostile.ktau", "--time=both")))


def test_svg(b, files):
    svg = files.path("flame.svg")
    subprocess.run([files.ktau, "flame", "--time=both", "-o", svg, files.path("hostile.ktau")], check=True)
    shown = boxes(svg)
    roots = [box for box in shown if box[3] == max(box[3] for box in shown)]
    same("a flame graph is XML, with a root for each name", len(roots), len(HOSTILE))
    test("the roots are as wide as the picture", abs(sum(box[2] for box in roots) - 1180) < 1, roots)
    test("names are text", any(title.startswith("</script><b>x: ") for title, *_ in shown), shown)
    inside = [box for box in shown if box not in roots and not any(
        up[3] == box[3] + 17 and up[1] - .2 <= box[1] and box[1] + box[2] <= up[1] + up[2] + .2 for up in shown)]
    same("each frame is above its caller", inside, [])
    b.send("Page.navigate", url="file://" + os.path.abspath(svg))
    b.wait("document.querySelectorAll('rect').length > 10")
    same("the browser shows it", b.run("document.querySelectorAll('script, b, img').length"), 0)
    b.screenshot(files.path("svg.png"))
    for words, status, pattern in ((["machine.ktau", "-p", "4"], 1, "nothing of pid 4"),
                                   (["nothing.ktau"], 1, "No such file"), (["--time=x", "big.ktau"], 2, "--time=x")):
        run = subprocess.run([files.ktau, "flame", "-o", files.path("x.svg")] + [
            files.path(w) if w.endswith(".ktau") else w for w in words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        test("ktau flame " + " ".join(words) + ": " + pattern,
             run.returncode == status and pattern in run.stderr and not os.path.exists(files.path("x.svg")), run.stderr)


LARGE_VIEW = """view "calls"
on enter * set Task/{serial} = {name}
on exit * add Count/{serial} 1
row Task/* label "{1}"
row Count/* label "of {1}"
"""


def test_large_view(files):
    """A million slots of 1,000 tasks, whose rows change with each of them, and a quarter of these slots."""
    with open(files.path("calls.view"), "w", encoding="ascii") as f:
        f.write(LARGE_VIEW)
    for slots in BIG_SLOTS, BIG_SLOTS // 4:
        files.record("rows", str(VIEW_ROWS), str(slots))
        rounds = slots // VIEW_ROWS // 8
        with open(files.path("rows.csv"), "wb") as out:
            # The program's own time: the machine may be busy.
            pid = os.posix_spawn(files.ktau, [files.ktau, "view", "--intervals", "--csv", files.path("calls.view"),
                                              files.path("rows.ktau")], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
            _, status, usage = os.wait4(pid, 0)
        with open(files.path("rows.csv"), encoding="ascii", newline="") as f:
            shown = sum(row["state"].startswith(("sys_", "routine_")) for row in csv.DictReader(f))
        seconds, mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        test(f"a view of {slots} slots with {2 * VIEW_ROWS} rows takes {seconds:.2f} s and {mib:.0f} MiB",
             not status and shown >= VIEW_ROWS * rounds and seconds <= 10 and mib <= 500, status, shown, rounds)


def test_errors(files):
    """Errors have a message and leave no file."""
    for what, words, status, pattern in (
            ("standard input", ["--html=" + files.path("x.html"), "-"], 2, "standard input"),
            ("the input itself", ["--html=" + files.path("machine.ktau"), files.path("machine.ktau")], 1,
             "also the input"),
            ("no such folder", ["--html=/nowhere/x.html", files.path("machine.ktau")], 1, "cannot create"),
            ("a full disk", ["--html=/dev/full", files.path("machine.ktau")], 1, "cannot write")):
        run = subprocess.run([files.ktau, "report", *words], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, encoding="utf-8", check=False)
        test(f"{what}: status {status} and a reason", run.returncode == status and re.search(pattern, run.stderr),
             run.returncode, run.stderr)
    test("an error does not remove a device", os.path.exists("/dev/full"))
    test("no file is left", not os.path.exists(files.path("x.html")))


def main():
    files = Files(sys.argv[1], sys.argv[2])
    os.makedirs(files.out, exist_ok=True)
    with Browser() as b:
        test_machine(b, files)
        test_period(b, files)
        test_partly(b, files)
        test_users(b, files)
        test_recorded(b, files)
        test_running(b, files)
        test_view(b, files)
        test_points(b, files)
        test_path(b, files)
        test_guests(b, files)
        test_delays(b, files)
        test_hostile(b, files)
        test_big(b, files)
        test_folded(files)
        test_svg(b, files)
    test_large_view(files)
    test_errors(files)
    print(f"1..{number}")


main()
