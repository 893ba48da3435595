//! Integers before noise: no floating point in `privacy` and `tally`, outside tests, the one door for public parameters,
//! and the widths of noise, which no mechanism asks for.

use std::path::{Path, PathBuf};

/// The text without comments and without items under `#[cfg(test)]`, and the files that are test modules.
fn without_tests(text: &str, folder: &Path, test_files: &mut Vec<PathBuf>) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.split("//").next().unwrap_or("");
        if code.trim() != "#[cfg(test)]" {
            kept.push_str(code);
            kept.push('\n');
            continue;
        }
        // Skip the item: attributes, then one line that ends in `;`, or a block until its brace closes at column 0.
        let mut path = None;
        for line in lines.by_ref() {
            let item = line.trim();
            if let Some(file) = item.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
                path = Some(file.to_owned());
            } else if let Some(name) = item.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                test_files.push(folder.join(path.unwrap_or_else(|| format!("{name}.rs"))));
                break;
            } else if line == "}" || item.ends_with(';') && line == item {
                break;
            }
        }
    }
    kept
}

fn float_tokens(code: &str) -> usize {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| ["f32", "f64"].contains(word)).count()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_floats_before_the_noise() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut test_files) = (Vec::new(), Vec::new());
    files(&source.join("privacy"), &mut found);
    files(&source.join("tally"), &mut found);
    let texts: Vec<(PathBuf, String)> = found
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = without_tests(&text, path.parent().unwrap(), &mut test_files);
            (path, code)
        })
        .collect();
    assert!(texts.len() > 15);
    for (path, code) in texts {
        if test_files.contains(&path) {
            continue;
        }
        if path.ends_with("privacy/float_door.rs") {
            // Two conversions through text, and no arithmetic.
            assert_eq!(float_tokens(&code), 4);
            assert_eq!(code.matches("format!(\"{value:e}\").parse()").count(), 2);
            assert!(![" + ", " - ", " * ", " / ", " as "].iter().any(|sign| code.contains(sign)));
            continue;
        }
        if path.ends_with("privacy/widths.rs") {
            continue;
        }
        assert_eq!(float_tokens(&code), 0, "{}", path.display());
        // How wide noise is, as a float, is for others to ask.
        let asks = ["deviation()", "variance()", ".edge(", "Price::near"].iter().any(|ask| code.contains(ask));
        assert!(!asks, "{}", path.display());
    }
}

#[test]
fn the_scan_sees_floats() {
    let mut test_files = Vec::new();
    let mut code = |text: &str| float_tokens(&without_tests(text, Path::new("room"), &mut test_files));
    assert_eq!(code("fn f(x: f64) -> f32 {\n    x as f32\n}\n"), 3);
    assert_eq!(code("// f64\nlet nf64 = 1;\n"), 0);
    assert_eq!(code("#[cfg(test)]\nmod tests {\n    fn f(x: f64) {\n    }\n}\nfn g(x: f64) {}\n"), 1);
    assert_eq!(code("#[cfg(test)]\n#[path = \"far.rs\"]\nmod tests;\n#[cfg(test)]\nmod near;\ntype A = f32;\n"), 1);
    assert_eq!(test_files, [Path::new("room/far.rs"), Path::new("room/near.rs")]);
}
