#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is built from the tables and installed as text: man pages, journal catalog, completion.
# TLBD and TLBCTL are the programs, BUILT the directory of what is built.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
daemon=$(dirname "$0")/../../daemon

# has TEXT FILE WORD: WORD stands in FILE, scdoc's and roff's escapes aside.
has() {
	if sed 's/\\//g' "$2" | grep -F -- "$3" > /dev/null; then pass "$1"; else fail "$1" "not in it: $3"; fi
}

# --- man pages
for page in tlbd.8 tlbctl.1 tlbd.conf.5; do
	is "$page: every directive is filled in" "$(grep -nE '@(topics|words|validities|messages|VERSION)' "$BUILT/$page" || true)" ''
done
for program in "$TLBD" "$TLBCTL"; do
	page=$(echo "$BUILT/$(basename "$program")".[18])
	run "$program" --help
	while read -r option; do
		has "$(basename "$page") has $option" "$page" "$option"
	done < <(grep -oE -- '--[a-z-]+' <<< "$out" | sort -u)
done
verbs=$("$TLBCTL" --help | awk '/^  [a-z]/ { print $1 }')
for verb in $verbs; do
	has "tlbctl.1 has $verb" "$BUILT/tlbctl.1" "fB$verb"
done

# --- catalog
ids=$(grep -ohE '"[0-9a-f]{32}"' "$daemon/conditions.def" "$daemon/journal.h" | tr -d '"' | sort)
is 'the catalog has every message id' "$(sed -n 's/^-- //p' "$BUILT/tlbd.catalog" | sort)" "$ids"
is 'message ids are unique' "$(uniq -d <<< "$ids")" ''
fields=$(grep -ohE '@TLBD_[A-Z_]+@' "$BUILT/tlbd.catalog" | tr -d @ | sort -u)
grep -hv -e '^#' "$daemon"/*.c > "$tap_dir/sources" # gendoc.c has them in @ signs, not in quotes
for field in $fields; do
	has "the daemon has the field $field" "$tap_dir/sources" "\"$field\""
done
if command -v journalctl > /dev/null; then
	mkdir -p "$tap_dir/usr/lib/systemd/catalog" "$tap_dir/var/lib/systemd/catalog"
	cp "$BUILT/tlbd.catalog" "$tap_dir/usr/lib/systemd/catalog/"
	run journalctl --root "$tap_dir" --update-catalog
	is 'journalctl takes the catalog' "$status" 0
	run journalctl --root "$tap_dir" --list-catalog
	is 'and lists every entry' "$(cut -d' ' -f1 <<< "$out" | sort)" "$ids"
else
	skip 'journalctl takes the catalog' 'journalctl is not installed'
fi

# --- completion
compopt() { :; }
complete() { :; }
# shellcheck source=/dev/null
. "$BUILT/tlbctl"
# complete_line WORD...: the candidates for the last word, one line.
complete_line() {
	COMP_WORDS=(tlbctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_tlbctl tlbctl "${COMP_WORDS[COMP_CWORD]#=}" "${COMP_WORDS[COMP_CWORD - 1]}"
	echo "${COMPREPLY[*]}"
}
is 'completion: verbs' "$(complete_line '' | tr ' ' '\n' | sort)" "$(sort <<< "$verbs")"
is 'completion: one verb' "$(complete_line st)" status
is 'completion: every key' "$(complete_line get '' | wc -w)" "$(grep -c '^KEY(' "$daemon/keys.def")"
is 'completion: a key to be set' "$(complete_line set NumaScanSi)" 'NumaScanSizeMb='
is 'completion: values after the sign' "$(complete_line set TlbBatchMigrate =)" 'keep always auto'
is 'completion: a value begun' "$(complete_line set TlbBatchMigrate = au)" auto
is 'completion: names to be explained' "$(complete_line explain tlb_per_m)" tlb_per_migrated_page
is 'completion: a condition' "$(complete_line explain direct-)" direct-reclaim
is 'completion: options of a verb' "$(complete_line set --r)" $'--root --runtime'
is 'completion: options a verb has not' "$(complete_line get --ru)" ''
plan
