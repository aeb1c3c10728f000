//! The description and the remedy of a fault are separate sentences.

use learn::Fault;

#[test]
fn faults_have_a_description_and_a_remedy() {
    let why = || "a reason. With two sentences".to_string();
    let faults = [
        Fault::NoAdapter { why: why() },
        Fault::Lost { why: why() },
        Fault::Refused { why: why() },
        Fault::OutOfMemory,
        Fault::TooSmall { needs: 9, has: 8 },
        Fault::NoF16,
        Fault::Unknown { what: "a plan in panels".into() },
        Fault::CpuOnly { why: "this learner has nothing to offload" },
    ];
    for fault in faults {
        for sentence in [fault.what(), fault.next_step().into()] {
            assert!(sentence.starts_with(char::is_uppercase) && sentence.ends_with('.'), "{sentence}");
            assert!(!sentence.ends_with(".."), "{sentence}");
        }
        assert_eq!(format!("{fault}."), format!("{} {}", fault.what(), fault.next_step()));
        assert!(!fault.what().contains(fault.next_step()), "{fault}");
    }
}
