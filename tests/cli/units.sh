#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "tlbctl status --units" and "tlbctl tasks": from a cgroup tree over tlbd to the table, and on
# states of our own. TLBD and TLBCTL are the programs under test.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
ctl=$TLBCTL
root=$tap_dir/root
status_file=$root/run/tlbd/status.json
o=$tap_dir/out
pid=
trap '[[ -z $pid ]] || kill -KILL "$pid" 2> /dev/null; rm -rf "$tap_dir"' EXIT

# unit PATH BYTES MIGRATED STOLEN
unit() {
	local d=$root/sys/fs/cgroup/$1
	mkdir -p "$d"
	echo "$2" > "$d/memory.current"
	printf 'numa_pages_migrated %s\npgsteal_kswapd %s\npgsteal_direct 0\n' "$3" "$4" > "$d/memory.stat"
	printf 'some avg10=2.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n' > "$d/memory.pressure"
}

start() {
	rm -f "$status_file"
	"$TLBD" --root "$root" --interval "$1" --log stderr > "$tap_dir/tlbd.out" 2> "$tap_dir/log" &
	pid=$!
	wait_for 20 test -s "$status_file" || { fail 'tlbd starts' "$(cat "$tap_dir/log")"; plan; exit 1; }
}

stop() {
	kill -TERM "$pid"
	wait "$pid" || true
	pid=
}

# --- from a tree
fake_root "$root"
mkdir -p "$root/sys/fs/cgroup" "$root/etc/tlbd/tlbd.conf.d"
echo 'cpu memory' > "$root/sys/fs/cgroup/cgroup.controllers"
printf '[Monitor]\nMaxUnits=3\nCpuBudgetPercent=100\n' > "$root/etc/tlbd/tlbd.conf.d/units.conf"
unit system.slice/db.service 4000 100 0
unit system.slice/web.service 3000 0 0
odd=$'odd \\x2d"\xff.service'
unit "system.slice/$odd" 2000 0 0
sed -i "s/avg10=2.50/avg10=0.00/" "$root/sys/fs/cgroup/system.slice/$odd/memory.pressure"
unit system.slice/small.service 1000 0 0
# Held between its readings, so that all changes fall between two of them on a slow machine too.
start 20
kill -STOP "$pid"
run "$ctl" --root "$root" status --units
matches 'one reading is not enough, and that is said' "$out" 'needs a second reading'
unit system.slice/db.service 4000 400 0
unit system.slice/web.service 3000 0 50
unit system.slice/small.service 1000 100 0
sed 's/^numa_pages_migrated .*/numa_pages_migrated 400/; s/^pgsteal_kswapd .*/pgsteal_kswapd 200/' "$root/proc/vmstat" > "$tap_dir/v"
replace "$root/proc/vmstat" < "$tap_dir/v"
# What the second reading says is kept as if this shell said it, however long the rest takes.
kept=$tap_dir/kept
mkdir -p "$kept/run/tlbd"
python3 -c 'import json, os, sys, time
status, daemon, shell, kept = sys.argv[1:]
os.kill(int(daemon), 18)
for _ in range(9000):
    d = json.load(open(status))
    if d["samples"] >= 2:
        break
    time.sleep(0.01)
d["pid"], d["interval_s"] = int(shell), 3600.0
json.dump(d, open(kept, "w"))' "$status_file" "$pid" $$ "$kept/run/tlbd/status.json"
stop
run "$ctl" --root "$kept" --json status --units
is 'the biggest three units, and other' "$(json "$o" '[u["name"] for u in d["list"]]' 2>&1)" "$(python3 -c 'import json; print(json.dumps(["db.service", "web.service", "odd \\x2d\"\ufffdff.service", "other"]))')"
is 'one is left out' "$(json "$o" 'd["left_out"]')" 1
is 'shares of what was migrated' "$(json "$o" '[u["migrated_share"]["value"] for u in d["list"]]')" '[0.75, 0.0, 0.0, 0.25]'
is 'shares of what was reclaimed' "$(json "$o" '[u["reclaimed_share"]["value"] for u in d["list"]]')" '[0.0, 0.25, 0.0, 0.75]'
is 'what this kernel does not count is null' "$(json "$o" '[d["list"][0][k]["value"] for k in ("hint_faults_per_s", "promoted_per_s")]')" '[null, null]'
run "$ctl" --root "$kept" status --units
matches 'as text: a line for each unit' "$out" 'db\.service +[0-9,.]+ +75 '
matches 'idle ones too' "$out" $'\n''  odd \\x2d"\?\?\?ff\.service +0 '
matches 'other is last, and says what it holds' "$out" 'other .*"other" has 1 smaller units too \(MaxUnits\)'
is 'no byte that a terminal could take for a command' "$(LC_ALL=C grep -c '[^ -~]' "$o" || true)" 0
run "$ctl" --root "$kept" status
matches 'status alone has the busy ones' "$out" 'UNITS.*db\.service'
is 'and not the idle one' "$(grep -c 'odd' "$o" || true)" 0
printf '[Monitor]\nMaxUnits=0\n' > "$root/etc/tlbd/tlbd.conf.d/units.conf"
start 1
run "$ctl" --root "$root" status --units
matches 'MaxUnits=0 is no missing cgroup' "$out" 'MaxUnits is 0'
stop
rm "$root/etc/tlbd/tlbd.conf.d/units.conf"
echo 'cpu pids' > "$root/sys/fs/cgroup/cgroup.controllers"
start 1
run "$ctl" --root "$root" status --units
matches 'no memory controller is a state' "$out" 'not known: no cgroup v2.*\(absent\)'
stop

