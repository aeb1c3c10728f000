//! How a room declares what it can be asked, and what it answers with.

/// The answer to a question of a room: any plain data.
pub type Answer = Box<dyn erased_serde::Serialize>;

/// Declares what can be asked of a room: each question with its fields and the type of its answer, once. Makes the
/// `Question` that arrives as `{ ask: "name", … }`, and with the feature `typescript` the page's types of both.
///
/// ```ignore
/// questions! {
///     /// What the policy would do all over the plane.
///     Picture { width: u32, height: u32 } -> PictureView,
/// }
/// ```
#[macro_export]
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* $(,)? } -> $answer:ty),* $(,)?) => {
        $crate::question_type! {
            $($(#[$doc])* $name { $($field : $type),* }),*
        }

        /// `Answers["name"]` is what the page gets for a question of that name: in TypeScript.
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

/// What a type is called in TypeScript, where that is built in.
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

/// `BestMove` as `best_move`.
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

/// `Vec<f32>` as bytes, so that a page receives one typed array and not a list of numbers.
pub fn floats<S: serde::Serializer>(values: &[f32], out: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    out.serialize_bytes(&bytes)
}
