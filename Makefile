# SPDX-License-Identifier: GPL-2.0-or-later
# Thin verbs; what they do is in scripts/.

.PHONY: help run check check-fast lab rpms clean

help:
	@echo 'make run         build, watch this machine for 15 s, show the report; changes nothing'
	@echo 'make check       build and run all tests (builds and boots a kernel: up to 50 minutes)'
	@echo 'make check-fast  the tests without a kernel build (2 minutes)'
	@echo 'make lab         kernel policy A/B in a guest, as tables'
	@echo 'make rpms        packages and a dnf repository (builds a kernel; FLAVOUR=guest: a small one)'
	@echo 'make clean       remove what the others built here'
	@echo 'Each installs what it needs and lacks.'

run:
	@scripts/bootstrap run
	@scripts/run

check:
	@scripts/bootstrap run check lab rpms
	@scripts/check full

check-fast:
	@scripts/bootstrap run check
	@scripts/check fast

lab:
	@scripts/bootstrap run lab
	@tests/system/lab

rpms:
	@scripts/bootstrap run check lab rpms
	@scripts/rpms

clean:
	rm -rf build build-* results
