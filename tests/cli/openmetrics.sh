#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# /run/tlbd/tlbd.prom as tlbd writes it: by promtool, by a strict reader of our own, and while it is
# rewritten. TLBD is the program under test.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
root=$tap_dir/root
prom=$root/run/tlbd/tlbd.prom
pid=
trap '[[ -z $pid ]] || kill -KILL "$pid" 2> /dev/null; rm -rf "$tap_dir"' EXIT

# start INTERVAL [KEY=VALUE...]: until it has written its file twice.
start() {
	rm -f "$prom"
	printf '%s\n' '[Monitor]' 'CpuBudgetPercent=100' "${@:2}" > "$root/etc/tlbd/tlbd.conf"
	"$TLBD" --root "$root" --interval "$1" --log stderr > "$tap_dir/tlbd.out" 2> "$tap_dir/log" &
	pid=$!
	wait_for 30 grep -qs '^tlbd_pages_migrated_per_second ' "$prom" ||
		{ fail 'tlbd starts' "$(cat "$tap_dir/log")"; plan; exit 1; }
	cp "$prom" "$tap_dir/prom"
}

stop() {
	kill -TERM "$pid"
	wait "$pid" || true
	pid=
}

cat > "$tap_dir/reader" <<'PYTHON'
"""reader FILE EXPRESSION: reads the text format strictly, and prints the expression as JSON; in it
are families {name: (type, help)} and samples {name: {((label, value), ...): number}}."""
import json, math, re, sys
families, samples, current = {}, {}, None
with open(sys.argv[1], encoding='utf-8', newline='\n') as file: # not UTF-8: an error
    text = file.read()
assert text.endswith('\n') and '\n\n' not in text and '\r' not in text
for line in text[:-1].split('\n'):
    if line.startswith('# HELP '):
        _, _, current, help = line.split(' ', 3)
        assert current not in families and help and '\\' not in help, line
        families[current] = (None, help)
    elif line.startswith('# TYPE '):
        _, _, name, type = line.split(' ')
        assert name == current and families[name][0] is None and type in ('counter', 'gauge'), line
        assert (type == 'counter') == name.endswith('_total'), line
        families[name] = (type, families[name][1])
    else:
        match = re.fullmatch(r'([a-z][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)', line)
        assert match and match[1] == current and families[current][0], line
        labels = tuple((k, re.sub(r'\\(.)', lambda e: {'n': '\n'}.get(e[1], e[1]), v))
                       for k, v in re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2] or ''))
        value = float(match[3])
        assert math.isfinite(value) and value >= 0, line
        assert labels not in samples.setdefault(current, {}), 'twice: ' + line
        samples[current][labels] = value
assert all(name in samples for name in families), 'a family without a sample'
series = sum(len(s) for s in samples.values())
print(json.dumps(eval(sys.argv[2])))
PYTHON
reader() { python3 "$tap_dir/reader" "$tap_dir/prom" "$1" 2>&1; }
cgroups() { reader 'sorted(dict(l)["cgroup"] for l in samples.get("tlbd_unit_pages_migrated_total", {}))'; }

# promtool_takes TEXT: it finds no fault, of form or of style.
promtool_takes() {
	if ! command -v promtool > /dev/null; then
		skip "$1" 'no promtool here (package prometheus; EL has none)'
		return
	fi
	status=0
	promtool check metrics < "$tap_dir/prom" > "$tap_dir/out" 2>&1 || status=$?
	is "$1" "$status $(head -n 5 "$tap_dir/out")" '0 '
}

names=('db.service' 'a b.service' 'quo"te.service' 'back\slash.service' 'dev-x\x2dy.scope'
	$'new\nline.service' $'bad\xff.service' $'bad\xfe.service' $'cut\xe2\x82.service' 'ü€😀.service')
fake_root "$root"
mkdir -p "$root/sys/fs/cgroup" "$root/sys/devices/virtual/memory_tiering/memory_tier4"
echo memory > "$root/sys/fs/cgroup/cgroup.controllers"
echo 0-1 > "$root/sys/devices/virtual/memory_tiering/memory_tier4/nodelist"
echo 2 > "$root/proc/sys/kernel/numa_balancing"
printf 'Node 0, zone   Normal\n  pages free     10\n        low      20\n  node_unreclaimable:  1\n' > "$root/proc/zoneinfo"
size=0
for name in "${names[@]}"; do
	d=$root/sys/fs/cgroup/x.slice/$name
	mkdir -p "$d"
	echo $(( size += 1000 )) > "$d/memory.current"
	printf 'numa_pages_migrated 7\nnuma_hint_faults 9\npgsteal_kswapd 3\npgsteal_direct 1\n' > "$d/memory.stat"
	printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n' > "$d/memory.pressure"
done