# --- tasks, on states of our own
# tasks PYTHON: the object "tasks" of a status that this shell has just written.
tasks() {
	mkdir -p "$root/run/tlbd"
	python3 - $$ "$1" <<-'PYTHON' > "$status_file"
		import json, sys, time
		def delays(ms):
		    return {k: {'total_ms': 100.0, 'window_ms': ms if k == 'freepages' else 0.0, 'window_count': 1}
		            for k in ('freepages', 'thrashing', 'swapin', 'compact', 'irq')}
		def task(pid, comm, unit, ms):
		    return {'pid': pid, 'ended': 0 if pid else 3, 'comm': comm, 'unit': unit, 'delays': delays(ms)}
		print(json.dumps({'version': 1, 'pid': int(sys.argv[1]), 'boot_id': '', 'interval_s': 3600.0,
		                  'monotonic_ns': time.clock_gettime_ns(time.CLOCK_MONOTONIC),
		                  'tasks': eval(sys.argv[2])}))
	PYTHON
}
three="[task(7, 'small', '/s.slice/a.service', 1.5), task(8, 'big', '/s.slice/b.service', 900.25), task(9, 'new', '/s.slice/a.service', None), task(None, 'cc1', '/s.slice/a.service', 20.0)]"

tasks "{'state': 'ok', 'window_s': 60.0, 'left_out': 0, 'exits_seen': 5, 'exits_lost': 0, 'list': $three}"
run "$ctl" --root "$root" tasks
is 'tasks: fine' "$status" 0
is 'who waited longest comes first' "$(awk 'NR > 1 { printf "%s ", $2 }' "$o")" 'big cc1 small new '
matches 'the unit is named' "$out" '8 big +900\.2.* /s\.slice/b\.service'
matches 'tasks that ended have no number' "$out" ' ended cc1 +20 '
matches 'what is not known yet is a dash' "$out" '9 new +- '
is 'nothing else is said' "$err" ''
run "$ctl" --root "$root" -n 1 tasks
is '-n limits the lines' "$(wc -l < "$o")" 2
run "$ctl" --root "$root" --unit a.service tasks
is '--unit by name' "$(awk 'NR > 1 { printf "%s ", $2 }' "$o")" 'cc1 small new '
run "$ctl" --root "$root" --unit /s.slice/b.service tasks
is '--unit by path' "$(awk 'NR > 1 { printf "%s ", $2 }' "$o")" 'big '
run "$ctl" --root "$root" --unit c.service tasks
is 'a unit without tasks is an empty table' "$status $(wc -l < "$o")" '0 1'
run "$ctl" --root "$root" --json -n 2 --unit a.service tasks
is '--json has the same choice' "$(json "$o" '[(t["comm"], t["pid"]) for t in d]')" '[["cc1", null], ["small", 7]]'
for bad in 0 -1 x '' 100001; do
	run "$ctl" --root "$root" -n "$bad" tasks
	is "-n '$bad' is a usage error" "$status" 2
done
run "$ctl" --root "$root" tasks me
is 'an operand is a usage error' "$status" 2

tasks "{'state': 'ok', 'window_s': 60.0, 'left_out': 88, 'exits_seen': 5, 'exits_lost': 2, 'list': $three}"
run "$ctl" --root "$root" tasks
matches 'processes that were not asked about are counted' "$err" '88 more processes'
matches 'lost messages too' "$err" 'not heard of \(2 times\)'
tasks "{'state': 'ok', 'window_s': 60.0, 'list': [task(1, 'a\\x1b[31m\\u00fc', None, 1.0), {}, 5, None]}"
run "$ctl" --root "$root" tasks
is 'odd entries do no harm' "$status $(LC_ALL=C grep -c '[^ -~]' "$o" || true)" '0 0'

while IFS='|' read -r state pattern; do
	tasks "{'state': '$state', 'list': []}"
	run "$ctl" --root "$root" tasks
	is "state $state: nothing to show" "$status $(wc -c < "$o")" '3 0'
	matches "state $state: why" "$err" "$pattern"
done <<-'EOF2'
	off|delay accounting is off.*TaskDelayAccounting=yes
	denied|CAP_NET_ADMIN
	absent|no taskstats
	unread|not asked for delays yet
	nonsense|does not say
EOF2
tasks None
run "$ctl" --root "$root" tasks
matches 'a tlbd that does not know tasks' "$status $err" '3 .*does not say'
plan
