//! Plain data that crosses a boundary: in Rust, as JSON, and in the page's TypeScript.

/// Declares types that the page knows too, where the feature `typescript` is on.
macro_rules! plain_data {
    ($($(#[$($attribute:tt)*])* pub $kind:ident $name:ident { $($body:tt)* })*) => {
        $(
            #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
            $(#[$($attribute)*])*
            pub $kind $name { $($body)* }
        )*
    };
}
pub(crate) use plain_data;

pub(crate) fn json(data: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(data).expect("plain data with string keys")
}
