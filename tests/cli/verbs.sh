#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tlbctl's verbs on fake roots and trees: output, JSON, exit status, and what is written.
# TLBCTL is the program under test.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
ctl=$TLBCTL
root=$tap_dir/root
fake_root "$root"

# --- command line
run "$ctl"
is 'no verb is a usage error' "$status" 2
run "$ctl" frobnicate
is 'an unknown verb is a usage error' "$status" 2
matches 'and is named' "$err" 'frobnicate: no such verb'
run "$ctl" --version
matches '--version names program and version' "$out" '^tlbctl [0-9]+\.[0-9]+\.[0-9]+$'
run "$ctl" --help
is '--help is no error' "$status" 0
for verb in status top explain get set unset check-config restore read snapshot diff; do
	matches "--help lists $verb" "$out" "  $verb"
done
run bash -c '"$0" --help > /dev/full' "$ctl"
is 'output that cannot be written is an error' "$status" 3

# --- read
run "$ctl" --root "$root" --json read
is 'read succeeds' "$status" 0
o=$tap_dir/out
is 'interrupts are ok' "$(json "$o" 'd["interrupts"]["state"]')" ok
is 'CPU ids' "$(json "$o" 'd["interrupts"]["cpus"]')" '[0, 1, 2, 3]'
is 'TLB sum' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]["sum"]')" 1000
is 'TLB per CPU' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]["per_cpu"]')" '{"0": 100, "1": 200, "2": 300, "3": 400}'
is 'a vmstat counter' "$(json "$o" 'd["vmstat"]["counters"]["numa_hit"]')" 1000
is 'node ids' "$(json "$o" '[n["id"] for n in d["nodes"]]')" '[0, 1]'
is 'node CPUs' "$(json "$o" 'd["nodes"][1]["cpus"]')" '[2, 3]'
is 'distances by node id' "$(json "$o" 'd["nodes"][1]["distance"]')" '{"0": 21, "1": 10}'
is 'pressure' "$(json "$o" 'd["pressure"]["memory"]["some"]["avg10"]')" 0.5
is 'knob value and where' "$(json "$o" 'd["knobs"]["TlbBatchPageout"]["value"] + d["knobs"]["TlbBatchPageout"]["path"]')" '31/sys/kernel/mm/tlb_batch/pageout'

bundle=$tap_dir/bundle
mkdir -p "$bundle/proc"
interrupts_file '0 1 20 21' '1 2 3 4' '5 6 7 8' '9 9 9 9' > "$bundle/proc/interrupts"
run "$ctl" --root "$bundle" --json read
is 'a bundle with one file can be read' "$status" 0
is 'ids with a gap' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]["per_cpu"]')" '{"0": 1, "1": 2, "20": 3, "21": 4}'
is 'a missing file is absent' "$(json "$o" 'd["vmstat"]["state"], d["vmstat"]["counters"]')" '["absent", {}]'
is 'a missing setting is unsupported' "$(json "$o" 'd["knobs"]["NumaScanSizeMb"]["state"], d["knobs"]["NumaScanSizeMb"]["value"]')" '["unsupported", null]'
head -c -30 "$bundle/proc/interrupts" > "$tap_dir/cut" && mv "$tap_dir/cut" "$bundle/proc/interrupts"
run "$ctl" --root "$bundle" --json read
is 'a row that was cut short' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]')" '{"per_cpu": null, "state": "truncated", "sum": null}'
is 'a whole row in front of it' "$(json "$o" 'd["interrupts"]["rows"]["CAL"]["sum"]')" 26
is 'the file says so too' "$(json "$o" 'd["interrupts"]["state"]')" truncated
sed -i '/TLB/d' "$bundle/proc/interrupts"
echo >> "$bundle/proc/interrupts"
run "$ctl" --root "$bundle" --json read
is 'a row that is not there' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]')" '{"per_cpu": null, "state": "absent", "sum": null}'
interrupts_file '0 1' '0 0' '5 6' '9 9' > "$bundle/proc/interrupts"
printf 'processor\t: 0\nflags\t\t: fpu hypervisor lm\n' > "$bundle/proc/cpuinfo"
run "$ctl" --root "$bundle" --json read
is 'zeros of a guest whose hypervisor flushes' "$(json "$o" 'd["interrupts"]["rows"]["TLB"]')" '{"per_cpu": null, "state": "paravirt", "sum": null}'
mkdir "$tap_dir/empty"
run "$ctl" --root "$tap_dir/empty" --json read
is 'an empty tree cannot be read' "$status" 3
matches 'and that is said' "$err" 'no file of /proc or /sys'

