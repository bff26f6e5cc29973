//! `pneu-tarantool` on what Tarantool itself wrote, and Tarantool on what `pneu-tarantool` wrote.

use crate::support::Home;
use std::fs;
use testkit::tarantool;

/// Fills spaces, takes a snapshot, and goes on with what only logs tell.
const WRITE: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='log', checkpoint_count=9}
local orders = box.schema.space.create('orders')
orders:create_index('pk')
orders:create_index('by_customer', {parts={{2, 'string'}, {3, 'integer'}}, unique=true})
orders:create_index('by_note', {parts={{4, 'scalar', is_nullable=true}}, unique=false})
orders:create_index('by_hash', {type='HASH', parts={{2, 'string'}, {3, 'integer'}}})
for number = 1, 3000 do
    local notes = {'note ' .. number % 7, number % 5, number % 2 == 0, box.NULL}
    orders:insert{number * 7919 % 100003, 'customer ' .. number % 50, number - 1500, notes[number % 4 + 1], \
    {deep={number}}}
end
local own = box.schema.space.create('own', {is_local=true})
own:create_index('pk', {parts={{1, 'string'}}})
own:insert{'kept'}
local places = box.schema.space.create('places')
places:create_index('pk')
places:create_index('where', {type='RTREE', parts={{2, 'array'}}, unique=false})
places:insert{1, {10, 20}}
box.snapshot()
box.begin()
for number = 1, 500 do orders:replace{number, 'moved', number, 'x'} end
box.commit()
orders:update(5, {{'=', 4, 'updated'}, {'!', 5, 'more'}})
orders:upsert({200000, 'upserted', 0}, {{'=', 4, 'old'}})
orders:upsert({6, 'ignored', 0}, {{'+', 3, 100000}})
orders:delete(7)
local late = box.schema.space.create('late')
late:create_index('pk', {type='HASH', parts={{1, 'unsigned'}, {2, 'boolean'}}})
for number = 1, 100 do late:insert{number, number % 2 == 0} end
os.exit(0)
";

/// Prints every tuple of the spaces, in the order of each index.
const TELL: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='log'}
local json = require('json')
for _, wanted in ipairs{{'orders', 'pk'}, {'orders', 'by_customer'}, {'orders', 'by_note'}, {'own', 'pk'}, \
{'places', 'pk'}} do
    print('== ' .. wanted[1] .. ' ' .. wanted[2])
    for _, tuple in box.space[wanted[1]].index[wanted[2]]:pairs() do print(json.encode(tuple)) end
end
print('== late', box.space.late:len(), box.space.orders.index.by_hash:count(), box.info.signature)
os.exit(0)
";

