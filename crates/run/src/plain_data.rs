//! Plain data that crosses a boundary: in Rust, as JSON, and in the page's TypeScript.

macro_rules! declared {
    ($derive:tt $($(#[$($attribute:tt)*])* pub $kind:ident $name:ident { $($body:tt)* })*) => {
        $(
            #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
            #[derive(Clone, Debug, PartialEq)]
            #[derive $derive]
            $(#[$($attribute)*])*
            pub $kind $name { $($body)* }
        )*
    };
}
pub(crate) use declared;

/// Declares types that go either way; the page knows them too, where the feature `typescript` is on.
macro_rules! plain_data {
    ($($all:tt)*) => { $crate::plain_data::declared! { (serde::Serialize, serde::Deserialize) $($all)* } };
}
pub(crate) use plain_data;

/// The same of types that are only told: texts of the program's own, and floats as bytes.
macro_rules! told_data {
    ($($all:tt)*) => { $crate::plain_data::declared! { (serde::Serialize) $($all)* } };
}
pub(crate) use told_data;

pub(crate) fn json(data: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(data).expect("plain data with string keys")
}
