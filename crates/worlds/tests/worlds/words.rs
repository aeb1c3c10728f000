//! Tests of texts and tokenizers. The grammar's entropy and floors (lowest possible losses) are compared with the losses of predictors.
//! Tokenizers are compared with other software (`tests/golden/words_bpe.py`) and with simple implementations. The windows of an epoch are
//! also tested.

use math::Rng;
use math::rng::Sequence;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use testkit::test;
use worlds::words::*;

const LICENSE: &str = include_str!("../../../../LICENSE-APACHE");

fn windows(text: &str, characters: usize) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().chunks_exact(characters)
}

#[test]
fn stories_depend_on_the_seed_and_are_consistent() {
    let grammar = Grammar::new();
    let text = grammar.text(1, 20_000);
    assert_eq!(text.len(), 20_000);
    assert_eq!(text, grammar.text(1, 20_000));
    assert_eq!(text[..7_777], grammar.text(1, 7_777));
    assert_ne!(text, grammar.text(2, 20_000));
    let all: HashSet<u8> = grammar.text(3, 1_000_000).bytes().collect();
    assert!(all.len() <= 65 && all.iter().all(|c| grammar.alphabet().contains(c)));
    assert_eq!(all.len(), grammar.alphabet().len());
    // The hero and the lost thing stay the same from the beginning of a story to its end.
    let stories: Vec<&str> = text.split("\n\n").collect();
    for story in &stories[..stories.len() - 1] {
        let paragraphs: Vec<&str> = story.lines().collect();
        assert_eq!(paragraphs.len(), 5, "{story}");
        let words: HashSet<&str> = story.split(|c: char| !c.is_ascii_alphabetic()).collect();
        let has = |word: &&str| words.contains(word);
        let colours = ["red", "blue", "green", "golden", "silver", "white", "purple", "yellow"];
        assert!(colours.into_iter().filter(has).count() <= 1, "{story}");
        let (he, she) = (["he", "He", "him", "his", "His"], ["she", "She", "her", "Her"]);
        assert!(he.iter().any(has) != she.iter().any(has), "{story}");
    }
}

#[test]
fn the_best_predictors_loss_is_the_entropy() {
    let grammar = Grammar::new();
    const PART: usize = 20_000;
    // The standard error falls with the square root of the number of parts. With fewer parts, it is itself less certain.
    let (parts, largest_error, errors) = if testkit::all() { (100, 0.003, 4.0) } else { (20, 0.009, 5.0) };
    let text = grammar.text(7, parts * PART);
    let mut ideal = grammar.from_start();
    let means: Vec<f64> = windows(&text, PART).map(|part| part.iter().map(|&c| -ideal.read(c).ln()).sum::<f64>() / PART as f64).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
    let error = (variance / means.len() as f64).sqrt();
    let entropy = grammar.entropy_per_char();
    assert!(error < largest_error * entropy, "{error}");
    assert!((mean - entropy).abs() < errors * error, "{mean} ± {error}, not {entropy}");
}

#[test]
fn probabilities_of_the_next_character_sum_to_one() {
    let grammar = Grammar::new();
    let text = grammar.text(8, 3_000);
    let anywhere = grammar.window_predictors();
    let shares: f64 = grammar.alphabet().iter().map(|&c| anywhere.share(c)).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let whole = |ideal: &BestPredictor| -> f64 { grammar.alphabet().iter().map(|&c| ideal.clone().read(c)).sum() };
    let mut known = grammar.from_start();
    for (i, c) in text.bytes().enumerate() {
        assert!((whole(&known) - 1.0).abs() < 1e-9, "{i}");
        assert!(known.read(c) > 0.0, "{i}");
    }
    for window in windows(&text, 33).take(30) {
        let mut ideal = anywhere.after(window[0]);
        for &c in &window[1..] {
            assert!((whole(&ideal) - 1.0).abs() < 1e-9);
            ideal.read(c);
        }
    }
    assert_eq!(grammar.from_start().read(b'~'), 0.0);
}

