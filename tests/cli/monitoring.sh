#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# monitoring/: rules and dashboard, by promtool and by a Prometheus that is started here on loopback
# and scrapes a tlbd whose counters move. TLBD is the program under test. With PICTURE=FILE.svg the
# panels are drawn, after PICTURE_SEC seconds of data.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
monitoring=$(cd "$(dirname "$0")/../../monitoring" && pwd)
root=$tap_dir/root
pids=()
# shellcheck disable=SC2317 # by the trap
clean_up() {
	kill -KILL "${pids[@]}" 2> /dev/null || true
	wait 2> /dev/null || true
	rm -rf "$tap_dir"
}
trap clean_up EXIT

for tool in promtool prometheus; do
	if ! command -v $tool > /dev/null; then
		skip "monitoring: rules and dashboard" "no $tool here (package prometheus; EL has none)"
		plan
		exit 0
	fi
done

# --- rules
run promtool check rules "$monitoring/tlbd.rules.yml"
is 'promtool takes the rules' "$status" 0
cp "$monitoring"/tlbd.rules*.yml "$tap_dir"
cd "$tap_dir"
run promtool test rules tlbd.rules.test.yml
is 'their tests pass' "$status" 0
for change in 's/== 1$/== 2/' 's/numa_scan|numa_migrate/numa_scan/' 's/> 120/> 12000/' 's/for: 15m/for: 1m/'; do
	sed "$change" "$monitoring/tlbd.rules.yml" > tlbd.rules.yml
	run promtool test rules tlbd.rules.test.yml
	is "the tests notice $change" "$status" 1
done
is 'each alert is tested, firing' "$(grep -oP '(?<=alert: )\S+' "$monitoring/tlbd.rules.yml" | sort)" \
	"$(grep -A1 'alertname:' "$monitoring/tlbd.rules.test.yml" | grep -B1 'exp_alerts:$' | grep -oP '(?<=alertname: )\w+' | sort -u)"