# --- snapshot and diff
run "$ctl" --root "$root" snapshot "$tap_dir/one"
is 'snapshot succeeds' "$status" 0
is 'it copies what it reads' "$(cat "$tap_dir/one/proc/interrupts")" "$(cat "$root/proc/interrupts")"
is 'and settings' "$(cat "$tap_dir/one/sys/kernel/mm/tlb_batch/pageout")" 31
run "$ctl" --root "$root" snapshot "$tap_dir/one"
is 'it never writes over another' "$status" 3
matches 'naming it' "$err" 'one: exists and is not empty'
interrupts_file '0 1 2 3' '4294967295 200 300 400' '500 500 500 500' '9 9 9 9' > "$tap_dir/one/proc/interrupts"
sleep 0.05
interrupts_file '0 1 3 7' '9 250 450 1' '600 600 600 600' '9 9 9 9' > "$root/proc/interrupts"
sed -i 's/^numa_pages_migrated .*/numa_pages_migrated 50/; s/^tlb_shootdown_numa_scan .*/tlb_shootdown_numa_scan 20/; s/^tlb_shootdown_other .*/tlb_shootdown_other 90/; s/^numa_pte_updates .*/numa_pte_updates 1024/; s/^tlb_batch_pending_flush .*/tlb_batch_pending_flush 2/' "$root/proc/vmstat"
run "$ctl" --root "$root" snapshot "$tap_dir/two"
run "$ctl" --json --interval-sec 10 diff "$tap_dir/one" "$tap_dir/two"
is 'diff succeeds' "$status" 0
is 'the interval is the one given' "$(json "$o" 'd["interval_s"]')" 10.0
is 'CPUs of both and of one' "$(json "$o" 'd["cpus"]')" '{"common": [0, 1, 3], "only_after": [7], "only_before": [2]}'
is 'row difference per id modulo 2^32' "$(json "$o" 'd["interrupts"]["TLB"]')" 110
is 'busiest CPU over common ones' "$(json "$o" 'd["metrics"]["tlb_interrupts_per_s_max_cpu"]')" '{"unit": "interrupts/s", "validity": "hotplug", "value": 5.0}'
is 'total by causes' "$(json "$o" 'd["metrics"]["tlb_interrupts_per_s"]["value"]')" 11.0
is 'cost of a migrated page by its own causes' "$(json "$o" 'd["metrics"]["tlb_per_migrated_page"]')" '{"unit": "interrupts/page", "validity": "ok", "value": 0.4}'
is 'flushes for each page table' "$(json "$o" 'd["metrics"]["pending_flush_per_table"]["value"]')" 1.0
is 'no ratio over zero' "$(json "$o" 'd["metrics"]["tlb_per_reclaimed_page"]')" '{"unit": "interrupts/page", "validity": "idle", "value": null}'
run "$ctl" --json diff "$tap_dir/one" "$tap_dir/two"
matches 'without --interval-sec the snapshots know' "$(json "$o" 'd["interval_s"]')" '^[0-9]+\.[0-9]+$'
run "$ctl" diff "$tap_dir/two" "$tap_dir/one"
is 'the wrong order is refused' "$status" 1
matches 'with the reason' "$err" 'was not taken later'
echo 99999999-2222-3333-4444-555555555555 > "$tap_dir/two/proc/sys/kernel/random/boot_id"
run "$ctl" diff "$tap_dir/one" "$tap_dir/two"
is 'another boot is refused' "$status" 1
matches 'with the reason' "$err" 'different boots'
run "$ctl" diff "$tap_dir/one"
is 'one tree is a usage error' "$status" 2
run "$ctl" diff "$tap_dir/one" "$tap_dir/empty"
is 'a tree without files cannot be read' "$status" 3
rm -f "$tap_dir"/{one,two}/tlbd-snapshot.json
rm -f "$tap_dir"/two/proc/sys/kernel/random/boot_id
run "$ctl" --json diff "$tap_dir/one" "$tap_dir/two"
is 'plain bundles have no time' "$(json "$o" 'd["interval_s"], d["metrics"]["tlb_interrupts_per_s"]["value"]')" '[null, null]'
is 'their ratios are still there' "$(json "$o" 'd["metrics"]["tlb_per_migrated_page"]["value"]')" 0.4
matches 'and it is said how to give it' "$err" 'interval-sec'
for bad in 0 -1 x 1e999 ''; do
	run "$ctl" --interval-sec "$bad" diff "$tap_dir/one" "$tap_dir/two"
	is "--interval-sec '$bad' is a usage error" "$status" 2