#[test]
fn floors_decrease_to_the_entropy() {
    const SHORT: usize = 64;
    const LONG: usize = 8192;
    let grammar = Grammar::new();
    // The loss of few windows is less certain, so the bound for short contexts is then smaller.
    let (length, most, contexts, least) = match testkit::all() {
        true => (2_000_000, 5_000, &[1, 4, 16, SHORT, 256, 1024, LONG][..], 1.3),
        false => (400_000, 500, &[1, 16, SHORT, LONG][..], 1.2),
    };
    let text = grammar.text(9, length);
    let floors: Vec<f64> = contexts.iter().map(|&context| grammar.floor(windows(&text, context + 1).take(most))).collect();
    assert!(floors.windows(2).all(|pair| pair[1] < pair[0]), "{floors:?}");
    let floor = |of: usize| floors[contexts.iter().position(|&context| context == of).unwrap()];
    // The floor of a long context is little above the loss of a predictor that knows the whole text before each of the same characters. The
    // first character of a window is given, so it has no loss.
    let mut ideal = grammar.from_start();
    let losses: Vec<f64> = text.bytes().map(|c| -ideal.read(c).ln()).collect();
    let predicted: Vec<f64> = losses.chunks_exact(LONG + 1).flat_map(|window| &window[1..]).copied().collect();
    let (long, unlimited) = (floor(LONG), predicted.iter().sum::<f64>() / predicted.len() as f64);
    assert!(long > unlimited && long < 1.05 * unlimited, "{long} and {unlimited}");
    // A short context has a clearly larger loss than unlimited context.
    let (short, entropy) = (floor(SHORT), grammar.entropy_per_char());
    assert!(short > least * entropy, "{short} and {entropy}");
}

/// Counts how often each character follows each context of at most `order` characters (an n-gram model). The returned function computes the
/// loss, in nats, of a character after a context. For unknown contexts, the function uses shorter contexts.
fn counted(train: &[u8], order: usize) -> impl Fn(&[u8], u8) -> f64 {
    let mut tables: Vec<HashMap<&[u8], HashMap<u8, f64>>> = Vec::new();
    for order in 0..=order {
        let mut table: HashMap<&[u8], HashMap<u8, f64>> = HashMap::new();
        for window in train.windows(order + 1) {
            *table.entry(&window[..order]).or_default().entry(window[order]).or_default() += 1.0;
        }
        tables.push(table);
    }
    move |context: &[u8], next: u8| {
        // The counts of each order refine the probability from the next lower order.
        let mut probability = 1.0 / 256.0;
        for (order, table) in tables.iter().enumerate().take(context.len() + 1) {
            if let Some(counts) = table.get(&context[context.len() - order..]) {
                let all: f64 = counts.values().sum();
                probability = (counts.get(&next).copied().unwrap_or(0.0) + probability) / (all + 1.0);
            }
        }
        -probability.ln()
    }
}

#[test]
fn n_gram_models_reach_the_floor_and_are_not_below_it() {
    let grammar = Grammar::new();
    // The excess of the loss over the floor is inversely proportional to the length of the training text.
    let (length, contexts) = if testkit::all() { (2_000_000, &[(2, 0.005), (5, 0.02)][..]) } else { (400_000, &[(2, 0.03)][..]) };
    let train = grammar.text(10, length);
    let text = grammar.text(11, 400_000);
    // A model of a higher order gives the losses of a lower order if it reads a shorter context.
    let loss = counted(train.as_bytes(), contexts[contexts.len() - 1].0);
    for &(context, near) in contexts {
        let mut sum = 0.0;
        let mut count = 0;
        for window in windows(&text, context + 1).take(20_000) {
            for at in 1..window.len() {
                sum += loss(&window[..at], window[at]);
                count += 1;
            }
        }
        let (loss, floor) = (sum / count as f64, grammar.floor(windows(&text, context + 1).take(20_000)));
        assert!(loss > floor - 0.001 && loss < floor * (1.0 + near), "{context}: {loss} and {floor}");
    }
    // The loss of a trigram model is far above the floor of a longer context.
    let text = &text.as_bytes()[..100_000];
    let loss = text.windows(3).map(|w| loss(&w[..2], w[2])).sum::<f64>() / (text.len() - 2) as f64;
    assert!(loss > 2.0 * grammar.floor(text.chunks_exact(65)), "{loss}");
}

