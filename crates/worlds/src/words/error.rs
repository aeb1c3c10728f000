//! Errors of texts and tokenizers.

/// Error of a text that cannot be used for training, or of an invalid vocabulary. The message is the problem, a semicolon and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("the text is empty; use one with more than twice as many tokens as the context")]
    Empty,
    #[error("byte {at} of the text is not UTF-8; save the text as UTF-8, or set tokenizer to bytes, which reads any file")]
    Utf8 { at: usize },
    #[error("byte {at} of the text is zero, so the file is binary; use a text file, or set tokenizer to bytes, which reads any file")]
    Binary { at: usize },
    #[error("the text consists of {character:?} only, so there is nothing to learn; use another text")]
    Repeated { character: char },
    #[error(
        "the text has {tokens} tokens, too few for a context of {context}, which needs {needed} to train and to validate; \
         use a longer text or a shorter context"
    )]
    Short { tokens: usize, needed: usize, context: usize },
    #[error(
        "{} not in the vocabulary; leave {} out, or train on a text that contains {}", listed(.0), them(.0), them(.0)
    )]
    Unknown(Vec<char>),
    #[error("the tokenizer is invalid: {0}; save the checkpoint again, or start a new run")]
    Tokenizer(String),
}

/// Lists up to eight characters and the number of further characters, followed by "is" or "are".
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
