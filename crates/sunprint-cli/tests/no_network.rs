//! Nothing is said to anybody else: the program opens no socket.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n";

fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(folder.path().join("people.csv"), format!("age\n{}", "41\n".repeat(500))).unwrap();
    folder
}

const LINES: [&str; 6] = [
    "plan people.toml --rows 500 --epsilon 1",
    "check people.csv --schema people.toml",
    "fit people.csv --schema people.toml --epsilon 1 --output people.sunprint --ledger ledger.sqlite",
    "sample people.sunprint --output rows.parquet",
    "evaluate people.csv rows.parquet --schema people.toml",
    "ledger verify --receipt people.sunprint --ledger ledger.sqlite",
];

fn succeeds(folder: &Path, wrapper: &[&str], line: &str) {
    let words: Vec<&str> = wrapper.iter().copied().chain([env!("CARGO_BIN_EXE_sunprint")]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(line.split_whitespace()).current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// In a namespace without any network, where the system lets everybody make one; else with the network at hand, which
/// checks nothing that the other tests do not.
#[test]
fn everything_works_without_a_network() {
    let alone = ["unshare", "--map-root-user", "--net"];
    let allowed = Command::new(alone[0]).args(&alone[1..]).arg("true").output().is_ok_and(|done| done.status.success());
    let folder = stage();
    LINES.iter().for_each(|line| succeeds(folder.path(), if allowed { &alone } else { &[] }, line));
}

/// Every socket needs a system call, and `strace`, where there is one, sees them all.
#[test]
fn no_socket_is_asked_for() {
    let folder = stage();
    let tracer = ["strace", "-f", "-qq", "-e", "trace=%network", "-o", "calls"];
    let there = Command::new(tracer[0]).args(&tracer[1..]).arg("true").current_dir(folder.path()).output();
    let traced = there.is_ok_and(|done| done.status.success());
    for line in LINES {
        succeeds(folder.path(), if traced { &tracer } else { &[] }, line);
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
        assert!(!calls.contains("socket(") && !calls.contains("connect("), "{line}: {calls}");
    }
}

/// No crate of the command line is there to speak to others.
#[test]
fn no_crate_speaks_to_others() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let speakers = [
        "tokio",
        "async-std",
        "mio",
        "socket2",
        "hyper",
        "reqwest",
        "ureq",
        "curl",
        "curl-sys",
        "rustls",
        "openssl",
        "native-tls",
        "isahc",
        "attohttpc",
        "minreq",
        "tonic",
        "quinn",
        "trust-dns-resolver",
        "hickory-resolver",
        "object_store",
        "sentry",
    ];
    let found: Vec<&str> = names.filter(|name| speakers.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}
