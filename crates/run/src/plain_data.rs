//! Macros that declare plain data for an interface. A declaration gives Rust types, their JSON form, and the page's TypeScript types.

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

/// Declares types that are sent and received. With the feature `typescript`, the page's TypeScript types are generated from them.
macro_rules! plain_data {
    ($($all:tt)*) => { $crate::plain_data::declared! { (serde::Serialize, serde::Deserialize) $($all)* } };
}
pub(crate) use plain_data;

/// Declares types that are sent and never received. Such types may contain static texts, and floats that are sent as bytes.
macro_rules! sent_data {
    ($($all:tt)*) => { $crate::plain_data::declared! { (serde::Serialize) $($all)* } };
}
pub(crate) use sent_data;

pub(crate) fn json(data: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(data).expect("plain data with string keys")
}
