#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "tlbctl explain": every name, unknown names, and what it says of the same thing the man pages say.
# TLBCTL is the program under test, BUILT the directory of the built man pages.
set -euo pipefail
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
ctl=$TLBCTL
daemon=$(dirname "$0")/../../daemon

# The words of a text, one blank between them, without scdoc's escapes and emphasis.
words() { tr -s '[:space:]' ' ' | sed 's/\\\(.\)/\1/g'; }

run "$ctl" explain
is 'the list succeeds' "$status" 0
names=$(awk '/^  [^ ]/ { print $1 }' <<< "$out")
is 'the list has every metric, condition and key' "$(sort <<< "$names")" \
	"$(sed -nE 's/^METRIC\([A-Z_]+, "([a-z0-9_]+)".*/\1/p; s/^CONDITION\([A-Z_]+, "([a-z-]+)".*/\1/p; s/^KEY\([A-Z_]+, "[A-Za-z]+", "([A-Za-z]+)".*/\1/p' \
		"$daemon"/{metrics,conditions,keys}.def | sort)"

pages=$(cat "$BUILT"/*.filled | words)
bad='' missing=''
while read -r name; do
	run "$ctl" explain "$name"
	[[ $status == 0 && -z $err ]] || bad+=" $name"
	body=$(awk '/^$/ { n++; next } n == 1' <<< "$out" | words)
	[[ -n ${body// /} && $pages == *"${body% }"* ]] || missing+=" $name"
done <<< "$names"
is 'every name is explained' "$bad" ''
is 'the man pages have the same sentences' "$missing" ''

run "$ctl" explain NumaScanSize
is 'an unknown name is a usage error' "$status" 2
is 'and prints nothing' "$out" ''
matches 'and suggests one that is near' "$err" 'near: NumaScanSizeMb'
run "$ctl" explain $'evil\033[2J'
is 'a name with an escape sequence is not echoed as such' "$(LC_ALL=C grep -c $'\033' "$tap_dir/err" || true)" 0
run "$ctl" explain a b
is 'two names are a usage error' "$status" 2
run bash -c '"$0" explain > /dev/full' "$ctl"
is 'output that cannot be written is an error' "$status" 3
plan
