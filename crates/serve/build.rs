//! Makes the page small enough for the program: scripts without comments, all that it begins with in one of
//! them, and all files compressed.
//!
//! Input: the folder `page`. Output: each file of it that a browser loads, as `page/NAME.gz` in the directory
//! of the build, and in `PAGE_FOLDER` the address of all of them but `index.html`. It is another one whenever
//! a file is, so that browsers can keep them. `src/files.rs` says which of them are served.

#[path = "src/bundle.rs"]
mod bundle;
#[path = "src/script.rs"]
mod script;

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

/// The file that browsers ask for anew each time. It names the others.
const INDEX: &str = "index.html";
/// The script that the page begins with.
const ENTRY: &str = "app.js";

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names no directory"))?;
    let out = Path::new(&out).join("page");
    // A new file is there once it is listed. The folder has libraries of the tests, too.
    println!("cargo::rerun-if-changed=src/files.rs");
    println!("cargo::rerun-if-changed=src/bundle.rs");
    println!("cargo::rerun-if-changed=src/script.rs");
    let mut files = BTreeMap::new();
    for folder in ["", "vendor/"] {
        fs::create_dir_all(out.join(folder))?;
        read(folder, &mut files)?;
    }
    let index = files.remove(INDEX).ok_or_else(|| io::Error::other("there is no index.html"))?;
    let bundled = bundle(&mut files)?;
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let address = format!("/page-{:016x}", hasher.finish());
    println!("cargo::rustc-env=PAGE_FOLDER={address}");
    let index = String::from_utf8(index).map_err(io::Error::other)?;
    let mut index = bundle::without_preloads(&index, &bundled);
    for name in files.keys() {
        index = index.replace(&format!("\"/{name}\""), &format!("\"{address}/{name}\""));
    }
    files.insert(INDEX.to_owned(), index.into_bytes());
    for (name, bytes) in files {
        let to = fs::File::create(out.join(format!("{name}.gz")))?;
        let mut packed = GzEncoder::new(to, Compression::best());
        packed.write_all(&bytes)?;
        packed.finish()?;
    }
    Ok(())
}

/// Puts the scripts together that the page begins with, and takes comments out of all. Returns those that are
/// others now.
fn bundle(files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<bundle::Scripts> {
    let mut scripts = bundle::Scripts::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with("js")) {
        scripts.insert(name.clone(), String::from_utf8(bytes.clone()).map_err(io::Error::other)?);
    }
    let bundled =
        bundle::bundle(&scripts, ENTRY).ok_or_else(|| io::Error::other("scripts cannot be put together"))?;
    for (name, script) in &bundled {
        files.insert(name.clone(), script.clone().into_bytes());
    }
    for (name, bytes) in files.iter_mut() {
        if name.ends_with(".js") {
            *bytes = script::without_comments(bytes);
        }
    }
    Ok(bundled)
}

/// Reads the files of a folder, by their names in the page.
fn read(folder: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(Path::new("page").join(folder))? {
        let path = entry?.path();
        let (Some(name), true) = (path.file_name().and_then(|name| name.to_str()), path.is_file()) else {
            continue;
        };
        let end = name.rsplit('.').next().unwrap_or_default();
        if !["html", "css", "js", "mjs"].contains(&end) && !name.starts_with("LICENSE") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let bytes = fs::read(&path)?;
        files.insert(format!("{folder}{name}"), bytes);
    }
    Ok(())
}
