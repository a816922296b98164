#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tlbd as a process, on fake roots: reading, reload, stop, kill -9, drift, hotplug, sources that come
# and go. TLBD and TLBCTL are the programs under test.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
root=$tap_dir/root
status_file=$root/run/tlbd/status.json
pageout=$root/sys/kernel/mm/tlb_batch/pageout
scan_size=$root/proc/sys/kernel/numa_balancing_scan_size_mb
conf=$root/etc/tlbd/tlbd.conf
pid=
with=() # what tlbd is started by, if anything

stop_daemon() { [[ -z $pid ]] || kill -KILL "$pid" 2> /dev/null || true; }
trap 'stop_daemon; rm -rf "$tap_dir"' EXIT

# start [OPTION...]: tlbd on $root, reading every 0.1 s, with a budget that allows it; waits for its
# first status.
start() {
	rm -f "$status_file"
	mkdir -p "$root/usr/lib/tlbd/tlbd.conf.d"
	printf '[Monitor]\nCpuBudgetPercent=%s\n' "${budget:-100}" > "$root/usr/lib/tlbd/tlbd.conf.d/10-budget.conf"
	"${with[@]}" "$TLBD" --root "$root" --interval 0.1 --log stderr "$@" > "$tap_dir/tlbd.out" 2> "$tap_dir/log" &
	pid=$!
	wait_for 10 test -s "$status_file" || { fail 'tlbd starts' "$(cat "$tap_dir/log")"; plan; exit 1; }
}

# finish SIGNAL: sets status.
finish() {
	status=0
	kill "-$1" "$pid"
	wait "$pid" || status=$?
	pid=
}

field() { json "$status_file" "$1" 2>&1; }
field_is() { [[ $(field "$1") == "$2" ]]; }
# eventually TEXT EXPRESSION WANTED: of status.json
eventually() {
	if wait_for 10 field_is "$2" "$3"; then pass "$1"; else fail "$1" "got:    $(field "$2")" "wanted: $3"; fi
}
put() { printf '%s\n' "$2" | replace "$1"; }
knob() { field "d['knobs']['$1']['state'], d['knobs']['$1']['value']"; }
reload() {
	local generation
	generation=$(field "d['config']['generation']")
	kill -HUP "$pid"
	wait_for 10 other_generation "$generation"
}
other_generation() { [[ $(field "d['config']['generation']") != "$1" ]]; }

# --- manage, reload, stop
fake_root "$root"
printf '[Tuning]\nTlbBatchPageout=8\nNumaScanSizeMb=128\n' > "$conf"
start
is 'the configuration is applied' "$(cat "$pageout") $(cat "$scan_size")" '8 128'
eventually 'status says managed' "d['knobs']['TlbBatchPageout']['state']" managed
is 'and what was there before' "$(field "d['knobs']['TlbBatchPageout']['original']")" 31
is 'and where it was asked for' "$(field "d['knobs']['TlbBatchPageout']['source']" | sed 's/.*etc/etc/')" 'etc/tlbd/tlbd.conf:2'
is 'one entry for each change' "$(grep -c 'changed from' "$tap_dir/log")" 2
printf '[Tuning]\nTlbBatchPageout=16\nNumaScanSizeMB=64\n' > "$conf"
reload
is 'a typo is refused as a whole' "$(cat "$pageout") $(cat "$scan_size")" '8 128'
matches 'status says so, with file, line and key' "$(field "d['config']['error']")" 'tlbd\.conf:3: NumaScanSizeMB'
matches 'so does the log' "$(cat "$tap_dir/log")" 'refused, the running one is kept: .*tlbd\.conf:3'
run "$TLBD" --root "$root" --reload "$pid"
is '--reload fails with it' "$status" 1
matches 'and says why' "$err" 'tlbd\.conf:3: NumaScanSizeMB'
printf '[Tuning]\nTlbBatchPageout=16\n' > "$conf"
run "$TLBD" --root "$root" --reload "$pid"
is '--reload of what is right succeeds' "$status" 0
is 'the new value is in force' "$(cat "$pageout")" 16
is 'what is no longer asked for is put back' "$(cat "$scan_size")" 256
run "$TLBCTL" --root "$root" status
is 'tlbctl status is fine' "$status" 0
finish TERM
is 'SIGTERM ends it well' "$status" 0
is 'and restores' "$(cat "$pageout")" 31
is 'and leaves nothing' "$(ls "$root/run/tlbd")" ''
run "$TLBCTL" --root "$root" status
is 'then status cannot be read' "$status" 3

