#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The entries tlbd sends to journald, field by field. journald's socket is one of ours, in a mount
# namespace of its own (needs root or user namespaces).
: "${TLBD:?the program under test}"
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
root=$tap_dir/root
entries=$tap_dir/entries.json

if ! unshare -rm true 2> /dev/null; then
	skip 'journal entries' 'no mount namespaces here'
	plan
	exit 0
fi

# Receives datagrams of journald's native protocol until it gets SIGTERM; writes them as a JSON list.
cat > "$tap_dir/journald.py" <<'PY'
import json, os, signal, socket, struct, sys
path, result = sys.argv[1:]
entries, stopping = [], []
signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(path)
s.settimeout(0.2)
while True:
    try:
        data, fields = s.recv(1 << 20), {}
    except socket.timeout:  # nothing is left to be read
        if stopping:
            break
        continue
    while data:
        line, _, rest = data.partition(b'\n')
        if b'=' in line:
            name, _, value = line.partition(b'=')
            data = rest
        else:
            n, = struct.unpack('<Q', rest[:8])
            name, value, data = line, rest[8:8 + n], rest[9 + n:]
        fields[name.decode()] = value.decode()
    entries.append(fields)
json.dump(entries, open(result, 'w'))
PY

cat > "$tap_dir/inner.sh" <<'SH'
set -euo pipefail
. "$1/tests/lib/tap.sh"
root=$2/root
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd
mkdir -p /run/systemd/journal
python3 "$2/journald.py" /run/systemd/journal/socket "$2/entries.json" &
server=$!
pid=
trap 'kill -KILL $pid $server 2> /dev/null || true; rm -rf "$tap_dir"' EXIT
wait_for 10 test -S /run/systemd/journal/socket
"$TLBD" --root "$root" --interval 1 --log journal 2> "$2/stderr" &
pid=$!
storm() { # yes|no: what status says of the flush storm
	[[ $(json "$root/run/tlbd/status.json" '[c["raised"] for c in d["conditions"] if c["name"] == "balancing-flush-storm"][0]') == "$1" ]]
}
migrate() { # moves on the counters of a storm, faster than they are read, while the file $2/go is there
	local pages=0
	while [[ -e $2/go ]]; do
		pages=$((pages + 1000))
		sed "s/^numa_pages_migrated .*/numa_pages_migrated $pages/; s/^tlb_shootdown_numa_scan .*/tlb_shootdown_numa_scan $((pages * 3))/; s/^numa_pte_updates .*/numa_pte_updates $((pages * 2))/" "$root/proc/vmstat" > "$2/vmstat"
		replace "$root/proc/vmstat" < "$2/vmstat"
		sleep 0.1
	done
}
refused() { grep -q '"state":"refused"' "$root/run/tlbd/status.json"; }
touch "$2/go"
migrate "$@" &
mover=$!
wait_for 60 storm true
rm "$2/go"
wait $mover
wait_for 60 storm false
echo '[Tuning]' > "$root/etc/tlbd/tlbd.conf"
echo 'TlbBatchPageout=99' >> "$root/etc/tlbd/tlbd.conf"
kill -HUP $pid
wait_for 60 refused
kill -TERM $pid
wait $pid
kill -TERM $server
wait $server
SH

fake_root "$root"
printf '[Monitor]\nCpuBudgetPercent=100\n' > "$root/usr/lib/tlbd/tlbd.conf"
mkdir -p "$root/etc/tlbd/tlbd.conf.d"
printf '[Monitor]\nCpuBudgetPercent=100\n' > "$root/etc/tlbd/tlbd.conf.d/10-test.conf"
printf '[Tuning]\nTlbBatchPageout=8\n' > "$root/etc/tlbd/tlbd.conf"
run unshare -rm bash "$tap_dir/inner.sh" "$(cd "$(dirname "$0")/../.." && pwd)" "$tap_dir"
is 'tlbd runs with journald' "$status$err" 0
is 'nothing goes to stderr' "$(cat "$tap_dir/stderr")" ''

# of CONDITION STATE EXPRESSION: of the one entry e.
of() {
	python3 - "$entries" "$@" <<'PY'
import json, sys
entries = json.load(open(sys.argv[1]))
e = [x for x in entries if x.get('TLBD_CONDITION') == sys.argv[2] and x.get('TLBD_STATE') == sys.argv[3]]
print(eval(sys.argv[4], {'e': e[0] if e else None, 'n': len(e), 'float': float}))
PY
}
is 'a changed setting: old and new' "$(of tunable-applied raised 'e["TLBD_KNOB"], e["TLBD_OLD"], e["TLBD_NEW"]')" "('TlbBatchPageout', '31', '8')"
is 'its priority and sender' "$(of tunable-applied raised 'e["PRIORITY"], e["SYSLOG_IDENTIFIER"]')" "('5', 'tlbd')"
is 'changed and put back: two entries' "$(of tunable-applied raised n)" 2
is 'a refused configuration' "$(of tunable-refused raised 'e["TLBD_KNOB"], "tlbd.conf:2" in e["TLBD_REASON"], n')" "('TlbBatchPageout', True, 1)"
is 'the storm, raised once' "$(of balancing-flush-storm raised n)" 1
is 'with metric, value and threshold' "$(of balancing-flush-storm raised 'e["TLBD_METRIC"], float(e["TLBD_VALUE"]), float(e["TLBD_THRESHOLD"]), float(e["TLBD_WINDOW_SEC"]) > 0.4')" "('tlb_per_migrated_page', 3.0, 0.8, True)"
is 'as a warning' "$(of balancing-flush-storm raised 'e["PRIORITY"]')" 4
is 'and cleared once, below it' "$(of balancing-flush-storm cleared 'n, e["PRIORITY"]')" "(1, '6')"
is 'one message id a kind' "$(json "$entries" 'all(len({x["MESSAGE_ID"] for x in d if x.get("TLBD_CONDITION") == c}) == 1 for c in {x.get("TLBD_CONDITION") for x in d})')" true
is 'every message id is 128 bits' "$(json "$entries" 'all(len(x["MESSAGE_ID"]) == 32 for x in d)')" true
is 'a summary at stop' "$(json "$entries" '[x["TLBD_TLB_PER_MIGRATED_PAGE"] for x in d if "TLBD_TLB_PER_MIGRATED_PAGE" in x]')" '["3"]'
is 'that says what cannot be known' "$(json "$entries" '[x["TLBD_TLB_PER_RECLAIMED_PAGE_VALIDITY"] for x in d if "TLBD_TLB_PER_RECLAIMED_PAGE_VALIDITY" in x]')" '["idle"]'
plan