#[test]
fn tarantools_rows_come_through_a_store_and_back() {
    let home = Home::new();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir(&from).unwrap();
    if tarantool(&from, WRITE).is_none() {
        return;
    }
    let run = home.run(&["load", "from", "--into", "s", "--quiet"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(
        run.err.contains("places") && run.err.contains("where") && run.err.lines().count() == 1,
        "{run:?}"
    );
    assert_eq!(home.good(&["verify", "from"]), "no damage found\n");
    assert_eq!(home.good(&["verify", "s"]), "no damage found\n");
    let told = tarantool(&from, TELL).unwrap();
    for section in told.split("== ").skip(1) {
        let (head, wanted) = section.split_once('\n').unwrap();
        let [space, index] = head.split([' ', '\t']).collect::<Vec<_>>()[..] else { continue };
        let found = home.good(&["scan", "s", space, "--index", index]);
        assert!(!wanted.is_empty() && found == wanted, "{head}:\n{found}\n{wanted}");
    }
    let late = home.good(&["scan", "s", "late"]);
    assert_eq!(late.lines().count(), 100);
    assert_eq!(home.good(&["get", "s", "late", "8", "true"]), "[8,true]\n");
    assert_eq!(home.run(&["get", "s", "late", "8", "false"]).code, Some(1));
    home.good(&["export", "s", "--to", "to", "--quiet"]);
    assert_eq!(tarantool(&to, TELL).unwrap(), told, "Tarantool finds in our snapshot what it wrote itself");
}

/// A middle log that lost its end: the original starts without those rows, and says a line in its log.
#[test]
fn what_tarantool_misses_silently_is_refused() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let write = "
        box.cfg{memtx_dir='.', wal_dir='.', log='log'}
        local space = box.schema.space.create('rows')
        space:create_index('pk')
        for number = 1, 500 do space:insert{number} end
        box.snapshot()
        os.exit(0)";
    if tarantool(&from, write).is_none() {
        return;
    }
    let more = "
        box.cfg{memtx_dir='.', wal_dir='.', log='log'}
        for number = 501, 1000 do box.space.rows:insert{number} end
        os.exit(0)";
    tarantool(&from, more).unwrap();
    tarantool(&from, &more.replace("501, 1000", "1001, 1500")).unwrap();
    let mut logs: Vec<_> = fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.retain(|path| path.extension().is_some_and(|end| end == "xlog"));
    logs.sort();
    let middle = logs.iter().rev().nth(1).unwrap();
    let bytes = fs::read(middle).unwrap();
    fs::write(middle, &bytes[..bytes.len() / 2]).unwrap();
    let run = home.run(&["load", "from", "--into", "s"]);
    assert!(
        run.code == Some(2) && run.err.starts_with("pneu-tarantool: rows are missing between "),
        "{run:?}"
    );
    let run = home.run(&["load", "from", "--into", "s", "--salvage", "--quiet"]);
    assert!(run.code == Some(3) && run.out.starts_with("lost     from/"), "{run:?}");
    let rows = home.good(&["scan", "s", "rows"]).lines().count();
    let count = "
        box.cfg{memtx_dir='.', wal_dir='.', log='log'}
        print(box.space.rows:len())
        os.exit(0)";
    // It does start, and has as few rows as salvage has.
    assert_eq!(tarantool(&from, count).unwrap(), format!("{rows}\n"));
    assert!((1000..1500).contains(&rows), "{rows} rows");
}

/// Nothing is cut where it runs: it holds the lock that we ask for.
#[test]
fn a_running_tarantool_is_noticed() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let script = format!(
        "box.cfg{{memtx_dir='.', wal_dir='.', log='log'}}
        local pipe = io.popen('cd .. && {} verify --cut from 2>&1')
        print(pipe:read('*a'))
        os.exit(0)",
        env!("CARGO_BIN_EXE_pneu-tarantool")
    );
    let Some(printed) = tarantool(&from, &script) else { return };
    assert_eq!(
        printed.trim_end(),
        "pneu-tarantool: from is in use: stop the Tarantool that runs there first"
    );
}