# --- kill -9, and both ways to come back
printf '[Tuning]\nTlbBatchPageout=4\n' > "$conf"
start
finish KILL
is 'after kill -9 the setting is still ours' "$(cat "$pageout")" 4
run "$TLBD" --root "$root" --restore
is '--restore succeeds' "$status" 0
is 'and puts it back' "$(cat "$pageout")" 31
start
finish KILL
start
finish TERM
is 'a next start takes over what the killed one had changed' "$(cat "$pageout")" 31
start
finish KILL
put "$pageout" 2
run "$TLBD" --root "$root" --restore
is 'what somebody else has set since is left alone' "$(cat "$pageout")" 2
put "$pageout" 31
printf '[Tuning]\nTlbBatchPageout=4\nRestoreOnStop=no\n' > "$conf"
start
finish TERM
is 'RestoreOnStop=no leaves the setting' "$(cat "$pageout")" 4
run "$TLBD" --root "$root" --restore
is 'so does --restore then' "$(cat "$pageout")" 4
run "$TLBCTL" --root "$root" restore
is 'tlbctl restore does not' "$(cat "$pageout")" 31

# --- drift
printf '[Tuning]\nTlbBatchPageout=8\n' > "$conf"
start
put "$pageout" 20
eventually 'a change by somebody else is noticed' "d['knobs']['TlbBatchPageout']['state']" yielded
sleep 0.5
is 'it is never fought' "$(cat "$pageout")" 20
is 'and said once' "$(grep -c 'by somebody else' "$tap_dir/log")" 1
reload
is 'a reload takes it up again' "$(cat "$pageout") $(knob TlbBatchPageout)" '8 ["managed", "8"]'
put "$pageout" 21
eventually 'and it can drift again' "d['knobs']['TlbBatchPageout']['state']" yielded
finish TERM
is 'a yielded setting is not restored' "$(cat "$pageout")" 21

# --- observe
put "$pageout" 31
printf '[Tuning]\nTlbBatchPageout=8\n' > "$conf"
start --observe
is '--observe changes nothing' "$(cat "$pageout")" 31
is 'and says so' "$(field 'd["mode"]')" observe
finish INT

# --- CPUs and nodes come and go, counters wrap
rm -f "$conf"
start --interval 0.5
interrupts_file '0 1 3' '150 250 450' '500 500 500' '9 9 9' | replace "$root/proc/interrupts"
if wait_for 10 grep -q hotplug "$status_file"; then pass 'a CPU that goes marks the reading'; else fail 'a CPU that goes marks the reading' "$(cat "$tap_dir/log")"; fi
interrupts_file '0 1 2 3 8' '160 260 4294967295 460 7' '500 500 500 500 1' '9 9 9 9 1' | replace "$root/proc/interrupts"
sleep 1
interrupts_file '0 1 2 3 8' '170 270 4 470 8' '500 500 500 500 1' '9 9 9 9 1' | replace "$root/proc/interrupts"
sleep 0.5
eventually 'and comes back' "d['cpus']['id']" '[0, 1, 2, 3, 8]'
mkdir "$root/sys/devices/system/node/node4"
echo '' > "$root/sys/devices/system/node/node4/cpulist"
echo 'numa_hit 5' > "$root/sys/devices/system/node/node4/vmstat"
eventually 'a node that comes is seen' "[n['id'] for n in d['nodes']], d['nodes'][2]['cpus']" '[[0, 1, 4], 0]'
rm -r "$root/sys/devices/system/node/node4"
eventually 'a node that goes is gone' "[n['id'] for n in d['nodes']]" '[0, 1]'
sed 's/^numa_hint_faults .*/numa_hint_faults 18446744073709551615/' "$root/proc/vmstat" > "$tap_dir/v"
replace "$root/proc/vmstat" < "$tap_dir/v"
sleep 1.2
is 'no value is negative or absurd' "$(field 'max([m["value"] or 0 for m in d["metrics"].values()]) < 1e10 and min([m["value"] or 0 for m in d["metrics"].values()]) >= 0')" true
finish TERM
is 'none of it floods the log' "$(wc -l < "$tap_dir/log")" 0

# --- sources that are lost
rm -f "$root/proc/pressure/memory"
mkdir "$root/proc/pressure/memory"
vmstat_file numa_hit=5 > "$root/proc/vmstat"
start
sleep 0.5
is 'a source that cannot be read is said once' "$(grep -c 'pressure/memory cannot be read' "$tap_dir/log")" 1
is 'its metrics are unsupported, not 0' "$(field 'd["metrics"]["psi_memory_some_avg10"]["value"], d["metrics"]["psi_memory_some_avg10"]["validity"]')" '[null, "unsupported"]'
is 'the others go on' "$(field 'd["metrics"]["tlb_interrupts_per_s"]["validity"]')" ok
rmdir "$root/proc/pressure/memory"
printf 'some avg10=1.00 avg60=0.00 avg300=0.00 total=0\n' > "$root/proc/pressure/memory"
eventually 'it is taken up when it is back' 'd["metrics"]["psi_memory_some_avg10"]["value"]' 1.0
is 'and that is said once' "$(grep -c 'pressure/memory can be read again' "$tap_dir/log")" 1
truncate -s 0 "$root/proc/vmstat"
eventually 'a counter that vanishes is unsupported' 'd["metrics"]["pages_migrated_per_s"]["validity"]' unsupported
finish TERM

