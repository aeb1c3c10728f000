//! Macro that declares a room's questions and answers.

/// Answer to a room's question: any data that can be serialized.
pub type Answer = Box<dyn erased_serde::Serialize>;

/// Declares the questions of a room. Each question has fields and the type of its answer. Generates the enum `Question`, whose JSON form
/// is `{ ask: "name", … }`. With the feature `typescript`, also generates the page's types for questions and answers.
///
/// ```ignore
/// questions! {
///     /// Returns the policy's output over the plane.
///     Picture { width: u32, height: u32 } -> PictureView,
/// }
/// ```
#[macro_export]
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* $(,)? } -> $answer:ty),* $(,)?) => {
        $crate::question_type! {
            $($(#[$doc])* $name { $($field : $type),* }),*
        }

        /// Name of each question, and the type of its answer. In TypeScript, the type of the answer to the question `name` is
        /// `Answers["name"]`.
        pub const ANSWERS: &[(&str, $crate::room::TypeName)] =
            &[$((stringify!($name), $crate::room::type_name::<$answer>)),*];
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(feature = "typescript")]
macro_rules! question_type {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* }),*) => {
        #[derive(Clone, Debug, PartialEq, $crate::serde::Deserialize, $crate::ts_rs::TS)]
        #[serde(crate = "run::serde", tag = "ask", rename_all = "snake_case")]
        #[ts(crate = "run::ts_rs")]
        pub enum Question {
            $($(#[$doc])* $name { $($field: $type),* }),*
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "typescript"))]
macro_rules! question_type {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* }),*) => {
        #[derive(Clone, Debug, PartialEq, $crate::serde::Deserialize)]
        #[serde(crate = "run::serde", tag = "ask", rename_all = "snake_case")]
        pub enum Question {
            $($(#[$doc])* $name { $($field: $type),* }),*
        }
    };
}

/// Function that returns the name of a type in TypeScript. Without the feature `typescript`, it returns the name in Rust.
#[cfg(feature = "typescript")]
pub type TypeName = fn(&ts_rs::Config) -> String;
#[cfg(not(feature = "typescript"))]
pub type TypeName = fn() -> &'static str;

#[cfg(feature = "typescript")]
pub fn type_name<T: ts_rs::TS>(style: &ts_rs::Config) -> String {
    T::name(style)
}
#[cfg(not(feature = "typescript"))]
pub fn type_name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// Converts `BestMove` to `best_move`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, letter) in name.char_indices() {
        if letter.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Serializes floats as bytes, so that a page receives a typed array instead of a list of numbers.
pub fn floats<S: serde::Serializer>(values: &[f32], out: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    out.serialize_bytes(&bytes)
}