/// Trains byte pairs by a simple algorithm, which counts all pairs before each merge.
fn plain_merges(text: &str, vocab: usize) -> Vec<[u32; 2]> {
    let mut pieces: Vec<Vec<u32>> = plain_pieces(text).iter().map(|p| p.bytes().map(u32::from).collect()).collect();
    let mut merges = Vec::new();
    while 256 + merges.len() < vocab {
        let mut counts: HashMap<[u32; 2], u32> = HashMap::new();
        pieces.iter().flat_map(|piece| piece.windows(2)).for_each(|p| *counts.entry([p[0], p[1]]).or_default() += 1);
        let best = counts.into_iter().max_by_key(|&(pair, count)| (count, std::cmp::Reverse(pair)));
        let Some((pair, 2..)) = best else { break };
        let whole = 256 + merges.len() as u32;
        merges.push(pair);
        pieces.iter_mut().for_each(|piece| *piece = replaced(piece, pair, whole));
    }
    merges
}

fn replaced(piece: &[u32], pair: [u32; 2], whole: u32) -> Vec<u32> {
    let mut to = Vec::new();
    let mut from = 0;
    while from < piece.len() {
        let here = piece[from..].starts_with(&pair);
        to.push(if here { whole } else { piece[from] });
        from += if here { 2 } else { 1 };
    }
    to
}

