//! Tests of random mutations.

use serde_json::Value;
use std::collections::HashSet;
use testkit::Mutator;

#[test]
fn cases_are_reproducible_and_different() {
    let good = br#"{"a":[1,2,{"b":"text"}],"c":0.5}"#;
    let document: Value = serde_json::from_slice(good).unwrap();
    let (mut seen, mut documents) = (HashSet::new(), HashSet::new());
    for case in 0..1000 {
        let [one, other] = [0, 1].map(|_| {
            let mut mutator = Mutator::new("it", case);
            (mutator.bytes(good), mutator.json(&document))
        });
        assert_eq!(one, other);
        seen.insert(one.0);
        documents.insert(one.1.to_string());
    }
    assert!(seen.len() > 700 && documents.len() > 400, "{} and {}", seen.len(), documents.len());
}
