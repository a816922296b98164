# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by test scripts: TAP lines, a scratch directory, and a fake root.

tap_count=0
tap_dir=$(mktemp -d "${TMPDIR:-/tmp}/tlbd-test-XXXXXX")
trap 'rm -rf "$tap_dir"' EXIT

pass() { tap_count=$((tap_count + 1)); printf 'ok %d - %s\n' "$tap_count" "$1"; }
fail() { tap_count=$((tap_count + 1)); printf 'not ok %d - %s\n' "$tap_count" "$1"; shift; printf '# %s\n' "$@"; }
skip() { tap_count=$((tap_count + 1)); printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"; }
plan() { printf '1..%d\n' "$tap_count"; }

# is TEXT GOT WANTED
is() {
	if [[ $2 == "$3" ]]; then pass "$1"; else fail "$1" "got:    $2" "wanted: $3"; fi
}

# matches TEXT GOT PATTERN (an extended regular expression)
matches() {
	if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" "got:    $2" "wanted: $3"; fi
}

# shellcheck disable=SC2034 # for the script that sources this
# run COMMAND...: sets status, and output to stdout and stderr in $tap_dir.
run() {
	status=0
	"$@" > "$tap_dir/out" 2> "$tap_dir/err" < /dev/null || status=$?
	out=$(tr -d '\0' < "$tap_dir/out")
	err=$(tr -d '\0' < "$tap_dir/err")
}

# json FILE EXPRESSION: a Python expression of d, the object in FILE; strings plain, others as JSON.
json() {
	python3 -c 'import json,sys
d = json.load(open(sys.argv[1]))
v = eval(sys.argv[2])
print(v if isinstance(v, str) else json.dumps(v, sort_keys=True))' "$1" "$2"
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" > "$tap_dir/wait" 2>&1; do
		(( SECONDS < end )) || return 1
		sleep 0.05
	done
}

# replace FILE: its new content from stdin, in place (tlbd keeps files open) and in one write, so that
# a reader never finds it empty, as it never does a kernel file.
replace() {
	cat > "$tap_dir/replacement"
	dd if="$tap_dir/replacement" of="$1" bs=1M conv=notrunc status=none
	truncate -s "$(stat -c %s "$tap_dir/replacement")" "$1"
}

# interrupts_file CPUS TLB-COUNTS CAL RES: CPU ids, and each row's counts, blank-separated.
interrupts_file() {
	local id
	printf '           '
	for id in $1; do printf 'CPU%-8s' "$id"; done
	printf '\n  1: %s  IO-APIC   1-edge  i8042\n' "$2"
	printf 'RES: %s  Rescheduling interrupts\n' "$4"
	printf 'CAL: %s  Function call interrupts\n' "$3"
	printf 'TLB: %s  TLB shootdowns\n' "$2"
}

# vmstat_file [NAME=VALUE...]: the counters every kernel with NUMA balancing has, with changes.
# shellcheck disable=SC2120 # the arguments are optional
vmstat_file() {
	local name value
	declare -A v=(
		[numa_hit]=1000 [numa_miss]=0 [numa_foreign]=0
		[numa_pte_updates]=0 [numa_hint_faults]=0 [numa_hint_faults_local]=0
		[numa_pages_migrated]=0 [pgmigrate_success]=0
		[pgsteal_kswapd]=0 [pgsteal_direct]=0 [pgscan_kswapd]=0 [pgscan_direct]=0
		[allocstall_normal]=0 [allocstall_movable]=0 [pswpin]=0 [pswpout]=0
		[workingset_refault_anon]=0 [workingset_refault_file]=0
	)
	for name in "$@"; do
		value=${name#*=}
		v[${name%%=*}]=$value
	done
	for name in "${!v[@]}"; do printf '%s %s\n' "$name" "${v[$name]}"; done
}

# fake_root DIR [stock]: a machine of four CPUs and two nodes, with kernel-tlb unless "stock".
fake_root() {
	local r=$1 k
	mkdir -p "$r"/proc/sys/kernel/random "$r"/proc/pressure "$r"/sys/kernel/mm/numa \
		"$r"/sys/devices/system/node/node{0,1} "$r"/run "$r"/etc/tlbd "$r"/usr/lib/tlbd
	interrupts_file '0 1 2 3' '100 200 300 400' '500 500 500 500' '9 9 9 9' > "$r/proc/interrupts"
	# shellcheck disable=SC2119
	vmstat_file > "$r/proc/vmstat"
	printf 'cpu  1000 0 1000 90000 0 10 10 0 0 0\ncpu0 1 0 1 1 0 0 0 0 0 0\ncpu1 1 0 1 1 0 0 0 0 0 0\ncpu2 1 0 1 1 0 0 0 0 0 0\ncpu3 1 0 1 1 0 0 0 0 0 0\nintr 5 1 2\nctxt 1\nbtime 1\nprocesses 5\nprocs_running 1\nprocs_blocked 0\n' > "$r/proc/stat"
	for k in memory cpu irq; do
		printf 'some avg10=0.50 avg60=0.10 avg300=0.00 total=1234\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=999\n' > "$r/proc/pressure/$k"
	done
	echo 7.3.4-1.tlb.x86_64 > "$r/proc/sys/kernel/osrelease"
	echo 11111111-2222-3333-4444-555555555555 > "$r/proc/sys/kernel/random/boot_id"
	echo 1 > "$r/proc/sys/kernel/numa_balancing"
	echo 65536 > "$r/proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"
	echo 0-1 > "$r/sys/devices/system/node/online"
	echo 0-1 > "$r/sys/devices/system/node/node0/cpulist"
	echo 2-3 > "$r/sys/devices/system/node/node1/cpulist"
	echo '10 21' > "$r/sys/devices/system/node/node0/distance"
	echo '21 10' > "$r/sys/devices/system/node/node1/distance"
	for k in 0 1; do
		printf 'Node %s MemTotal: 4194304 kB\nNode %s MemFree: 1048576 kB\n' $k $k > "$r/sys/devices/system/node/node$k/meminfo"
		printf 'numa_hit 5\npgsteal_kswapd 0\npgdemote_kswapd 0\npgpromote_success 0\n' > "$r/sys/devices/system/node/node$k/vmstat"
	done
	echo false > "$r/sys/kernel/mm/numa/demotion_enabled"
	[[ ${2:-} != stock ]] || return 0
	mkdir -p "$r/sys/kernel/mm/tlb_batch"
	echo 'always [auto]' > "$r/sys/kernel/mm/tlb_batch/migrate"
	echo 31 > "$r/sys/kernel/mm/tlb_batch/pageout"
	echo 1000 > "$r/proc/sys/kernel/numa_balancing_scan_delay_ms"
	echo 1000 > "$r/proc/sys/kernel/numa_balancing_scan_period_min_ms"
	echo 60000 > "$r/proc/sys/kernel/numa_balancing_scan_period_max_ms"
	echo 256 > "$r/proc/sys/kernel/numa_balancing_scan_size_mb"
	echo 1000 > "$r/proc/sys/kernel/numa_balancing_hot_threshold_ms"
	for k in other numa_scan numa_migrate reclaim compaction; do
		echo "tlb_shootdown_$k 0"
	done >> "$r/proc/vmstat"
	echo 'tlb_batch_pending_flush 0' >> "$r/proc/vmstat"
}