/// Divides a text into pieces by a simple algorithm. A piece ends between characters of different classes, except after the space before a
/// run. A piece has at most 64 bytes.
fn plain_pieces(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphabetic() => 1,
        c if c.is_numeric() => 2,
        _ => 3,
    };
    let mut runs: Vec<String> = Vec::new();
    for c in text.chars() {
        match runs.last_mut() {
            Some(run) if class(run.chars().next().unwrap()) == class(c) => run.push(c),
            _ => runs.push(c.into()),
        }
    }
    for i in 1..runs.len() {
        if class(runs[i].chars().next().unwrap()) != 0 && runs[i - 1].ends_with(' ') {
            runs[i - 1].pop();
            runs[i].insert(0, ' ');
        }
    }
    let mut pieces = Vec::new();
    for run in runs {
        let mut piece = String::new();
        for c in run.chars() {
            if piece.len() + c.len_utf8() > 64 {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.push(c);
        }
        pieces.push(piece);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn trained(text: &str, vocab: usize, work: usize) -> BpeTraining {
    let mut training = BpeTraining::new(vocab);
    while !training.advance(text.as_bytes(), work).unwrap() {}
    training
}

/// Returns a random text with few distinct characters, in which all kinds of overlapping pairs occur.
fn babble(random: &mut Sequence, characters: &str, length: usize) -> String {
    let characters: Vec<char> = characters.chars().collect();
    (0..length).map(|_| characters[random.below(characters.len() as u32) as usize]).collect()
}

#[test]
fn byte_pairs_match_another_program() {
    let golden: Value = serde_json::from_str(include_str!("../../../../tests/golden/words_bpe.json")).unwrap();
    let merges: Vec<[u32; 2]> = serde_json::from_value(golden["merges"].clone()).unwrap();
    let tokenizer = trained(LICENSE, 256 + merges.len(), 1 << 20).tokenizer();
    assert_eq!(merges.len(), 444);
    assert_eq!(tokenizer, Tokenizer::bpe(&merges).unwrap());
    assert_eq!(tokenizer.encode(LICENSE).unwrap().len() as u64, golden["tokens_of_text"].as_u64().unwrap());
    let sentences = golden["sentences"].as_array().unwrap();
    assert_eq!(sentences.len(), 4);
    for sentence in sentences {
        let tokens: Vec<u32> = serde_json::from_value(sentence["tokens"].clone()).unwrap();
        assert_eq!(tokenizer.encode(sentence["text"].as_str().unwrap()).unwrap(), tokens, "{sentence}");
    }
}

#[test]
fn byte_pairs_match_a_simple_implementation() {
    let mut random = Rng::new(1, 80).sequence(0);
    let texts = [
        babble(&mut random, "ab", 300),
        babble(&mut random, "a ", 500),
        babble(&mut random, "abc  .1", 2000),
        babble(&mut random, "aé日 \n😀", 1500),
        "a".repeat(1000),
        " ".repeat(300) + "x",
        LICENSE[..4000].into(),
    ];
    for text in &texts {
        let merges = plain_merges(text, 400);
        assert!(!merges.is_empty());
        let plain = Tokenizer::bpe(&merges).unwrap();
        for work in [1, 100, usize::MAX] {
            assert_eq!(trained(text, 400, work).tokenizer(), plain, "{:?}", &text[..20]);
        }
        // The encoding of a text equals the result of applying all merges in order.
        let mut pieces: Vec<Vec<u32>> = plain_pieces(text).iter().map(|p| p.bytes().map(u32::from).collect()).collect();
        for (pair, whole) in merges.iter().zip(256..) {
            pieces.iter_mut().for_each(|piece| *piece = replaced(piece, *pair, whole));
        }
        assert_eq!(plain.encode(text).unwrap(), pieces.concat());
    }
}

#[test]
fn tokens_do_not_span_words() {
    let tokenizer = trained(&Grammar::new().text(1, 100_000), 900, 1 << 20).tokenizer();
    assert!(tokenizer.vocab() > 500);
    for token in 0..tokenizer.vocab() as u32 {
        let text = tokenizer.token_text(token);
        assert!(!text.trim_start_matches(' ').contains(' ') || text.trim().is_empty(), "{text:?}");
        let letters = text.trim_start_matches(' ').chars().filter(|c| c.is_alphabetic()).count();
        assert!(text.starts_with("\\x") || letters == 0 || letters == text.trim_start_matches(' ').len(), "{text:?}");
    }
}

#[test]
fn encoded_text_decodes_to_itself() {
    let text = "Żółw said: “naïve”… 日本語 😀\u{0301}\t\r\n\u{feff} 12½ ";
    let pairs = trained(&format!("{text}{text}{LICENSE}"), 500, 1 << 20).tokenizer();
    for tokenizer in [Tokenizer::chars(text), Tokenizer::bytes(), pairs] {
        let tokens = tokenizer.encode(text).unwrap();
        assert!(tokens.iter().all(|&token| (token as usize) < tokenizer.vocab()));
        assert_eq!(tokenizer.decode(&tokens), text);
        let bytes: Vec<u8> = tokens.iter().flat_map(|&token| tokenizer.token_bytes(token).to_vec()).collect();
        assert_eq!(bytes, text.as_bytes());
        // Incremental decoding returns complete characters only.
        let mut decoder = Decoder::default();
        let mut streamed = String::new();
        for &token in &tokens {
            streamed.push_str(&decoder.push(&tokenizer, token));
            assert!(text.starts_with(&streamed), "{streamed:?}");
        }
        assert_eq!(decoder.finish(), "");
        assert_eq!(streamed, text);
        let json = tokenizer.to_json();
        assert_eq!(Tokenizer::from_json(&json).unwrap(), tokenizer);
        assert!(!json.contains('\n'));
        assert!(tokenizer.encode("").unwrap().is_empty());
    }
}

#[test]
fn invalid_utf8_is_decoded_to_replacement_characters() {
    let tokenizer = Tokenizer::bytes();
    let decode = |bytes: &[u8]| {
        let tokens: Vec<u32> = bytes.iter().map(|&byte| byte.into()).collect();
        let whole = tokenizer.decode(&tokens);
        assert_eq!(whole, String::from_utf8_lossy(bytes));
        whole
    };
    assert_eq!(decode(b"a\xFFb"), "a\u{FFFD}b");
    assert_eq!(decode(b"\xE6\x97"), "\u{FFFD}");
    assert_eq!(decode(b"\xE6\x97\xA5\xE6z"), "日\u{FFFD}z");
    assert_eq!(decode(b"\xF0\x9F\x98\xF0\x9F\x98\x80"), "\u{FFFD}😀");
    let mut random = Rng::new(2, 80).sequence(0);
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..12).map(|_| [0x41, 0xC3, 0xA9, 0xE6, 0x97, 0xF0, 0x9F, 0x80][random.below(8) as usize]).collect();
        decode(&bytes);
    }
    assert_eq!(tokenizer.token_text(0xE6), "\\xE6");
    assert_eq!(tokenizer.token_text(65), "A");
    assert_eq!(tokenizer.token_text(256), "");
    assert!(tokenizer.token_bytes(u32::MAX).is_empty());
}

