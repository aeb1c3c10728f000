//! Tests of reading user data from folders.

use cli::internals::DataArgs;
use cli::internals::data::{read_folder, read_text};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn folder_texts_are_read_in_path_order_and_other_files_skipped() {
    let scratch = testkit::Scratch::new("folder");
    let folder = scratch.path("texts");
    fs::create_dir_all(folder.join("b")).unwrap();
    fs::write(folder.join("c.txt"), "three").unwrap();
    fs::write(folder.join("a.txt"), "one\n").unwrap();
    fs::write(folder.join("b").join("z.txt"), "two\n").unwrap();
    fs::write(folder.join("picture"), [0xff, 0xd8, 0xff]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
    let args = DataArgs { data: Some(folder.clone()), vocab: None };
    let data = args.read().unwrap().unwrap();
    assert_eq!((data.name.as_str(), data.content.unwrap().as_slice()), ("texts", &b"one\ntwo\nthree\n"[..]));
    assert!(args.measured().unwrap().unwrap().bytes >= 14);
    for name in ["a.txt", "c.txt", "b/z.txt"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    let error = args.read().unwrap_err().to_string();
    assert!(error.contains("none of its 1 files") && error.contains("Name another"), "{error}");
    fs::write(folder.join("empty.txt"), "").unwrap();
    let error = args.read().unwrap_err().to_string();
    assert!(error.contains("none of its 2 files"), "{error}");
    let args = DataArgs { data: None, vocab: Some("vocab.json".into()) };
    assert!(args.read().unwrap_err().to_string().contains("--data"));
}

#[test]
fn folder_texts_share_one_size_limit() {
    let scratch = testkit::Scratch::new("budget");
    let folder = scratch.path("texts");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("a", "1234567"), ("b", "12345678")] {
        fs::write(folder.join(name), text).unwrap();
    }
    assert_eq!(read_folder(&folder, 17).unwrap().bytes, 17);
    let error = read_folder(&folder, 15).unwrap_err().to_string();
    assert!(error.contains("b has 8 bytes") && error.contains("may have only 7 more"), "{error}");
}

/// System files report length 0, and some are endless, so they must be skipped.
#[test]
#[cfg(target_os = "linux")]
fn system_files_are_not_read_as_text() {
    let folder = PathBuf::from("/proc/sys/kernel/random");
    let error = read_folder(&folder, 1 << 20).unwrap_err().to_string();
    assert!(error.contains("there is nothing to learn from"), "{error}");
    assert_eq!(read_text(Path::new("/proc/self/pagemap"), 0, 1 << 20, &folder).unwrap(), None);
}
