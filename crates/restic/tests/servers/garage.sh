#!/usr/bin/env bash
# A Garage cluster of three nodes on the loopback address, three copies of everything.
#
#   garage.sh run DIRECTORY FIRST_PORT  starts it, prints "ready", and ends it when its own standard input
#                                       ends: also when the one who started it died
#   garage.sh kill DIRECTORY NAME       kills one node at once: node0, node1, node2
#   garage.sh start DIRECTORY NAME      starts that node again
#
# The nodes speak S3 on FIRST_PORT and the two ports above. Key: GK746573746163636573730000, its secret 64
# times 7; region garage. cargo install garage --version 2.5.0 --locked. Takes a few seconds. No data
# survives.
set -euo pipefail
command=$1
directory=$(realpath -m "$2")

configure() {
    local number
    for number in 0 1 2; do
        mkdir -p "$directory/node$number"
        cat > "$directory/node$number.toml" <<EOF
metadata_dir = "$directory/node$number/meta"
data_dir = "$directory/node$number/data"
db_engine = "sqlite"
replication_factor = 3
consistency_mode = "consistent"
rpc_secret = "$(printf '5%.0s' {1..64})"
rpc_bind_addr = "127.0.0.1:$((port + 10 + number))"
rpc_public_addr = "127.0.0.1:$((port + 10 + number))"
[s3_api]
s3_region = "garage"
api_bind_addr = "127.0.0.1:$((port + number))"
[admin]
api_bind_addr = "127.0.0.1:$((port + 20 + number))"
admin_token = "$(printf '6%.0s' {1..32})"
EOF
        chmod 600 "$directory/node$number.toml"
    done
}

start_one() {
    garage -c "$directory/$1.toml" server > "$directory/$1.out" 2>&1 < /dev/null &
    echo $! > "$directory/$1.process"
    disown $!
}

# Waits for a command to succeed, a minute at most.
wait_for() {
    local end=$((SECONDS + 60))
    until "$@" > /dev/null 2>&1; do
        if [ $SECONDS -gt $end ]; then
            echo "garage does not come up: $*" >&2
            tail -n 5 "$directory"/node*.out >&2
            return 1
        fi
        sleep 0.2
    done
}

ask() { garage -c "$directory/node0.toml" "$@"; }
identity() { garage -c "$directory/node$1.toml" node id -q; }
answers() { (exec 3<> "/dev/tcp/127.0.0.1/$1"); }

end_all() {
    # None of them has anything worth keeping.
    for file in "$directory"/*.process; do
        # One that a test killed is no reason to leave the others.
        kill -KILL "$(cat "$file")" 2> /dev/null || true
    done
    rm -rf "$directory"
}

start_all() {
    mkdir -p "$directory"
    chmod 700 "$directory"
    configure
    for number in 0 1 2; do start_one "node$number"; done
    for number in 0 1 2; do
        wait_for identity $number
        wait_for answers $((port + 20 + number))
    done
    for number in 1 2; do wait_for ask node connect "$(identity $number)"; done
    for number in 0 1 2; do ask layout assign -z "z$number" -c 1G "$(identity $number | cut -d@ -f1)" > /dev/null; done
    ask layout apply --version 1 > /dev/null
    wait_for ask key import --yes -n test GK746573746163636573730000 "$(printf '7%.0s' {1..64})"
    ask key allow --create-bucket test > /dev/null
    for number in 0 1 2; do wait_for answers $((port + number)); done
}

case $command in
run)
    port=$3
    trap end_all EXIT
    start_all
    echo ready
    # Comes to its end when the one who started this closes it, or is no more.
    cat > /dev/null
    ;;
kill) kill -KILL "$(cat "$directory/$3.process")" ;;
start) start_one "$3" ;;
*) echo "garage.sh run|kill|start" >&2; exit 2 ;;
esac
