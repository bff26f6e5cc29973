# make demo shows what pneu does, make test checks everything, make bench measures, make dist packs.
# CARGO_TARGET_DIR is honoured.

.PHONY: demo test bench docs fuzz dist test-dist size deny

# Builds the program, makes 20,000 messages under .demo, indexes them and finds some. The chore is
# built in the same way: it shares most libraries with the program, which are then built once.
demo:
	cargo run --quiet --profile demo --package xtask -- demo

# Everything that CI checks. Tests of repositories ask restic, those of tables DuckDB and others, which are
# installed where that can be.
test:
	@.ci/restic
	@.ci/tables
	cargo xtask ci

# Measures beside the programs that people use today, after installing those that it can: all tables, or those
# in NAME (index actions headers merge recovery; own is pneu alone, own-actions and own-watch a part of that).
# QUICK=1 takes less than ten minutes, else it is hours. BENCH_CORPORA keeps generated mail (about 30 GB).
# NAME=index BENCH_MAIL=DIR measures the first index of your own mail in DIR, which is only read; results have
# its size, and no names or text. WITHOUT=mu,notmuch leaves slow programs out.
bench:
	cargo xtask bench $(NAME) $(if $(QUICK),--quick) $(if $(WITHOUT),-- --without=$(WITHOUT))

# Writes generated docs, the output of sessions in documents, the picture and the figures anew.
docs:
	cargo xtask docs

# Runs each fuzz target for ten minutes, or FUZZ_SECONDS; those in NAME alone if it is given. Needs
# cargo-fuzz.
fuzz:
	cargo xtask fuzz $(NAME) $(if $(FUZZ_SECONDS),--seconds $(FUZZ_SECONDS))

# Builds the packages into target/dist: a static tarball, a .deb, a wheel and checksums. TARGET names another
# machine, for instance aarch64-unknown-linux-musl. Needs musl-gcc (Debian: musl-tools) and Python.
dist:
	cargo xtask deny
	cargo xtask dist $(if $(TARGET),--target $(TARGET))

# Builds the packages, installs each in a clean place and tries it there. The .deb needs debootstrap and root.
test-dist:
	cargo xtask test-dist

# Builds the programs as "cargo install" does, and checks their sizes.
size:
	cargo xtask size

# Checks licences, sources and known flaws of the libraries that are shipped.
deny:
	cargo xtask deny
