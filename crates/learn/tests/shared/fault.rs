//! A fault tells what is the matter and what to do next, apart.

use learn::Fault;

#[test]
fn each_fault_is_a_sentence_and_a_next_step() {
    let why = || "a reason. With two sentences".to_string();
    let faults = [
        Fault::NoAdapter { why: why() },
        Fault::Lost { why: why() },
        Fault::Refused { why: why() },
        Fault::OutOfMemory,
        Fault::TooSmall { needs: 9, has: 8 },
        Fault::NoHalf,
        Fault::Unknown { what: "a plan in panels".into() },
        Fault::ProcessorOnly { why: "this learner has nothing to offload" },
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
