//! What the packages depend on: its licences, and that nothing is there in two versions without a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences that go together with MIT OR Apache-2.0, in a program too.
const LICENCES: [&str; 8] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "Apache-2.0 WITH LLVM-exception",
];

/// In two versions, and why.
const TWICE: [(&str, &str); 3] = [
    ("similar", "insta, of the tests of prm, has not come to version 3"),
    ("syn", "derives come to version 3 one by one"),
    ("unicode-width", "miette's textwrap and terminals have different ones"),
];

/// The packages of the registry, as cargo resolves them for this system with the features that are tested.
fn packages() -> Vec<Value> {
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().expect("rustc");
    let host = String::from_utf8(host.stdout).expect("text");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", host.trim(), "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let resolved: BTreeSet<&str> = metadata["resolve"]["nodes"]
        .as_array()
        .expect("an array")
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    let all = metadata["packages"].as_array().expect("an array").iter();
    let ours = |package: &&Value| {
        package["source"].is_string()
            && package["id"].as_str().is_some_and(|id| resolved.contains(id))
    };
    all.filter(ours).cloned().collect()
}

/// Whether one of the licences that may be chosen is let pass, and of those that go together each.
fn is_free(licence: &str) -> bool {
    let licence = licence.replace('/', " OR ").replace(['(', ')'], "");
    let passes = |one: &str| LICENCES.contains(&one.trim());
    licence.split(" AND ").all(|part| part.split(" OR ").any(passes))
}

#[test]
fn licences_go_together_with_ours() {
    let packages = packages();
    assert!(packages.len() > 50, "{} packages", packages.len());
    let odd: Vec<_> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(is_free))
        .map(|package| (&package["name"], &package["license"]))
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
    assert!(is_free("MIT/Apache-2.0") && is_free("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(!is_free("GPL-3.0") && !is_free("MIT AND GPL-3.0"));
}

#[test]
fn nothing_is_there_in_two_versions_without_a_reason() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().expect("text").to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let twice: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).collect();
    for (name, versions) in &twice {
        let known = TWICE.iter().any(|(known, _)| known == name);
        assert!(known, "{name}: {versions:?}; use one, or say here why not");
    }
    for (name, why) in TWICE {
        assert!(twice.iter().any(|(other, _)| *other == name), "{name} is there once: {why}");
    }
}