#[test]
fn unknown_characters_are_listed() {
    let tokenizer = Tokenizer::chars("abc \n");
    assert_eq!(tokenizer.encode("a cab"), Ok(vec![2, 1, 4, 2, 3]));
    let refusal = tokenizer.encode("a żab\tż").unwrap_err();
    assert_eq!(refusal, TextError::Unknown(vec!['ż', '\t']));
    assert_eq!(refusal.to_string(), "'ż', '\\t' are not in the vocabulary; leave them out, or train on a text that contains them");
    let many = tokenizer.encode("0123456789").unwrap_err().to_string();
    assert!(many.contains("'7' and 2 more are not"), "{many}");
    assert_eq!(Corpus::of(b"a cab, a cab", tokenizer, 2).unwrap_err(), TextError::Unknown(vec![',']));
}

#[test]
fn invalid_tokenizers_are_rejected() {
    for json in [
        "",
        "{}",
        "[]",
        r#"{"kind":"words"}"#,
        r#"{"kind":"chars"}"#,
        r#"{"kind":"chars","characters":"aba"}"#,
        r#"{"kind":"bpe","merges":[[97,256]]}"#,
        r#"{"kind":"bpe","merges":[[97,98],[97,98]]}"#,
        r#"{"kind":"bpe","merges":[[97]]}"#,
        r#"{"kind":"bpe","merges":[[97,-1]]}"#,
        // In these merges, each token is twice as long as the token before.
        r#"{"kind":"bpe","merges":[[97,97],[256,256],[257,257],[258,258],[259,259],[260,260],[261,261]]}"#,
    ] {
        assert!(matches!(Tokenizer::from_json(json), Err(TextError::Tokenizer(_))), "{json}");
    }
}

const KINDS: [TokenizerSpec; 3] = [TokenizerSpec::Chars, TokenizerSpec::Bytes, TokenizerSpec::Bpe { vocab: 400 }];

#[test]
fn unusable_texts_are_rejected() {
    let refused = |text: &[u8], kind| Corpus::new(text, kind, 8).unwrap_err();
    for kind in KINDS {
        assert_eq!(refused(b"", kind), TextError::Empty);
        assert_eq!(refused(&[b'a'; 5000], kind), TextError::Repeated { character: 'a' });
    }
    for kind in [KINDS[0], KINDS[2]] {
        assert_eq!(refused(b"\xEF\xBB\xBF", kind), TextError::Empty);
        assert_eq!(refused(b"two words \xFF and more", kind), TextError::Utf8 { at: 10 });
        assert_eq!(refused(b"it ends in a char\xC3", kind), TextError::Utf8 { at: 17 });
        assert_eq!(refused(b"a\x7FELF\0\0", kind), TextError::Binary { at: 5 });
        // The text is UTF-16.
        assert_eq!(refused(b"\xFF\xFEa\0b\0", kind), TextError::Utf8 { at: 0 });
        // The invalid byte is late in the text.
        let mut text = LICENSE.repeat(20).into_bytes();
        text[200_000] = 0x80;
        assert_eq!(refused(&text, kind), TextError::Utf8 { at: 200_000 });
    }
    let any: Vec<u8> = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let (corpus, _) = Corpus::new(&any, TokenizerSpec::Bytes, 8).unwrap();
    assert!(corpus.tokens(0..3000).eq(any.iter().map(|&byte| u32::from(byte))));
    // A text must contain at least one training window and one validation window.
    let short = TextError::Short { tokens: 17, needed: 18, context: 8 };
    assert_eq!(refused(b"abcdefghijklmnopq", TokenizerSpec::Chars), short);
    let (corpus, _) = Corpus::new(b"abcdefghijklmnopqr", TokenizerSpec::Chars, 8).unwrap();
    assert_eq!((corpus.train(), corpus.validation()), (0..9, 9..18));
    assert_eq!(corpus.validation_starts(5), [9]);
    assert!(corpus.batches(1, 4).starts(3).eq([0; 4]));
}

