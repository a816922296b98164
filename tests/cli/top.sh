#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "tlbctl top" as text, and on a terminal (tmux) that is resized down to one cell.
# TLBCTL is the program under test.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
ctl=$TLBCTL
root=$tap_dir/root
fixtures=$(dirname "$0")/../fixtures/status

# status NAME [CPUS STEP]: fixture NAME as if this shell had just written it, with other CPUs.
status_now() {
	mkdir -p "$root/run/tlbd"
	python3 - "$fixtures/$1.json" $$ "${2:-0}" "${3:-1}" <<-'PYTHON' > "$root/run/tlbd/new"
		import json, sys, time
		d = json.load(open(sys.argv[1]))
		d['pid'] = int(sys.argv[2])
		d['monotonic_ns'] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
		d['interval_s'] = 30.0
		d['samples'] = time.monotonic_ns()
		n, step = int(sys.argv[3]), int(sys.argv[4])
		if n:
		    d['cpus'] = {'id': [i * step for i in range(n)], 'tlb_per_s': [float(i) for i in range(n)]}
		print(json.dumps(d))
	PYTHON
	mv "$root/run/tlbd/new" "$root/run/tlbd/status.json"
}

# --- what it refuses to show
run "$ctl" --root "$root" top
is 'no tlbd: exit status' "$status" 3
matches 'no tlbd: says what to do' "$err" 'status.json is not there: tlbd is not running'
mkdir -p "$root/run/tlbd"
echo '{"version": 1, "pid":' > "$root/run/tlbd/status.json"
run "$ctl" --root "$root" top
is 'half a status: exit status' "$status" 3
cp "$fixtures/storm.json" "$root/run/tlbd/status.json"
run "$ctl" --root "$root" top
is 'an old status: exit status' "$status" 3
matches 'an old status: says so' "$err" 'is gone|out of date|earlier boot'
run "$ctl" --root "$root" top more
is 'an operand is a usage error' "$status" 2

# --- as text
status_now storm
"$ctl" --root "$root" --interval-sec 0.1 top > "$tap_dir/text" < /dev/null &
pid=$!
wait_for 10 grep -q 'CPUs changed' "$tap_dir/text"
status_now laptop
wait_for 10 grep -q 'arch1' "$tap_dir/text" || true
status_now storm 4096
wait_for 10 grep -q 'CPU 4095' "$tap_dir/text" || true
kill "$pid"
wait "$pid" 2> /dev/null || true
text=$(< "$tap_dir/text")
is 'text: one block for each reading' "$(grep -c '^tlbd 0' "$tap_dir/text")" 3
matches 'text: the raised condition' "$text" 'RAISED balancing-flush-storm, 12 min: tlb_per_migrated_page 205.2'
matches 'text: a CPU that is missing' "$text" '     0 844444 \?'
matches 'text: no escape sequence' "$(LC_ALL=C grep -c '[^ -~]' "$tap_dir/text" || true)" '^0$'
is 'text: no line is wider than 80' "$(awk 'length > 80' "$tap_dir/text")" ''

# --- on a terminal
if ! command -v tmux > /dev/null; then
	skip 'top on a terminal' 'tmux is not installed'
	plan
	exit 0
fi
tmux_() { tmux -S "$tap_dir/tmux" -f /dev/null "$@"; }
trap 'tmux_ kill-server 2> /dev/null || true; rm -rf "$tap_dir"' EXIT
# A server without a session exits, and would do so while the next session is started.
tmux_ new-session -d -s keep 'sleep 600'
screen() { tmux_ capture-pane -p -t top; }
shows() { screen | grep -E -- "$1"; } # not -q: it would end "screen" by a signal
# starts WIDTH HEIGHT [LOCALE [TERM]]
start() {
	rm -f "$tap_dir/rc"
	TERM=xterm-256color tmux_ new-session -d -s top -x "$1" -y "$2" \
		"LC_ALL=${3:-C.UTF-8} TERM=${4:-screen} '$ctl' --root '$root' --interval-sec 0.1 top 2> '$tap_dir/err'; echo \$? > '$tap_dir/rc'"
}
ended() { [[ -s $tap_dir/rc ]]; }

status_now storm 384
start 100 40
if wait_for 10 shows '^tlbd 0.*384 CPUs'; then pass 'terminal: title'; else fail 'terminal: title' "$(screen)"; fi
shown=$(screen)
matches 'terminal: keys' "$shown" 'q quit'
matches 'terminal: the first CPUs in blocks' "$shown" '     0 ·▁▁▁▁'
matches 'terminal: the last row of CPUs' "$shown" '   320 .*█'
matches 'terminal: nodes' "$shown" '     1    192    768 GiB'
for size in '80 24' '40 60' '200 5' '1 1' '2 30' '130 2' '3 3' '300 90' '81 25'; do
	read -r w h <<< "$size"
	tmux_ resize-window -t top -x "$w" -y "$h"
	sleep 0.3
	if ended; then
		fail "terminal: survives a size of $w x $h" "$(cat "$tap_dir/err")"
		break
	fi
	pass "terminal: survives a size of $w x $h"
done
if wait_for 10 shows '^ +256 ..*'; then pass 'terminal: drawn anew for its size'; else fail 'terminal: drawn anew for its size' "$(screen)"; fi
status_now storm 4096 2
if wait_for 10 shows 'CPU 8190 with 4,095, a cell is the busiest of'; then pass 'terminal: a new reading is shown'; else fail 'terminal: a new reading is shown' "$(screen)"; fi
rm "$root/run/tlbd/status.json"
if wait_for 10 shows 'is not there: tlbd is not running'; then pass 'terminal: says when tlbd has gone'; else fail 'terminal: says when tlbd has gone' "$(screen)"; fi
status_now laptop
if wait_for 10 shows 'No condition is raised'; then pass 'terminal: goes on when it is back'; else fail 'terminal: goes on when it is back' "$(screen)"; fi
tmux_ send-keys -t top x
sleep 0.3
is 'terminal: other keys do nothing' "$(cat "$tap_dir/rc" 2> /dev/null || true)" ''
tmux_ send-keys -t top q
if wait_for 10 ended; then is 'terminal: q ends it with 0' "$(< "$tap_dir/rc")" 0; else fail 'terminal: q ends it' "$(screen)"; fi

start 80 24 C
wait_for 10 shows '^tlbd 0' || true
matches 'terminal without UTF-8: digits' "$(screen)" '     0 844444 '
pkill -TERM -P "$(tmux_ display-message -p -t top '#{pane_pid}')"
if wait_for 10 ended; then is 'SIGTERM ends it with 0' "$(< "$tap_dir/rc")" 0; else fail 'SIGTERM ends it' "$(screen)"; fi

start 80 24 C no-such-terminal
if wait_for 10 shows '^TLB interrupts/s'; then pass 'unknown terminal: text'; else fail 'unknown terminal: text' "$(screen)"; fi
matches 'unknown terminal: says so' "$(cat "$tap_dir/err")" 'terminal type "no-such-terminal" is not known'
plan
