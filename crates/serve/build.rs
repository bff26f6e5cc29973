//! Makes the page small enough for the program: scripts without comments, and all files compressed.
//!
//! Input: the folder `page`. Output: each file of it that a browser loads, as `page/NAME.gz` in the directory
//! of the build. `src/files.rs` says which of them are served.

#[path = "src/script.rs"]
mod script;

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names no directory"))?;
    let out = Path::new(&out).join("page");
    // A new file is there once it is listed. The folder has libraries of the tests, too.
    println!("cargo::rerun-if-changed=src/files.rs");
    println!("cargo::rerun-if-changed=src/script.rs");
    for folder in ["", "vendor"] {
        let from = Path::new("page").join(folder);
        fs::create_dir_all(out.join(folder))?;
        for entry in fs::read_dir(from)? {
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
            let bytes = if end == "js" { script::without_comments(&bytes) } else { bytes };
            let to = fs::File::create(out.join(folder).join(format!("{name}.gz")))?;
            let mut packed = GzEncoder::new(to, Compression::best());
            packed.write_all(&bytes)?;
            packed.finish()?;
        }
    }
    Ok(())
}
