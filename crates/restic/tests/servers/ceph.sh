#!/usr/bin/env bash
# A small Ceph cluster on the loopback address: a monitor, three storage daemons (OSDs), two gateways that
# speak S3.
#
#   ceph.sh run DIRECTORY FIRST_PORT  starts it, prints "ready", and ends it when its own standard input ends:
#                                     also when the one who started it died
#   ceph.sh kill DIRECTORY NAME       kills one daemon at once: osd0, osd1, osd2, gateway0, gateway1
#   ceph.sh start DIRECTORY NAME      starts that daemon again
#
# The gateways listen on FIRST_PORT and FIRST_PORT + 1; the monitor and the OSDs above. Key: testaccess,
# testsecret1. Debian's packages ceph-mon, ceph-osd, radosgw, ceph-common. Takes about 30 s and 0.8 GB. No
# data survives.
set -euo pipefail
command=$1
directory=$(realpath -m "$2")
configuration="$directory/ceph.conf"

configure() {
    cat > "$configuration" <<EOF
[global]
keyring = $directory/keyring
fsid = $cluster
mon_host = [v2:127.0.0.1:$((port + 2)),v1:127.0.0.1:$((port + 3))]
mon_initial_members = a
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
ms_bind_port_min = $((port + 10))
ms_bind_port_max = $((port + 90))
run_dir = $directory/run
admin_socket = $directory/run/\$name.asok
pid_file = $directory/run/\$name.pid
log_file = $directory/log/\$name.log
osd_pool_default_size = 3
osd_pool_default_min_size = 2
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_max_pg_per_osd = 1000
# The disk is somebody else's: how full it is says nothing here. A monitor ends without a word when as many
# percent of it are available as mon_data_avail_crit says, or fewer.
mon_osd_full_ratio = 0.99
mon_osd_nearfull_ratio = 0.98
mon_osd_backfillfull_ratio = 0.985
mon_data_avail_crit = -1
mon_data_avail_warn = -1
# A dead OSD is noticed within seconds, not within a minute.
osd_heartbeat_interval = 1
osd_heartbeat_grace = 4
mon_osd_min_down_reporters = 1
osd_objectstore = bluestore
bluestore_block_size = 2147483648
bluestore_block_db_create = false
bluestore_block_wal_create = false
bluestore_fsck_on_mount = false
osd_memory_target = 939524096
osd_class_load_list = *
osd_class_default_list = *
rgw_thread_pool_size = 32
rgw_enable_usage_log = false
[mon.a]
mon_data = $directory/mon
[osd]
osd_data = $directory/osd\$id
keyring = $directory/osd\$id/keyring
[client.rgw.0]
rgw_frontends = beast endpoint=127.0.0.1:$port
[client.rgw.1]
rgw_frontends = beast endpoint=127.0.0.1:$((port + 1))
EOF
}

# Starts a daemon and notes its process.
daemon() {
    local name=$1
    shift
    "$@" -c "$configuration" -f > "$directory/log/$name.out" 2>&1 < /dev/null &
    echo $! > "$directory/run/$name.process"
    disown $!
}

start_one() {
    case $1 in
    monitor) daemon monitor ceph-mon -i a ;;
    osd*) daemon "$1" ceph-osd -i "${1#osd}" ;;
    gateway*) daemon "$1" radosgw -n "client.rgw.${1#gateway}" ;;
    *) echo "no daemon is called $1" >&2; return 2 ;;
    esac
}

is_alive() { kill -0 "$(cat "$directory/run/$1.process")" 2> /dev/null; }

# Waits for a command to succeed, as long as the daemon it asks lives, and for two minutes at most.
wait_for() {
    local name=$1 end=$((SECONDS + 120))
    shift
    until "$@" > /dev/null 2>&1; do
        if ! is_alive "$name" || [ $SECONDS -gt $end ]; then
            echo "$name does not come up:" >&2
            # What a daemon says is in the first, why it ends of itself is often in one of the others.
            tail -n 5 "$directory/log/$name.out" "$directory"/log/*.log >&2
            df -h "$directory" >&2
            return 1
        fi
        sleep 0.2
    done
}

ask() { timeout 20 ceph -c "$configuration" "$@"; }
has_all_osds() { ask osd stat -f json | grep -q '"num_up_osds": *3'; }
answers() { (exec 3<> "/dev/tcp/127.0.0.1/$1"); }

end_all() {
    # None of them has anything worth keeping.
    for file in "$directory"/run/*.process; do
        # One that a test killed is no reason to leave the others.
        kill -KILL "$(cat "$file")" 2> /dev/null || true
    done
    rm -rf "$directory"
}

new_key() { ceph-authtool "$directory/keyring" --gen-key "$@" > /dev/null; }

start_all() {
    mkdir -p "$directory"/{mon,log,run}
    cluster=$(cat /proc/sys/kernel/random/uuid)
    configure
    ceph-authtool --create-keyring "$directory/mon.keyring" --gen-key -n mon. --cap mon 'allow *' > /dev/null
    touch "$directory/keyring"
    new_key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
    for number in 0 1; do new_key -n "client.rgw.$number" --cap mon 'allow rw' --cap osd 'allow rwx'; done
    ceph-authtool "$directory/mon.keyring" --import-keyring "$directory/keyring" > /dev/null
    monmaptool --create --clobber --fsid "$cluster" \
        --addv a "[v2:127.0.0.1:$((port + 2)),v1:127.0.0.1:$((port + 3))]" "$directory/monmap" > /dev/null
    ceph-mon -c "$configuration" -i a --mkfs --monmap "$directory/monmap" --keyring "$directory/mon.keyring"
    start_one monitor
    wait_for monitor ask fsid
    for number in 0 1 2; do
        mkdir -p "$directory/osd$number"
        id=$(cat /proc/sys/kernel/random/uuid)
        key=$(ceph-authtool --gen-print-key)
        printf '[osd.%s]\nkey = %s\n' "$number" "$key" > "$directory/osd$number/keyring"
        echo "{\"cephx_secret\":\"$key\"}" | ask osd new "$id" "$number" -i - > /dev/null
        ceph-osd -c "$configuration" -i "$number" --mkfs --osd-uuid "$id" > "$directory/log/mkfs$number.out" 2>&1
        ask osd crush add "osd.$number" 1.0 "host=h$number" root=default > /dev/null 2>&1
        start_one "osd$number"
    done
    wait_for osd2 has_all_osds
    # One after the other: the first one makes the pools.
    for number in 0 1; do
        start_one "gateway$number"
        wait_for "gateway$number" answers $((port + number))
    done
    radosgw-admin -c "$configuration" user create --uid=test --display-name=test \
        --access-key=testaccess --secret=testsecret1 > "$directory/log/user.out" 2>&1
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
kill) kill -KILL "$(cat "$directory/run/$3.process")" ;;
start) start_one "$3" ;;
*) echo "ceph.sh run|kill|start" >&2; exit 2 ;;
esac