# --- the whole file
start 1
stop
promtool_takes 'promtool finds no fault'
matches 'a strict reader takes it' "$(reader 'series')" '^[0-9]+$'
is 'every name is ours' "$(reader '[n for n in families if not n.startswith("tlbd_")]')" '[]'
is 'causes' "$(reader 'sorted(dict(l)["cause"] for l in samples["tlbd_tlb_interrupts_total"])')" '["compaction", "numa_migrate", "numa_scan", "other", "reclaim"]'
is 'conditions' "$(reader 'sorted(dict(l)["condition"] for l in samples["tlbd_condition_raised"])')" '["balancing-flush-storm", "balancing-not-converging", "direct-reclaim", "reclaim-flush-storm"]'
is 'no series for each CPU unless asked for' "$(reader '[n for n in families if "cpu_tlb" in n]')" '[]'
is 'names of units come back as they are, bytes that are no text spelt out' "$(cgroups)" "$(python3 - <<'PYTHON'
import json
print(json.dumps(sorted('/x.slice/' + n for n in (
    'db.service', 'a b.service', 'quo"te.service', 'back\\slash.service', 'dev-x\\x2dy.scope',
    'new\nline.service', 'bad\ufffdff.service', 'bad\ufffdfe.service', 'cut\ufffde2\ufffd82.service',
    '\u00fc\u20ac\U0001f600.service'))))
PYTHON
)"
is 'reclaim of a unit is its parts' "$(reader 'set(samples["tlbd_unit_pages_reclaimed_total"].values()) == {4.0}')" true
is 'stalls in seconds' "$(reader 'set(samples["tlbd_unit_memory_stalled_seconds_total"].values()) == {2.5}')" true
is 'what is not known has no sample' "$(reader '[n for n in families if "per_migrated" in n], samples["tlbd_metric_valid"][(("metric", "tlb_per_migrated_page"),)]')" '[[], 0.0]'
is 'the time of writing is now' "$(reader "abs(list(samples['tlbd_status_timestamp_seconds'].values())[0] - $(date +%s)) < 60")" true
is 'a tier, and that it is the only one' "$(reader 'list(samples["tlbd_node_memory_tier"].values()), list(samples["tlbd_tiering_single_tier"].values())')" '[[4.0, 4.0], [1.0]]'
is 'kswapd that gave up' "$(reader '[samples["tlbd_node_" + n][(("node", "0"),)] for n in ("kswapd_gave_up", "below_low_watermark")]')" '[1.0, 1.0]'
before=$(reader series)

# --- bounds
start 1 MaxUnits=3 PerCpuSeries=yes
stop
is 'MaxUnits bounds the units, the biggest stay' "$(cgroups)" "$(python3 -c 'import json; print(json.dumps(sorted("/x.slice/" + n for n in ("bad\ufffdfe.service", "cut\ufffde2\ufffd82.service", "\u00fc\u20ac\U0001f600.service"))))')"
is 'PerCpuSeries=yes has each CPU' "$(reader 'sorted((dict(l)["cpu"], n) for l, n in samples["tlbd_cpu_tlb_interrupts_total"].items())')" '[["0", 100.0], ["1", 200.0], ["2", 300.0], ["3", 400.0]]'
is 'so many series, and no more' "$(reader series)" "$((before - 7 * 6 + 4))"
promtool_takes 'promtool finds no fault in that either'

# --- a stock kernel without most of it
rm -rf "$root"
fake_root "$root" stock
start 1
stop
promtool_takes 'promtool finds no fault on a stock kernel'
is 'there all causes are one' "$(reader '[l[0][1] for l in samples["tlbd_tlb_interrupts_total"]]')" '["all"]'
is 'and what is missing is missing' "$(reader '[n for n in families if "unit_" in n or "tier" in n or "zone" in n or "watermark" in n]')" '[]'

# --- while it is rewritten
start 0.1
python3 - "$prom" > "$tap_dir/partial" <<'PYTHON'
import os, sys, time
seen, faults, end = set(), 0, time.monotonic() + 4
while time.monotonic() < end or len(seen) < 5:
    with open(sys.argv[1], 'rb') as file:
        data = file.read()
        seen.add(os.fstat(file.fileno()).st_ino)
    faults += not (data.startswith(b'# HELP tlbd_build_info ') and data.endswith(b'\n')
                   and b'\ntlbd_knob_yielded' in data and b'tlbd_node_memory_free_bytes{node="1"}' in data)
    if time.monotonic() > end + 30:
        break
print(len(seen) >= 5, faults)
PYTHON
is 'no reader ever finds a part of it' "$(cat "$tap_dir/partial")" 'True 0'
stop
is 'a tlbd that stops takes it away' "$(ls "$root/run/tlbd")" ''
plan
