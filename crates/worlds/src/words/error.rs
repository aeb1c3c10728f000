//! What is wrong with a text.

/// A text that cannot be learned from, or a vocabulary that cannot be used, with what would do after a semicolon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("the text is empty; bring one with some thousands of characters")]
    Empty,
    #[error("byte {at} of the text is not UTF-8; save the text as UTF-8, or set tokenizer to bytes, which reads any file")]
    Utf8 { at: usize },
    #[error(
        "byte {at} of the text is zero, so this is a binary file and no text; bring a text, or set tokenizer to bytes, \
         which reads any file"
    )]
    Binary { at: usize },
    #[error("the text is {character:?} over and over, from which there is nothing to learn; bring another text")]
    Repeated { character: char },
    #[error(
        "the text has {tokens} tokens, too few for a context of {context}, which needs {needed} to train and to validate; \
         bring a longer text or make the context shorter"
    )]
    Short { tokens: usize, needed: usize, context: usize },
    #[error(
        "{} not in the vocabulary; leave {} out, or train with a text that has {}", listed(.0), them(.0), them(.0)
    )]
    Unknown(Vec<char>),
    #[error("this is no tokenizer: {0}; save the checkpoint again, or train anew")]
    Tokenizer(String),
}

/// The first of some characters, by name.
fn listed(characters: &[char]) -> String {
    const MOST: usize = 8;
    let names: Vec<String> = characters.iter().take(MOST).map(|c| format!("{c:?}")).collect();
    let more = characters.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let is = if characters.len() == 1 { "is" } else { "are" };
    format!("{}{more} {is}", names.join(", "))
}

fn them(characters: &[char]) -> &'static str {
    if characters.len() == 1 { "it" } else { "them" }
}
