# Three commands: make demo shows what pneu does, make test checks everything, make bench measures.
# CARGO_TARGET_DIR is honoured.

.PHONY: demo test bench docs

# Builds the release program, makes 20,000 messages under .demo, indexes them and finds some.
demo:
	cargo xtask demo

# Everything that CI checks. Tests of repositories ask restic, which is installed where that can be.
test:
	@.ci/restic
	cargo xtask ci

# Measures the release program on generated mail, which is kept in BENCH_CORPORA between runs (about 12 GB).
BENCH_CORPORA ?= $(HOME)/.cache/pneu-bench
bench:
	cargo build --release --package cli --package bench-own
	$${CARGO_TARGET_DIR:-target}/release/bench-own --program $${CARGO_TARGET_DIR:-target}/release/pneu \
		--corpora "$(BENCH_CORPORA)" --runs bench/runs

# Writes generated docs and the tour in README.md anew.
docs:
	cargo xtask docs