#[test]
fn reading_in_slices_gives_the_same_corpus() {
    let text = format!("\u{feff}{}日本語 déjà vu 😀 {LICENSE}", Grammar::new().text(5, 10_000));
    let shared = std::sync::Arc::new(text.clone().into_bytes());
    for kind in KINDS {
        let whole = Corpus::new(text.as_bytes(), kind, 32).unwrap();
        for work in [1, 777, 5000] {
            let mut reading = Reading::new(shared.clone(), kind, 32);
            let mut shares = vec![reading.progress()];
            while !reading.advance(work).unwrap() {
                let now = reading.progress();
                let before = shares.last().unwrap();
                assert!((0.0..=1.0).contains(&now.share) && (now.doing != before.doing || now.share >= before.share));
                shares.push(now);
            }
            assert!(shares.iter().any(|progress| progress.doing == Doing::Encoding));
            assert!(reading.finish().unwrap() == whole, "{kind:?} by {work}");
        }
        let (corpus, tokenizer) = whole;
        let tokens: Vec<u32> = corpus.tokens(0..corpus.len()).collect();
        assert_eq!(corpus.characters(), text.chars().count() - usize::from(kind != TokenizerSpec::Bytes));
        let skipped = if kind == TokenizerSpec::Bytes { 0 } else { 3 };
        assert_eq!(tokenizer.decode(&tokens), text[skipped..]);
        assert_eq!(tokenizer.encode(&text[skipped..]).unwrap(), tokens);
        assert_eq!(corpus.validation().len(), corpus.len() / 10);
        assert!(Corpus::of(text.as_bytes(), tokenizer, 32).unwrap() == corpus);
    }
}

/// The division of a text into parts for threads does not change the text's tokens.
#[test]
fn parallel_encoding_matches_serial_encoding() {
    let mut random = Rng::new(3, 80).sequence(0);
    let texts = [
        babble(&mut random, "ab", 20_000),
        babble(&mut random, "a ", 20_000),
        babble(&mut random, "abc  .1\n", 20_000),
        babble(&mut random, "aé日 \n😀", 20_000),
        format!("x{}y", " ".repeat(20_000)),
        LICENSE.into(),
    ];
    for text in texts {
        let tokenizer = trained(&text[..2000], 300, 1 << 20).tokenizer();
        let whole = tokenizer.encode(&text).unwrap();
        for work in [1, 4097, 16_000] {
            let shared = std::sync::Arc::new(text.clone().into_bytes());
            let mut reading = Reading::with(shared, tokenizer.clone(), 8);
            while !reading.advance(work).unwrap() {}
            let (corpus, _) = reading.finish().unwrap();
            assert!(corpus.tokens(0..corpus.len()).eq(whole.iter().copied()), "{:?} by {work}", &text[..20]);
        }
    }
}

#[test]
fn alphabet_counts_distinct_and_all_characters() {
    for text in ["", "abba", "déjà vu 日本", LICENSE] {
        let kinds: HashSet<char> = text.chars().collect();
        assert_eq!(alphabet(text.as_bytes()), (kinds.len(), text.chars().count()));
    }
    assert_eq!(alphabet(b"a\xFFb\xE6\x97"), (2, 2));
}

/// A call that reads the end of the text spends the rest of its work on merges. Bytes that earlier calls read do not count as work of this
/// call.
#[test]
fn work_counts_only_the_bytes_read_in_this_call() {
    let text = "ab cd ".repeat(200);
    let mut training = BpeTraining::new(300);
    // A call reads at least 1024 of the 1200 bytes.
    assert!(!training.advance(text.as_bytes(), 1).unwrap());
    assert_eq!(training.share(), 0.0);
    training.advance(text.as_bytes(), 1500).unwrap();
    assert!(training.share() > 0.0);
}

/// The sample of a text longer than [`SAMPLE_BYTES`] covers the whole text: pairs that occur only at the end of the text are learned.
#[test]
#[cfg(not(target_arch = "wasm32"))]
fn byte_pairs_are_sampled_from_all_of_a_long_text() {
    let long = if testkit::all() { SAMPLE_BYTES / 10 } else { 10_000 };
    let (first, last) = ("a b c d ".repeat(SAMPLE_BYTES / 8), "xyz é".repeat(long));
    let (_, tokenizer) = Corpus::new((first + &last).as_bytes(), TokenizerSpec::Bpe { vocab: 262 }, 8).unwrap();
    let tokens: Vec<String> = (256..tokenizer.vocab() as u32).map(|token| tokenizer.token_text(token)).collect();
    assert!(tokens.iter().any(|token| token.contains("xy")), "{tokens:?}");
}