# --- a restore record that cannot be kept
mkdir -p "$root/run/tlbd/restore.new"
put "$pageout" 31
printf '[Tuning]\nTlbBatchPageout=8\n' > "$conf"
start
eventually 'without a restore record nothing is changed' 'd["config"]["state"], d["knobs"]["TlbBatchPageout"]["value"]' '["refused", "31"]'
matches 'and that is said' "$(cat "$tap_dir/log")" 'nothing was applied, as the restore record cannot be kept'
is 'measuring goes on' "$(field 'd["samples"] > 0')" true
rmdir "$root/run/tlbd/restore.new"
reload
is 'a reload applies it when that is mended' "$(cat "$pageout") $(field 'd["config"]["state"]')" '8 ok'
finish TERM

# --- a stock kernel
rm -rf "$root"
fake_root "$root" stock
printf '[Tuning]\nTlbBatchPageout=8\nNumaScanSizeMb=128\n' > "$conf"
start
sleep 0.5
is 'kernel-without-policy once' "$(grep -c 'has no /sys/kernel/mm/tlb_batch' "$tap_dir/log")" 1
is 'causes are unsupported' "$(field 'd["metrics"]["tlb_interrupts_per_s_reclaim"]["validity"]')" unsupported
is 'interrupts are still counted' "$(field 'd["metrics"]["tlb_interrupts_per_s"]["validity"]')" ok
is 'settings that are not there are unsupported' "$(knob TlbBatchPageout)" '["unsupported", null]'
is 'and nothing is created' "$(find "$root" -name pageout -o -name numa_balancing_scan_size_mb)" ''
finish TERM
rm "$root/proc/sys/kernel/numa_balancing"
rm -f "$conf"
start
matches 'a kernel without NUMA balancing is a state' "$(field 'd["notes"]')" 'NUMA balancing is not in this kernel'
finish TERM

# --- suspend, and a wall clock that is set
interrupts_file '0 1 2 3' '0 0 0 0' '5 5 5 5' '9 9 9 9' > "$root/proc/interrupts"
with=(env TLBD_CLOCK_JUMP="$tap_dir/jump" LD_PRELOAD="$TLBD_CLOCK" ASAN_OPTIONS=verify_asan_link_order=0)
start --interval 1
with=()
touch "$tap_dir/jump"
interrupts_file '0 1 2 3' '1000 0 0 0' '5 5 5 5' '9 9 9 9' | replace "$root/proc/interrupts"
rate=
busy() { rate=$(field 'int(d["metrics"]["tlb_interrupts_per_s_max_cpu"]["value"] or 0)'); (( rate > 0 )); }
wait_for 10 busy || true
is "a suspend does not dilute a rate (1000 interrupts in a second: $rate/s)" $(( rate > 300 && rate < 1500 )) 1
matches 'the clock did jump' "$(field 'd["realtime_ns"] / 1e9 - '"$(date +%s)"' > 364 * 86400')" true
is 'and nothing is logged for it' "$(grep -vc 'has no /sys/kernel/mm/tlb_batch' "$tap_dir/log")" 0
finish TERM

# --- its own cost
budget=0.001
start
if wait_for 10 grep -q 'stretched from' "$tap_dir/log"; then
	pass 'a budget that is exceeded stretches the interval'
else
	fail 'a budget that is exceeded stretches the interval' "$(cat "$tap_dir/log")"
fi
sleep 0.5
is 'and says so once for each source' "$(grep 'stretched from' "$tap_dir/log" | cut -d' ' -f2 | sort | uniq -d)" ''
eventually 'status knows, and it is ten times the configured one at most' '0.1 < d["sources"]["interrupts"]["interval_s"] <= 1.0' true
matches 'so it does its own cost' "$(field 'd["self"]["rss_bytes"] > 0 and d["self"]["cpu_s"] > 0')" true
finish TERM
unset budget

# --- a state directory that cannot be written
if (( EUID == 0 )); then
	skip 'a read-only /run stops a managing tlbd' 'root writes anywhere; tests/fault fails the calls instead'
else
	chmod 555 "$root/run"
	run "$TLBD" --root "$root" --duration 0.2
	is 'a read-only /run stops a managing tlbd' "$status" 1
	chmod 755 "$root/run"
fi
plan