done

# --- configuration
run "$ctl" --root "$root" get NumaScanSizeMb
matches 'get shows value, source and kernel' "$out" '^NumaScanSizeMb=keep.*default; kernel: 256 \(/proc/sys/kernel/numa_balancing_scan_size_mb\)$'
run "$ctl" --root "$root" get Nonsense
is 'an unknown key is a usage error' "$status" 2
run "$ctl" --root "$root" set NumaScanSizeMb=512
is 'set succeeds' "$status" 0
is 'it writes a drop-in' "$(grep -rh '^NumaScanSizeMb' "$root/etc")" 'NumaScanSizeMb=512'
is 'the kernel is left to the daemon' "$(cat "$root/proc/sys/kernel/numa_balancing_scan_size_mb")" 256
run "$ctl" --root "$root" --json get NumaScanSizeMb
is 'get knows' "$(json "$o" 'd["NumaScanSizeMb"]["value"]')" 512
before=$(find "$root/etc" -type f -exec sha256sum {} +)
for bad in 0 '' -1 16777216 33554432 0x1000000 1e3 ' 5' '5 ' 99999999999999999999 NaN; do
	run "$ctl" --root "$root" set "NumaScanSizeMb=$bad"
	is "set NumaScanSizeMb='$bad' is refused" "$status" 1
	matches 'naming the key' "$err" NumaScanSizeMb
done
is 'no refusal changed a file' "$(find "$root/etc" -type f -exec sha256sum {} +)" "$before"
run "$ctl" --root "$root" set --runtime TlbBatchPageout=1
is 'set --runtime succeeds' "$status" 0
is 'it writes below /run' "$(grep -rh '^TlbBatchPageout' "$root/run")" 'TlbBatchPageout=1'
run "$ctl" --root "$root" unset TlbBatchPageout
run "$ctl" --root "$root" unset NumaScanSizeMb
is 'unset succeeds' "$status" 0
run "$ctl" --root "$root" --json get
is 'and takes everything back' "$(json "$o" 'd["NumaScanSizeMb"]["value"], d["TlbBatchPageout"]["value"]')" '["keep", "keep"]'
printf '[Tuning]\nNumaScanSizeMb=512\nNumaScanSizeMB=1\n' > "$tap_dir/typo.conf"
run "$ctl" check-config "$tap_dir/typo.conf"
is 'check-config refuses a typo' "$status" 1
matches 'with file, line and key' "$err" 'typo\.conf:3: NumaScanSizeMB'
printf '[Tuning]\nNumaScanSizeMb=512\n' > "$tap_dir/good.conf"
run "$ctl" check-config "$tap_dir/good.conf"
is 'and takes what is right' "$status" 0
run "$ctl" --root "$root" check-config
is 'check-config alone reads the installed configuration' "$status" 0

# --- without a daemon
for verb in status top; do
	run "$ctl" --root "$root" $verb
	is "$verb without tlbd cannot read" "$status" 3
	matches 'and says why' "$err" 'tlbd'
done
run "$ctl" --root "$root" restore
is 'restore with nothing to do is fine' "$status" 0
plan