#[test]
fn vocabularies_beyond_two_bytes_are_stored() {
    let text: String = ('\u{1}'..='\u{2ffff}').chain('\u{1}'..'\u{100}').collect();
    let (corpus, tokenizer) = Corpus::new(text.as_bytes(), TokenizerSpec::Chars, 16).unwrap();
    assert!(tokenizer.vocab() > 1 << 16);
    assert_eq!(tokenizer.decode(&corpus.tokens(0..corpus.len()).collect::<Vec<_>>()), text);
}

#[test]
fn an_epoch_contains_each_window_once() {
    let text = Grammar::new().text(1, 12_345);
    for (length, context, batch) in [(12_345, 64, 32), (12_345, 100, 7), (1_000, 64, 32), (200, 90, 4), (182, 90, 3)] {
        let (corpus, _) = Corpus::new(&text.as_bytes()[..length], TokenizerSpec::Chars, context).unwrap();
        let tokens = corpus.train().len();
        let mut batches = corpus.batches(5, batch);
        let windows = batches.windows();
        let starts: Vec<usize> = (0..).flat_map(|step| batches.starts(step).collect::<Vec<_>>()).take(windows * 20).collect();
        let mut phases = HashSet::new();
        let mut orders = HashSet::new();
        for epoch in starts.chunks(windows) {
            let mut sorted = epoch.to_vec();
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|pair| pair[1] == pair[0] + context));
            assert!(sorted[windows - 1] + context < tokens, "{length} {context}");
            // The number of tokens outside all windows is less than the length of two windows.
            assert!(tokens - 1 - windows * context < 2 * context);
            phases.insert(sorted[0]);
            orders.insert(epoch.iter().map(|start| start - sorted[0]).collect::<Vec<_>>());
        }
        if tokens > 4 * context {
            assert!(phases.len() > 10 && orders.len() > 1, "{} {}", phases.len(), orders.len());
        }
        // The windows of a step depend only on the step's number, not on earlier calls.
        let mut others = corpus.batches(5, batch);
        for step in [13, 2, 0, 7] {
            let from = step as usize * batch;
            if from + batch <= starts.len() {
                assert!(others.starts(step).eq(starts[from..from + batch].iter().copied()));
            }
        }
        let seeded = |seed| corpus.batches(seed, batch).starts(1).collect::<Vec<_>>();
        assert!(windows < 10 || seeded(5) != seeded(6));
    }
    let (corpus, _) = Corpus::new(text.as_bytes(), TokenizerSpec::Chars, 64).unwrap();
    let starts = corpus.validation_starts(10);
    assert_eq!(starts.len(), 10);
    assert!(starts.windows(2).all(|pair| pair[1] >= pair[0] + 64));
    assert!(starts[0] == corpus.train().end && starts[9] + 64 < corpus.len());
    assert_eq!(corpus.validation_starts(1000).len(), (corpus.validation().len() - 1) / 64);
}

#[cfg(not(target_arch = "wasm32"))]
mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_round_trips(text in "\\PC{0,200}", trained_on in "[a-e é日\n]{40,200}") {
            let pairs = trained(&trained_on, 300, 64).tokenizer();
            for tokenizer in [Tokenizer::chars(&text), Tokenizer::bytes(), pairs] {
                prop_assert_eq!(tokenizer.decode(&tokenizer.encode(&text).unwrap()), text.as_str());
            }
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300), context in 1usize..40) {
            for kind in KINDS {
                if let Ok((corpus, tokenizer)) = Corpus::new(&bytes, kind, context) {
                    prop_assert!(corpus.tokens(0..corpus.len()).all(|token| (token as usize) < tokenizer.vocab()));
                    prop_assert!(corpus.train().len() > context && corpus.validation().len() > context);
                }
            }
        }
    }
}