/// Every command reads the files of vinyl, also where they are elsewhere. Without them nothing looks whole.
#[test]
fn rows_that_vinyl_keeps_are_read_and_without_their_files_nothing_looks_whole() {
    let home = Home::new();
    let (from, disk) = (home.path().join("from"), home.path().join("disk"));
    fs::create_dir(&from).unwrap();
    fs::create_dir(&disk).unwrap();
    let script = "
        box.cfg{memtx_dir='.', wal_dir='.', vinyl_dir='../disk', log='log', vinyl_timeout=60}
        local v = box.schema.space.create('v', {engine='vinyl'})
        v:create_index('pk')
        v:create_index('by_text', {parts={{2, 'string'}}, unique=false})
        v:insert{1, 'one'} v:insert{2, 'two'} v:insert{3, 'three'}
        box.snapshot()
        v:delete{2}
        v:upsert({3, 'never'}, {{'=', 2, 'drei'}})
        local late = box.schema.space.create('late', {engine='vinyl'})
        late:create_index('pk')
        late:insert{4}
        os.exit(0)";
    if tarantool(&from, script).is_none() {
        return;
    }
    let vinyl = ["--vinyl-dir", "disk"];
    let good = |words: &[&str]| home.good(&[words, &vinyl].concat());
    assert_eq!(good(&["scan", "from", "v"]), "[1,\"one\"]\n[3,\"drei\"]\n");
    // The second time it is kept, and a change of a file of vinyl is noticed.
    assert_eq!(good(&["get", "from", "v", "3"]), "[3,\"drei\"]\n");
    assert_eq!(good(&["scan", "from", "v", "--index", "by_text", "--eq", "one"]), "[1,\"one\"]\n");
    assert_eq!(good(&["count", "from", "late"]), "1\n");
    assert_eq!(good(&["verify", "from"]), "no damage found\n");
    let info = good(&["info", "from"]);
    let of_vinyl: Vec<&str> = info.lines().filter(|line| line.starts_with("vinyl ")).collect();
    assert_eq!(of_vinyl.len(), 4, "{info}");
    assert!(of_vinyl[0].starts_with("vinyl      000000000000000000") && of_vinyl[0].contains(".vylog  "));
    let of_index = "vinyl      space 512, index 0: 1 range, 1 run, 1 page, 3 rows up to ";
    assert!(of_vinyl[1].starts_with(of_index), "{info}");
    assert!(of_vinyl[3].contains("space 513, index 0: 1 range, 0 runs, 0 pages, 0 rows up to "), "{info}");
    home.good(&["load", "from", "--vinyl-dir", "disk", "--into", "s"]);
    assert_eq!(home.good(&["scan", "s", "v"]), "[1,\"one\"]\n[3,\"drei\"]\n");
    let run = home.run(&["export", "from", "--vinyl-dir", "disk", "--to", "to"]);
    assert!(
        run.code == Some(0) && run.err.contains("space v (512) was kept by vinyl, and is now kept by memtx")
    );
    let listed = "box.cfg{memtx_dir='.', wal_dir='.', log='log'}
        print(box.space.v.engine, box.space.v:count(), box.space.v:get(3)[2], box.space.late:get(4)[1])
        os.exit(0)";
    assert_eq!(tarantool(&home.path().join("to"), listed).unwrap(), "memtx\t2\tdrei\t4\n");

    let refused = home.run(&["load", "from", "--into", "t"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("name the directory of vinyl with --vinyl-dir"), "{refused:?}");
    let lost = "space v (512): all rows from before the snapshot, which vinyl keeps in its own files";
    let run = home.run(&["load", "from", "--into", "t", "--quiet", "--salvage"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.out.starts_with(&format!("lost     {lost}\n")), "{run:?}");
    assert!(home.good(&["info", "t"]).contains(&format!("lost       {lost}\n")));
    let run = home.run(&["export", "t", "--to", "other", "--quiet"]);
    assert!(
        run.code == Some(3) && run.err.contains(&format!("the output lacks what the store lacks: {lost}"))
    );

    let run_file = fs::read_dir(disk.join("512/0")).unwrap().map(|entry| entry.unwrap().path());
    let run_file = run_file.filter(|path| path.extension().is_some_and(|end| end == "run")).max().unwrap();
    let mut bytes = fs::read(&run_file).unwrap();
    let at = bytes.len() - 5;
    bytes[at] ^= 1;
    fs::write(&run_file, bytes).unwrap();
    for words in [&["scan", "from", "v"][..], &["verify", "from"]] {
        let run = home.run(&[words, &vinyl].concat());
        assert_ne!(run.code, Some(0), "{run:?}");
        assert!([run.out, run.err].concat().contains("a block's checksum does not fit"), "{words:?}");
    }
}

/// Tarantool shows both as 0.1, and finds both by it.
#[test]
fn a_number_is_found_by_what_it_is_shown_as() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let script = "
        box.cfg{memtx_dir='.', wal_dir='.', log='log'}
        local decimal = require('decimal')
        for _, name in ipairs{'decimals', 'doubles'} do
            box.schema.space.create(name):create_index('pk', {parts={{1, 'number'}, {2, 'string'}}})
        end
        box.space.decimals:insert{decimal.new('0.1'), 'decimal'}
        box.space.doubles:insert{0.1, 'double'}
        os.exit(0)";
    if tarantool(&from, script).is_none() {
        return;
    }
    home.good(&["load", "from", "--into", "s"]);
    for (space, kind) in [("decimals", "decimal"), ("doubles", "double")] {
        let all = home.good(&["scan", "s", space]);
        assert!(all.contains(kind), "{all}");
        assert_eq!(home.good(&["get", "s", space, "0.1", kind]), all);
        assert_eq!(home.good(&["get", "s", space, "0.1"]), all, "the beginning of a key");
        assert_eq!(home.good(&["scan", "s", space, "--from", "0.1", "--to", "0.1"]), all);
        assert_eq!(home.run(&["get", "s", space, "0.2"]).code, Some(1));
    }
}