# --- a machine whose counters move
fake_root "$root"
mkdir -p "$root/sys/fs/cgroup/system.slice"/{db,web,batch}.service "$root/sys/fs/cgroup/init.scope"
echo memory > "$root/sys/fs/cgroup/cgroup.controllers"
printf '[Monitor]\nCpuBudgetPercent=100\n[Conditions]\nWindowCount=1\n[Tuning]\nTlbBatchPageout=31\n' > "$root/etc/tlbd/tlbd.conf"
cat > move <<'PYTHON'
"""move ROOT: each half second more of everything; balancing at first by db, then reclaim by web."""
import os, sys, time, math
root, start = sys.argv[1], time.monotonic()
total = {}
def write(path, text):
    # In place and in one write: tlbd keeps the file open, and never finds a part of it.
    fd = os.open(os.path.join(root, path), os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(fd, text.encode())
    os.ftruncate(fd, len(text))
    os.close(fd)
def add(name, n):
    total[name] = total.get(name, 0) + max(int(n), 0)
    return total[name]
base = dict(line.split() for line in open(os.path.join(root, 'proc/vmstat')))
while True:
    t = time.monotonic() - start
    storm = 1 + math.sin(t / 15)
    squeeze = max(0.1, math.sin(t / 20 + 4))
    migrated = {'db': 900 * storm, 'web': 120, 'batch': 60 * storm}
    stolen = {'db': 20, 'web': 700 * squeeze, 'batch': 250 * squeeze}
    for unit, n in migrated.items():
        d = f'sys/fs/cgroup/system.slice/{unit}.service/'
        add(unit + '_stall', 4e5 * squeeze * stolen[unit] / 900)
        write(d + 'memory.current', '1000000\n')
        write(d + 'memory.stat', f'numa_pages_migrated {add(unit + "_m", n)}\n'
              f'numa_hint_faults {add(unit + "_f", n * 1.5)}\n'
              f'pgsteal_kswapd {add(unit + "_k", stolen[unit] * 0.8)}\n'
              f'pgsteal_direct {add(unit + "_d", stolen[unit] * 0.2)}\n')
        write(d + 'memory.pressure', f'some avg10=1.00 avg60=0.00 avg300=0.00 total={total[unit + "_stall"]}\n'
              f'full avg10=0.00 avg60=0.00 avg300=0.00 total={total[unit + "_stall"] // 3}\n')
    write('sys/fs/cgroup/init.scope/memory.current', '1000\n')
    write('sys/fs/cgroup/init.scope/memory.stat', 'numa_pages_migrated 0\nnuma_hint_faults 0\n'
          'pgsteal_kswapd 0\npgsteal_direct 0\n')
    m, s = sum(migrated.values()) + 15, sum(stolen.values()) + 10
    vmstat = dict(base, numa_pages_migrated=add('m', m), numa_hint_faults=add('f', m * 1.5),
                  numa_hint_faults_local=add('l', m * (0.9 - 0.2 * storm)), numa_pte_updates=add('p', m * 3),
                  pgsteal_kswapd=add('k', s * 0.8), pgsteal_direct=add('d', s * 0.2),
                  pgscan_kswapd=add('sk', s), pgscan_direct=add('sd', s * 0.4),
                  tlb_shootdown_numa_scan=add('ts', m * 0.9 * storm), tlb_shootdown_numa_migrate=add('tm', m * 0.6),
                  tlb_shootdown_reclaim=add('tr', s * 0.35), tlb_shootdown_compaction=add('tc', 20),
                  tlb_shootdown_other=add('to', 60))
    write('proc/vmstat', ''.join(f'{k} {v}\n' for k, v in vmstat.items()))
    for node in 0, 1:
        free = int(1048576 * (1 + 0.5 * math.sin(t / 20 + 1 + 2 * node)))
        write(f'sys/devices/system/node/node{node}/meminfo',
              f'Node {node} MemTotal: 4194304 kB\nNode {node} MemFree: {free} kB\n')
    time.sleep(0.5)
PYTHON
python3 move "$root" & pids+=($!)
"$TLBD" --root "$root" --interval 1 --log stderr > tlbd.out 2> log & pids+=($!)
cat > serve <<'PYTHON'
"""serve FILE: the file as /metrics on a free port of loopback, which is printed."""
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            with open(sys.argv[1], 'rb') as file:
                data = file.read()
        except FileNotFoundError:
            return self.send_error(503)
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 serve "$root/run/tlbd/tlbd.prom" > port & pids+=($!)
wait_for 20 test -s port
listen=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed 's/\[5m\]/[20s]/g; s/for: [0-9]*[mh]/for: 0s/' "$monitoring/tlbd.rules.yml" > fast.rules.yml
cat > prometheus.yml <<-EOF2
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [fast.rules.yml]
	scrape_configs:
	  - job_name: node
	    static_configs:
	      - {targets: ['127.0.0.1:$(cat port)'], labels: {instance: machine-1}}
EOF2
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="$listen" \
	--log.level=warn > prometheus.log 2>&1 & pids+=($!)
wait_for 60 python3 -c "import urllib.request as u; u.urlopen('http://$listen/-/ready')" ||
	{ fail 'Prometheus starts' "$(tail -n 5 prometheus.log)"; plan; exit 1; }

# query EXPRESSION PYTHON: of its result r, a list of (labels, value).
query() {
	python3 - "http://$listen/api/v1/query" "$1" "$2" <<-'PYTHON'
		import json, sys, urllib.parse, urllib.request
		with urllib.request.urlopen(sys.argv[1] + '?' + urllib.parse.urlencode({'query': sys.argv[2]})) as answer:
		    r = [(one['metric'], float(one['value'][1])) for one in json.load(answer)['data']['result']]
		print(json.dumps(eval(sys.argv[3])))
	PYTHON
}
answers() { [[ $(query "$1" "$2" 2>&1) == true ]]; }

# --- what it made of it
if wait_for 60 answers 'up{job="node"} == 1' 'len(r) == 1'; then pass 'Prometheus scrapes the file'; else fail 'Prometheus scrapes the file' "$(query up r)"; fi
sleep "${PICTURE_SEC:-25}"
run "$monitoring/panels" "http://$listen" "${PICTURE_SEC:-25}" ${PICTURE:+"$PICTURE"}
is 'every query of the dashboard has data' "$status $(grep EMPTY out || true)$err" '0 '
cp out panels.out
is 'every panel was asked' "$(cut -c7- panels.out | sed 's/ [A-Z]: .*//' | sort -u)" "$(json "$monitoring/tlbd-dashboard.json" '"\n".join(sorted(p["title"] for p in d["panels"]))')"
is 'the dashboard is one that Grafana imports' "$(json "$monitoring/tlbd-dashboard.json" 'd["schemaVersion"] >= 36 and len(set(p["id"] for p in d["panels"])) == len(d["panels"]) and all(set(p) >= {"type", "title", "gridPos", "targets", "datasource"} and p["gridPos"]["x"] + p["gridPos"]["w"] <= 24 for p in d["panels"]) and all(t["datasource"]["uid"].strip("{$}") == "datasource" for p in d["panels"] for t in p["targets"]) and [v["name"] for v in d["templating"]["list"]] == ["datasource", "instance"]')" true
if wait_for 30 answers 'cgroup:tlbd_numa_tlb_interrupts:rate5m' 'len(r) == 4 and max(r, key=lambda x: x[1])[0]["cgroup"] == "/system.slice/db.service"'; then pass 'the cost of each service is recorded, db leads in balancing'; else fail 'the cost of each service is recorded, db leads in balancing' "$(query 'cgroup:tlbd_numa_tlb_interrupts:rate5m' r)"; fi
if wait_for 30 answers 'cgroup:tlbd_reclaim_tlb_interrupts:rate5m' 'len(r) == 4 and max(r, key=lambda x: x[1])[0]["cgroup"] == "/system.slice/web.service"'; then pass 'and web in reclaim'; else fail 'and web in reclaim' "$(query 'cgroup:tlbd_reclaim_tlb_interrupts:rate5m' r)"; fi
# Other's pages are nobody's: the units together have a little less than all.
matches 'costs of units add up to what balancing costs' "$(query 'sum(instance_cgroup:tlbd_numa_tlb_interrupts:rate5m) / sum(instance_cause:tlbd_tlb_interrupts:rate5m{cause=~"numa_.*"})' 'bool(r) and 0.9 < r[0][1] < 1.05')" true
if wait_for 30 answers 'ALERTS{alertname="TlbBalancingFlushStorm",alertstate="firing"}' 'len(r) == 1'; then pass 'the storm is an alert'; else fail 'the storm is an alert' "$(query 'ALERTS' r)" "$(query tlbd_condition_raised r)"; fi
printf '[Monitor]\nNonsense=1\n' > "$root/etc/tlbd/tlbd.conf"
kill -HUP "${pids[1]}"
if wait_for 30 answers 'ALERTS{alertname="TlbdConfigRefused",alertstate="firing"}' 'len(r) == 1'; then pass 'so is a configuration that is refused'; else fail 'so is a configuration that is refused' "$(query 'ALERTS' r)"; fi
echo 5 | replace "$root/sys/kernel/mm/tlb_batch/pageout"
if wait_for 30 answers 'ALERTS{alertname="TlbdKnobYielded",alertstate="firing",knob="TlbBatchPageout"}' 'len(r) == 1'; then pass 'and a setting that somebody else changed'; else fail 'and a setting that somebody else changed' "$(query 'tlbd_knob_yielded' r)"; fi
is 'Prometheus had nothing to complain about' "$(grep -v 'level=info' prometheus.log || true)" ''
plan
