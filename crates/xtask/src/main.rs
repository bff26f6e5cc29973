//! `cargo xtask`: the project's chores.
//!
//! Input: arguments. Output: what [`xtask`] does. Does not know how.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use xtask::{bench, ci, damage, demo, deny, dist, docs, fuzz, generate, page, run, test_dist, tidy};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the project")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run all checks: formatting, clippy, tests, the page, docs, tidy, fuzz targets.
    Ci,
    /// Check what clippy cannot: files, dependencies, waivers, words.
    Tidy,
    /// Write generated docs, the output of sessions, the picture and the figures.
    Docs,
    /// Measure and compare with other programs: install them, build, run, write tables and plots.
    Bench(bench::BenchArguments),
    /// Attack the program for a long time: damaged files, kills, a system that refuses.
    Damage(damage::DamageArguments),
    /// Build the fuzz targets and run each for some time.
    Fuzz(fuzz::FuzzArguments),
    /// Check the page of the server: the types of its scripts, and what it does in browsers.
    Page,
    /// Generate mail, index it and run some searches.
    Demo,
    /// Build the packages: a static tarball, a .deb, a wheel, and their checksums.
    Dist(dist::DistArguments),
    /// Build the packages, install each in a clean place and try it there.
    TestDist,
    /// Build the release programs and check their sizes.
    Size,
    /// Check licences, sources and known vulnerabilities of the libraries that are shipped.
    Deny,
    /// Generate a Maildir. The same options give the same mail.
    GenerateMail(generate::GenerateArguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Ci => ci::ci(),
        Chore::Tidy => tidy::run(),
        Chore::Docs => docs::docs(),
        Chore::Bench(arguments) => bench::bench(&arguments),
        Chore::Damage(arguments) => damage::damage(&arguments),
        Chore::Fuzz(arguments) => fuzz::fuzz(&arguments),
        Chore::Page => page::page(),
        Chore::Demo => demo::demo(),
        Chore::Dist(arguments) => dist::dist(&arguments),
        Chore::TestDist => test_dist::test_dist(),
        Chore::Size => dist::size::size(),
        Chore::Deny => deny::deny(),
        Chore::GenerateMail(arguments) => generate::generate_mail(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
