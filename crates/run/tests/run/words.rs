//! Tests of words: descriptions of the text and the model, questions about the model, user data, devices, and the result of a seeded run.

use crate::common::*;
use graph::{Adam, Plan};
use learn::offload::{Local, PlanTrainer, TrainResult, TrainStateRef};
use learn::{Fault, Machine};
use math::Isa;
use run::protocol::{Command, Config, Dataset, DeviceWish, Event};
use run::{AnyRun, Host, config_of};
use safetensors::tensor::Dtype;
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::Apart;
use worlds::words::{Corpus, Grammar, TokenizerSpec};

fn list(of: &Value) -> &Vec<Value> {
    of.as_array().unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

/// Returns the config of a small character model in which the knobs `knobs` are set.
fn char_with(knobs: &str) -> Config {
    with(small("words", "char", 1), knobs)
}

/// Runs a test and returns the value of one column.
fn tested(run: &mut dyn AnyRun, column: &str) -> Option<f64> {
    let at = run.schema().test(column).unwrap();
    run.test().unwrap().values[at]
}

/// Asserts that a saved and restored run equals the original run after further training.
#[track_caller]
fn assert_resumes_equal(mut run: Box<dyn AnyRun>, iterations: u32) {
    let mut again = resume(&run.save().unwrap());
    settle(&mut *run, iterations);
    settle(&mut *again, iterations);
    assert_eq!(run.digest(), again.digest());
}

/// Converts floats that were sent as bytes.
fn floats(of: &Value) -> Vec<f32> {
    let bytes: Vec<u8> = list(of).iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
    bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

#[test]
fn text_is_prepared_and_described() {
    for variant in &variants("words") {
        let mut run = start(&small("words", variant, 1));
        let before = value(&mut *run, json!({ "ask": "about" }));
        assert!(before["model"].is_null() && before["preparing"]["done"] == 0.0, "{before}");
        for question in ["tokens", "read"] {
            let early = json!({ "ask": question, "text": "a", "next": 1 });
            assert!(ask_error(&mut *run, early).contains("being prepared"));
        }
        train(&mut *run, 5);
        run.command(Command::Pause).unwrap();
        while run.advance(0.0) {}
        run.command(Command::Start).unwrap();
        run.advance(0.0);
        let events = room_events(&mut *run);
        let ready = events.iter().find(|event| event["kind"] == "ready").unwrap();
        let about = value(&mut *run, json!({ "ask": "about" }));
        assert_eq!(ready["model"], about["model"], "{variant}");
        let (model, corpus) = (&about["model"], &about["corpus"]);
        let is_bpe = variant != "char";
        assert_eq!(corpus["tokenizer"], if is_bpe { "bpe" } else { "chars" });
        assert_eq!((&corpus["own"], &corpus["characters"]), (&json!(false), &json!(20_000.0)));
        assert_eq!(model["vocabulary"], corpus["vocabulary"]);
        assert_eq!(model["vocabulary"] == 300, is_bpe);
        assert!((number(&corpus["characters_per_token"]) > 1.3) == is_bpe);
        assert_eq!(number(&corpus["training_tokens"]) + number(&corpus["validation_tokens"]), number(&corpus["tokens"]));
        // The entropy assumes that the whole previous text is known. A window contains less of this text, so the floor is above the
        // entropy.
        let floor = number(&corpus["floor"]) / number(&corpus["characters_per_token"]);
        assert!(floor > number(&corpus["entropy"]) && floor < 2.0, "{floor}");
        let names: Vec<&str> = list(&model["tensors"]).iter().map(|tensor| tensor["name"].as_str().unwrap()).collect();
        for name in ["transformer.wte.weight", "transformer.h.1.attn.c_attn.weight", "transformer.ln_f.weight"] {
            assert!(names.contains(&name), "{name}");
        }
        // Position embeddings are a tensor only if they are learned.
        assert_eq!(names.contains(&"transformer.wpe.weight"), variant.starts_with('d'));
        let parameters: f64 = list(&model["tensors"]).iter().map(|tensor| list(&tensor["shape"]).iter().map(number).product::<f64>()).sum();
        assert_eq!(parameters, number(&model["parameters"]));

        let samples = value(&mut *run, json!({ "ask": "samples" }));
        let tests = list(&samples).iter().map(|sample| sample["iteration"].as_u64().unwrap());
        assert!(tests.eq([2, 4]), "{samples}");
        let said: Vec<&Value> = events.iter().filter(|event| event["kind"] == "sample").collect();
        assert_eq!(said.len(), 2);
        assert_eq!(said[1]["text"], samples[1]["text"]);
        assert!(!variant.starts_with('d') || samples[0]["prompt"] == "Once upon a time, a ");
        // The samples are saved with the run.
        let mut again = run::restore(&run.save().unwrap(), host()).unwrap();
        assert_eq!(value(&mut *again, json!({ "ask": "samples" })), samples);
        assert_eq!(value(&mut *again, json!({ "ask": "about" }))["model"], *model);
    }
}

#[test]
fn model_answers_questions_about_a_text() {
    for variant in &variants("words") {
        let mut run = trained(&with(small("words", variant, 1), "context=64"), 3);
        let run = &mut *run;
        let text = "Once upon a time, a fox";
        let tokens = value(run, json!({ "ask": "tokens", "text": text }));
        let whole: String = list(&tokens).iter().map(|token| token["text"].as_str().unwrap()).collect();
        assert_eq!(whole, text);
        let count = list(&tokens).len();
        assert_eq!(variant == "char", count == text.len());

        let read = value(run, json!({ "ask": "read", "text": text, "next": 10 }));
        assert_eq!((&read["tokens"], &read["iteration"]), (&tokens, &json!(3)));
        let surprise = list(&read["surprise"]);
        assert!(surprise[0].is_null() && surprise[1..].iter().all(|nats| number(nats) > 0.0));
        let mean = surprise[1..].iter().map(number).sum::<f64>() / (count - 1) as f64;
        assert!((mean - number(&read["loss"])).abs() < 1e-4);
        for (i, next) in list(&read["next"]).iter().enumerate() {
            let odds: Vec<f64> = list(next).iter().map(|next| number(&next["probability"])).collect();
            assert!(odds.len() == 10 && odds.is_sorted_by(|a, b| a >= b) && odds.iter().sum::<f64>() <= 1.0001);
            // The surprise at a token is the negative logarithm of the probability that was predicted for it.
            if let Some(token) = tokens.get(i + 1)
                && let Some(found) = list(next).iter().find(|next| next["id"] == token["id"])
            {
                let nats = -number(&found["probability"]).ln();
                assert!((nats - number(&surprise[i + 1])).abs() < 1e-3);
            }
        }
        let vocabulary = value(run, json!({ "ask": "about" }))["model"]["vocabulary"].as_u64().unwrap();
        let all = value(run, json!({ "ask": "read", "text": "fox", "next": 100_000 }));
        assert_eq!(list(&all["next"][0]).len() as u64, vocabulary);

        let attention = json!({ "ask": "attention", "text": text, "layer": 1, "head": 1 });
        let seen = value(run, attention);
        let weights = floats(&seen["weights"]);
        assert_eq!(weights.len(), count * count);
        for (from, row) in weights.chunks(count).enumerate() {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5 && row[from + 1..].iter().all(|w| *w == 0.0));
        }

        for (question, says) in [
            (json!({ "ask": "read", "text": "", "next": 1 }), "empty"),
            (json!({ "ask": "read", "text": "fox ".repeat(100), "next": 1 }), "the model sees 64 at once"),
            (json!({ "ask": "attention", "text": "fox", "layer": 2, "head": 0 }), "a layer of 0 to 1"),
            (json!({ "ask": "attention", "text": "fox", "layer": 0, "head": 2 }), "a head of 0 to 1"),
        ] {
            assert!(ask_error(run, question.clone()).contains(says), "{question}");
        }
        if variant == "char" {
            for question in ["tokens", "read"] {
                let text = ask_error(run, json!({ "ask": question, "text": "a fôx ✓", "next": 1 }));
                assert!(text.contains("'ô'") && text.contains("'✓'"), "{text}");
            }
        }
    }
}

fn generate(prompt: &str, temperature: f64, most: u32, stop: &str) -> Value {
    let sampling = json!({ "temperature": temperature, "top_k": 0, "top_p": 1.0, "seed": 5 });
    json!({ "ask": "generate", "prompt": prompt, "sampling": sampling, "most": most, "stop": stop })
}

#[test]
fn generation_keeps_the_weights_of_its_start() {
    for variant in &variants("words") {
        let mut run = start(&small("words", variant, 2));
        let early = ask_error(&mut *run, json!({ "ask": "continue", "tokens": 1 }));
        assert!(early.contains("being prepared"));
        train(&mut *run, 2);
        assert!(ask_error(&mut *run, json!({ "ask": "continue", "tokens": 1 })).contains("Begin one"));
        assert!(ask_error(&mut *run, json!({ "ask": "stop" })).contains("Begin one"));
        let begun = value(&mut *run, generate("a fox", 1.0, 40, ""));
        assert_eq!((&begun["tokens"], &begun["text"], &begun["ended"]), (&json!(0), &json!(""), &Value::Null));
        let at_once = value(&mut *run, json!({ "ask": "continue", "tokens": 1000 }));
        assert_eq!((&at_once["tokens"], &at_once["ended"]), (&json!(40), &json!("length")));

        value(&mut *run, generate("a fox", 1.0, 40, ""));
        let mut text = String::new();
        for i in 0..14 {
            let view = value(&mut *run, json!({ "ask": "continue", "tokens": 3 }));
            for token in list(&view["added"]) {
                assert!((0.0..=1.0).contains(&number(&token["probability"])));
                text += token["text"].as_str().unwrap();
            }
            assert_eq!(view["iteration"], 2);
            // Training continues and does not affect the text in progress.
            train(&mut *run, 3 + i / 4);
        }
        let last = value(&mut *run, json!({ "ask": "continue", "tokens": 3 }));
        assert_eq!((&last["text"], &last["tokens"]), (&at_once["text"], &json!(40)));
        assert!(list(&last["added"]).is_empty());
        // The tokens of a character model are characters. Other tokens may be bytes that are not valid UTF-8, so their texts differ from
        // the whole text.
        assert!(variant != "char" || last["text"] == text);

        if variant == "char" {
            let at = text.char_indices().nth(7).unwrap().0;
            let stop: String = text[at..].chars().take(2).collect();
            let first = text.find(&stop).unwrap();
            let mut again = trained(&small("words", variant, 2), 2);
            value(&mut *again, generate("a fox", 1.0, 40, &stop));
            let mut view = Value::Null;
            while view["ended"].is_null() {
                view = value(&mut *again, json!({ "ask": "continue", "tokens": 1 }));
                assert!(text[..first].starts_with(view["text"].as_str().unwrap()));
            }
            assert_eq!((&view["ended"], &view["text"]), (&json!("stop"), &json!(text[..first])));
        }
        value(&mut *run, generate("a fox", 0.0, 40, ""));
        value(&mut *run, json!({ "ask": "continue", "tokens": 5 }));
        assert_eq!(value(&mut *run, json!({ "ask": "stop" }))["ended"], "asked");
        for (question, says) in [
            (generate("", 1.0, 40, ""), "empty"),
            (generate(&"fox ".repeat(50), 1.0, 40, ""), "the model sees 16 at once"),
            (generate("a fox", -1.0, 40, ""), "Choose 0 to 100"),
            (generate("a fox", 1.0, 100_001, ""), "most = 100001 is out of range. Choose 0 to 100000"),
        ] {
            assert!(ask_error(&mut *run, question.clone()).contains(says), "{question}");
        }
    }
}

#[test]
fn an_answer_has_a_limited_number_of_predictions() {
    let knobs = "context=1024 tokenizer=bpe vocab=300 batch=1 micro=1 steps=1";
    let mut run = trained(&char_with(knobs), 1);
    let read = |text: &str, next: u32| json!({ "ask": "read", "text": text, "next": next });
    let view = value(&mut *run, read("#", u32::MAX));
    assert_eq!(view["next"][0].as_array().unwrap().len(), 300);
    // The stories have none of these characters, so each is a token of its own.
    let error = ask_error(&mut *run, read(&"#$%&".repeat(250), u32::MAX));
    assert!(error.contains("next = 300 is out of range. Choose 0 to 262"), "{error}");
}

#[test]
fn questions_do_not_change_training() {
    for variant in &variants("words") {
        let config = small("words", variant, 4);
        let (mut plain, mut asked) = (start(&config), start(&config));
        train(&mut *plain, 4);
        let mut now_s = 0.0;
        while asked.progress().iteration < 4 {
            now_s += 0.001;
            asked.advance(now_s);
            if asked.progress().iteration > 0 {
                value(&mut *asked, json!({ "ask": "read", "text": "a fox", "next": 3 }));
                value(&mut *asked, generate("a fox", 1.0, 4, ""));
                value(&mut *asked, json!({ "ask": "continue", "tokens": 2 }));
            }
        }
        assert_eq!(plain.digest(), asked.digest());
        assert_eq!(plain.test().unwrap().values, asked.test().unwrap().values);
    }
}

#[test]
fn all_model_kinds_are_trained_and_saved() {
    for knobs in [
        "norm=rms positions=rotary mlp=swiglu tied=0 bias=0 dropout=0.1",
        "norm=layer positions=rotary mlp=gelu tied=1 bias=0 dropout=0",
        "norm=rms positions=learned mlp=swiglu tied=0 bias=1 dropout=0.2",
    ] {
        for tokenizer in ["bytes", "bpe"] {
            let config = char_with(&format!("{knobs} tokenizer={tokenizer}"));
            assert_resumes_equal(trained(&config, 2), 4);
        }
    }
}

#[test]
fn invalid_settings_and_checkpoints_are_rejected() {
    for (knobs, says) in [
        ("heads=5", "a multiple of 10"),
        ("micro=3", "a micro that divides the batch"),
        ("width=1024 heads=2", "choose 4 heads or more"),
        ("width=40 heads=4", ""),
    ] {
        let error = run::validate(&char_with(knobs), host());
        assert!(says.is_empty() == error.is_ok());
        assert!(error.is_ok() || clear(&error.unwrap_err()).contains(says));
    }
    let mut run = trained(&small("words", "char", 1), 1);
    let file = run.save().unwrap();
    let assert_rejected = |file: &[u8], says: &str, change: fn(&mut Apart)| {
        let mut damaged = apart(file);
        change(&mut damaged);
        let error = run::restore(&damaged.together(), host()).err().unwrap();
        assert!(clear(&error).contains(says), "{error}");
    };
    assert_rejected(&file, "adam.v.transformer.ln_f.weight", |file| {
        let renamed = file.tensors.iter_mut().find(|tensor| tensor.0 == "adam.v.transformer.ln_f.weight");
        renamed.unwrap().0 = "adam.v.transformer.ln_f.weighs".into();
    });
    assert_rejected(&file, "transformer.h.9.ln_1.weight", |file| {
        let last = file.tensors.len() - 1;
        file.tensors.insert(last, ("transformer.h.9.ln_1.weight".into(), Dtype::F32, vec![1], vec![0; 4]));
        file.tensors[..=last].sort_by(|a, b| a.0.cmp(&b.0));
    });
    assert_rejected(&file, "tokenizer", |file| file.header["room"] = Value::Null);
    // In the first file, the vocabulary has more tokens than the settings allow. In the second file, it has fewer tokens than the model.
    assert_rejected(&file, "has 256 tokens", |file| file.header["room"]["tokenizer"] = json!({ "kind": "bytes" }));
    let mut pairs = trained(&small("words", "d256", 1), 1);
    assert_rejected(&pairs.save().unwrap(), "transformer.wte.weight", |file| {
        file.header["room"]["tokenizer"]["merges"].as_array_mut().unwrap().pop().unwrap();
    });
}

/// If the CPU does not support the chosen precision, the error suggests another precision.
#[test]
fn precision_needs_a_processor_with_it() {
    for (precision, isa) in [("bf16", Isa::Bf16), ("amx", Isa::Amx)] {
        let config = char_with(&format!("precision={precision}"));
        let error = run::validate(&config, Host::new(Isa::Portable)).unwrap_err();
        assert!(clear(&error).contains("need a CPU with A"), "{error}");
        assert_eq!(error.next_step(), "Leave precision at f32");
        assert_eq!(run::validate(&config, host()).is_ok(), has(isa), "{precision}");
    }
}

#[test]
fn digest_names_its_precision() {
    for (precision, isa) in [("bf16", Isa::Bf16), ("amx", Isa::Amx)] {
        if !has(isa) {
            testkit::skip(format_args!("{precision}: this processor has none"));
            continue;
        }
        let run = trained(&char_with(&format!("precision={precision}")), 2);
        assert_eq!(run.digest().arithmetic, precision);
    }
}

/// Trains the default preset for `steps` steps, during which the learning rate decays. The tests write no samples. Returns the excess of
/// the last test's loss over the entropy floor, relative to the floor.
fn excess_after(steps: f64) -> f64 {
    let mut run = start(&with(config_of(room("words")), &format!("decay_steps={steps} sample=0")));
    work(&mut *run, |run| run.progress().counts[0] >= steps * 512.0);
    tested(&mut *run, "above").unwrap()
}

/// Compares the test's entropy floor with the loss of the grammar's own predictor, which reads the same windows byte by byte. The first
/// token of a window is given and does not count.
#[test]
fn floor_equals_the_loss_of_the_best_predictor() {
    let grammar = Grammar::new();
    let anywhere = grammar.window_predictors();
    for tokenizer in ["chars", "bytes", "bpe"] {
        let config = with(small("words", "char", 5), &format!("tokenizer={tokenizer}"));
        let mut run = trained(&config, 1);
        let floor = tested(&mut *run, "floor").unwrap();
        let number = |name: &str| config.knobs[name].to_string().parse::<f64>().unwrap() as usize;
        let (context, characters) = (number("context"), number("characters"));
        let kind = match tokenizer {
            "chars" => TokenizerSpec::Chars,
            "bytes" => TokenizerSpec::Bytes,
            _ => TokenizerSpec::Bpe { vocab: number("vocab") },
        };
        let text = grammar.text(config.seed, characters);
        let (corpus, vocabulary) = Corpus::new(text.as_bytes(), kind, context).unwrap();
        let tokens = 16_384.0 / (corpus.characters() as f64 / corpus.len() as f64);
        let starts = corpus.validation_starts(tokens as usize / context);
        let mut long = 0;
        let lost = |&start: &usize| -> f64 {
            let window = corpus.tokens(start..start + context + 1);
            let mut tokens = window.map(|token| vocabulary.token_bytes(token));
            let first = tokens.next().unwrap();
            long += usize::from(first.len() > 1);
            let mut ideal = anywhere.after(first[0]);
            for &byte in &first[1..] {
                ideal.read(byte);
            }
            tokens.flatten().map(|&byte| -ideal.read(byte).ln()).sum()
        };
        let expected = starts.iter().map(lost).sum::<f64>() / (starts.len() * context) as f64;
        assert!((floor / expected - 1.0).abs() < 1e-9, "{tokenizer}: {floor} and {expected}");
        assert_eq!(long > 0, tokenizer == "bpe", "{long} windows begin with more than a byte");
    }
}

/// After 131,072 tokens, the losses with the seeds 1 to 3 were 141%, 144% and 146% above the floor. With half of the learning rate, the
/// loss with seed 1 was 204% above it. After 16,384 tokens, it was 779% above it. A loss below the floor would mean that the model sees the
/// tokens that it predicts.
#[test]
fn seeded_run_learns_the_stories() {
    let above = excess_after(256.0);
    assert!(0.0 < above && above < 1.7, "{above}");
}

/// After half a million tokens, the losses with the seeds 1 to 3 were 23%, 27% and 25% above the floor. With half of the learning rate, the
/// loss with seed 1 was 44% above it.
#[test]
#[ignore = "all: seeded_run_learns_the_stories"]
fn seeded_run_comes_within_a_third_of_the_floor() {
    let above = excess_after(1000.0);
    assert!(0.0 < above && above < 0.35, "{above}");
}

/// The room's goal, 5% above the floor, is reached within 8.2 million tokens.
#[test]
#[ignore = "takes ten minutes: cargo test --release -p run --test run -- --ignored five_percent"]
fn seeded_run_comes_within_five_percent_of_the_floor() {
    let above = excess_after(16_000.0);
    assert!(0.0 < above && above < 0.05, "{above}");
}

/// Returns the config of a run on user data.
fn on(name: &str, text: &[u8], tokenizer: &str) -> Config {
    let config = char_with(&format!("tokenizer={tokenizer}"));
    Config { data: Some(Dataset::new(name, text.to_vec())), ..config }
}

#[test]
fn user_text_is_learned() {
    // The text has no letters. A tokenizer of characters therefore cannot represent the knob `prompt`, and the prompt is taken from the
    // text.
    let numbers: String = (0..3000).map(|i| format!("{} ", i * i % 97)).collect();
    for tokenizer in ["chars", "bytes", "bpe"] {
        let mut run = trained(&on("squares.txt", numbers.as_bytes(), tokenizer), 3);
        let about = value(&mut *run, json!({ "ask": "about" }));
        let corpus = &about["corpus"];
        assert_eq!((&corpus["name"], &corpus["own"]), (&json!("squares.txt"), &json!(true)));
        assert!(corpus["floor"].is_null() && corpus["entropy"].is_null());
        assert!(numbers.starts_with(corpus["excerpt"].as_str().unwrap()));
        let test = run.test().unwrap().values;
        let column = |name: &str| test[run.schema().test(name).unwrap()];
        assert!(column("val_loss").unwrap() > 0.0 && column("val_bits_per_char").unwrap() > 0.0);
        // Every character of the text is a single byte.
        assert_eq!(column("val_bits_per_char"), column("val_bits_per_byte"));
        if tokenizer != "bpe" {
            let bits = column("val_loss").unwrap() / std::f64::consts::LN_2;
            assert!((column("val_bits_per_byte").unwrap() / bits - 1.0).abs() < 1e-12);
        }
        assert_eq!([column("floor"), column("above"), column("efficiency")], [None; 3]);
        let sample = &value(&mut *run, json!({ "ask": "samples" }))[0];
        let prompt = sample["prompt"].as_str().unwrap();
        let story = "Once upon a time, a ".ends_with(prompt);
        assert!(if tokenizer == "chars" { numbers.contains(prompt) } else { story }, "{prompt}");
        assert_resumes_equal(run, 5);
    }
    // A longer text is prepared in several slices.
    let long = numbers.repeat(40);
    let mut run = trained(&on("squares.txt", long.as_bytes(), "bpe"), 1);
    let parts: Vec<Value> = room_events(&mut *run).into_iter().filter(|event| event["kind"] == "preparing").collect();
    assert!(parts.iter().any(|part| part["part"] == "tokens"), "{parts:?}");
}

/// If a character has two bytes, the bits per byte are half of the bits per character.
#[test]
fn bits_per_byte_account_for_multibyte_characters() {
    let text: String = (0..3000).map(|i| char::from_u32(0x3b1 + i * i % 24).unwrap()).collect();
    for tokenizer in ["chars", "bytes"] {
        let mut run = trained(&on("greek.txt", text.as_bytes(), tokenizer), 1);
        let test = run.test().unwrap().values;
        let column = |name: &str| test[run.schema().test(name).unwrap()].unwrap();
        let bytes = if tokenizer == "chars" { 2.0 } else { 1.0 };
        let bits = column("val_loss") / std::f64::consts::LN_2 / bytes;
        assert!((column("val_bits_per_byte") / bits - 1.0).abs() < 1e-12, "{tokenizer}");
    }
}

#[test]
fn text_can_use_the_vocabulary_of_another_run() {
    let squares: String = (0..3000).map(|i| format!("{} ", i * i % 97)).collect();
    let cubes: String = (0..3000u64).map(|i| format!("{} ", i * i * i % 89)).collect();
    for tokenizer in ["chars", "bytes", "bpe"] {
        let mut first = trained(&on("squares.txt", squares.as_bytes(), tokenizer), 1);
        let tokenizer_of = |run: &mut dyn AnyRun| -> Value {
            let mut run = run::restore(&run.save().unwrap(), host()).unwrap();
            Events::drain(&mut *run).began().room["tokenizer"].clone()
        };
        let known = tokenizer_of(&mut *first);
        let line = run::words::vocabulary_line(&known);
        assert!(run::words::is_vocabulary(line.as_bytes()));
        let with = |text: &str| on("cubes.txt", [line.as_str(), text].concat().as_bytes(), tokenizer);
        let mut run = trained(&with(&cubes), 2);
        assert_eq!(tokenizer_of(&mut *run), known, "{tokenizer}");
        let corpus = &value(&mut *run, json!({ "ask": "about" }))["corpus"];
        assert!(cubes.starts_with(corpus["excerpt"].as_str().unwrap()), "the vocabulary line is part of the text");
        assert_eq!(number(&corpus["characters"]), cubes.len() as f64);
        assert_resumes_equal(run, 4);
        // A vocabulary for another kind of tokenizer is rejected. If the tokens are characters, a text with a character that is not in the
        // vocabulary is rejected too.
        let other = if tokenizer == "bytes" { "chars" } else { "bytes" };
        let error = begin_error(&with_text(with(&cubes), "tokenizer", other));
        assert!(error.next_step().contains(&format!("Set tokenizer to {tokenizer}")), "{error}");
        let strange = run::begin(with(&cubes.replace('1', "x")), host());
        match tokenizer {
            "chars" => assert!(strange.err().unwrap().to_string().contains('x')),
            _ => drop(strange.unwrap()),
        }
    }
    let damaged = format!("{}\n{squares}", r#"{"hothouse_vocabulary":{"kind":"bpe","merges":[[1,999]]}}"#);
    let error = begin_error(&on("damaged.txt", damaged.as_bytes(), "bpe"));
    assert!(error.next_step().contains("export words"), "{error}");
}

#[test]
fn unusable_text_is_rejected_with_a_next_step() {
    for (text, tokenizer, says) in [
        (&b""[..], "chars", "empty"),
        (b"", "bytes", "empty"),
        (b"too short", "chars", "too few for a context of 16"),
        (b"too short", "bpe", "too few for a context of 16"),
        (&[b'a'; 5000], "chars", "consists of"),
        (&[0xFF; 5000], "bytes", "consists of"),
        (b"one \xFF two and more of it, so that it is long enough", "chars", "byte 4"),
        (b"one \xFF two and more of it, so that it is long enough", "bpe", "set tokenizer to bytes"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0\x10\x11\0\0", "chars", "binary"),
    ] {
        let mut run = trained(&small("words", "char", 1), 1);
        let digest = run.digest();
        let config = on("text", text, tokenizer);
        for error in [begin_error(&config), run.command(Command::Reset { config: Some(config) }).unwrap_err()] {
            assert!(clear(&error).contains(says), "{says}: {error}");
        }
        assert_eq!(run.digest(), digest);
        train(&mut *run, 2);
    }
    let binary: Vec<u8> = (0..5000u32).map(|i| (i * i / 7) as u8).collect();
    let mut run = trained(&on("program", &binary, "bytes"), 2);
    // The letter "ü" has two bytes. Its first byte is given, and its second byte counts as one predicted character.
    let read = value(&mut *run, json!({ "ask": "read", "text": "über", "next": 1 }));
    let (loss, bits) = (number(&read["loss"]), number(&read["bits_per_char"]));
    assert!((bits - loss / std::f64::consts::LN_2).abs() < 1e-5, "{loss} nats a byte of 4, {bits}");
    // The data have 1 GiB, and the host has 2 GiB of memory.
    let mut claimed = Dataset::new("all.txt", Vec::new());
    claimed.bytes = 1 << 30;
    claimed.content = None;
    let config = Config { data: Some(claimed), ..config_of(room("words")) };
    let tab = Host { memory_bytes: 2 << 30, ..host() };
    let error = run::validate(&config, tab).unwrap_err();
    assert!(clear(&error).contains("all.txt has 1024 MB"), "{error}");
}

/// Function that creates the trainer of a device for a plan.
type MakeTrainer = fn(&Arc<Plan>, &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault>;

/// A device whose trainers are created by a given function.
struct Device(MakeTrainer);

impl Machine for Device {
    fn name(&self) -> String {
        "test device".into()
    }

    fn is_software(&self) -> bool {
        false
    }

    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        (self.0)(plan, state)
    }
}

/// Starts a run and offers a device to it.
fn offered(config: &Config, wish: DeviceWish, device: Device) -> Box<dyn AnyRun> {
    let mut run = start(config);
    run.command(Command::Device { wish }).unwrap();
    run.offer(Ok(Box::new(device)));
    run
}

#[test]
fn too_small_device_is_reported_and_the_run_continues() {
    let config = small("words", "char", 1);
    let small = Device(|plan, _| Err(Fault::TooSmall { needs: plan.arena_bytes(), has: 1 << 16 }));
    let (mut home, mut away) = (start(&config), offered(&config, DeviceWish::Gpu, small));
    let events = train_for_events(&mut *away, 3);
    settle(&mut *home, 3);
    settle(&mut *away, 3);
    assert_eq!(home.digest(), away.digest());
    let says = |event: &Event| {
        matches!(event, Event::Notice { text, next_step, .. }
            if text.contains("the GPU allows 65536") && next_step.contains("sequences per step"))
    };
    assert!(events.iter().any(says), "{events:?}");
}

/// Trainer that rejects a change of Adam's betas during training, as the GPU's trainer does.
struct SteadyTrainer(Box<dyn PlanTrainer>, Option<[f32; 2]>);

impl PlanTrainer for SteadyTrainer {
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        self.0.set_state(state)
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.0.set_input(name, values)
    }

    fn accumulate(&mut self) -> Result<(), Fault> {
        self.0.accumulate()
    }

    fn update(&mut self, adam: &Adam) -> Result<(), Fault> {
        let betas = [adam.beta1, adam.beta2];
        if *self.1.get_or_insert(betas) != betas {
            return Err(Fault::Unknown { what: "an Adam whose betas change".into() });
        }
        self.0.update(adam)
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.0.ask()
    }

    fn request_outputs(&mut self) -> Result<(), Fault> {
        self.0.request_outputs()
    }

    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault> {
        self.0.poll(result)
    }
}

/// Trains until `iterations` iterations are complete. Returns the events.
fn train_for_events(run: &mut dyn AnyRun, iterations: u32) -> Vec<Event> {
    let (mut events, mut now_s) = (Vec::new(), 0.0);
    while run.progress().iteration < iterations || !run.at_boundary() {
        now_s += 0.001;
        run.advance(now_s);
        events.extend(run.events());
    }
    events
}

/// Training stays on the device when Adam's betas change. A sample states the iteration of its weights, even if the device has already
/// completed further iterations.
#[test]
fn betas_change_on_a_device_and_samples_name_their_iteration() {
    // A device computes the whole batch at once. With `micro=4`, the CPU also computes the whole batch at once.
    let config = char_with("micro=4");
    let steady = Device(|plan, state| Ok(Box::new(SteadyTrainer(Local.trainer(plan, state)?, None))));
    let (mut home, mut away) = (start(&config), offered(&config, DeviceWish::Gpu, steady));
    let mut events = Vec::new();
    for run in [&mut home, &mut away] {
        events = train_for_events(&mut **run, 4);
        run.command(set("beta2", 0.9)).unwrap();
        events.extend(train_for_events(&mut **run, 12));
    }
    assert_eq!(home.digest().weights, away.digest().weights);
    let devices = events.iter().filter_map(|event| match event {
        Event::Device(device) => Some(device.on_gpu),
        _ => None,
    });
    assert_eq!(devices.collect::<Vec<_>>(), [true], "{events:?}");
    let [on_cpu, on_device] = [&mut home, &mut away].map(|run| value(&mut **run, json!({ "ask": "samples" })));
    assert!(list(&on_cpu).len() > 1);
    assert_eq!(on_cpu, on_device);
}

/// The CPU always computes in f32. If f16 is requested, the run uses no GPU without f16, not even in f32.
#[test]
fn f16_applies_to_devices_only_and_a_device_without_it_is_reported() {
    // A device computes the whole batch at once. With `micro=4`, the CPU also computes the whole batch at once.
    let config = |precision: &str| char_with(&format!("micro=4 precision={precision}"));
    let mut home = start(&config("f32"));
    settle(&mut *home, 12);
    for (precision, wish) in [("f32", DeviceWish::Gpu), ("f16", DeviceWish::Gpu), ("f16", DeviceWish::Auto), ("f16", DeviceWish::Cpu)] {
        let without_half = Device(|plan, state| if plan.half() { Err(Fault::NoF16) } else { Local.trainer(plan, state) });
        let mut away = offered(&config(precision), wish, without_half);
        let events = train_for_events(&mut *away, 12);
        settle(&mut *away, 12);
        assert_eq!(home.digest().weights, away.digest().weights, "{precision} {wish:?}");
        let device = |event: &Event| if let Event::Device(device) = event { Some(device.clone()) } else { None };
        let device = events.iter().find_map(device).unwrap();
        assert_eq!(device.on_gpu, precision == "f32", "{wish:?}");
        let asked = wish != DeviceWish::Cpu && precision == "f16";
        assert_eq!(device.why.contains("does not support f16, the selected precision"), asked, "{device:?}");
        let says = |event: &Event| {
            matches!(event, Event::Notice { text, next_step, .. }
                if text.contains("does not support f16") && next_step.contains("Set precision to f32"))
        };
        assert_eq!(events.iter().any(says), asked && wish == DeviceWish::Gpu, "{events:?}");
    }
}

/// Answers use the latest weights, also while a device computes an iteration.
#[test]
fn answers_use_the_newest_weights() {
    let local = Device(|plan, state| Local.trainer(plan, state));
    let mut run = offered(&char_with("layers=1 micro=4 steps=3 warmup=0 sample=0"), DeviceWish::Gpu, local);
    let read = |run: &mut dyn AnyRun| value(run, json!({ "ask": "read", "text": "a fox", "next": 1 }))["loss"].clone();
    prepare(&mut *run);
    let (mut seen, mut now_s) = (0, 0.0);
    while run.progress().iteration < 6 {
        now_s += 0.001;
        run.advance(now_s);
        let loss = read(&mut *run);
        if run.at_boundary() && run.progress().iteration > seen {
            seen = run.progress().iteration;
            let mut saved = run::restore(&run.save().unwrap(), host()).unwrap();
            assert_eq!(loss, read(&mut *saved), "after {seen} iterations");
        }
    }
    assert_eq!(seen, 6);
}

#[test]
fn knob_changed_during_preparation_is_in_the_file() {
    let mut run = start(&small("words", "char", 1));
    assert!(!run.at_boundary(), "the text is prepared too early");
    run.command(set("clip", 3.5)).unwrap();
    let file = run.save().unwrap();
    for run in [run, resume(&file)] {
        let changes = run.config_now().changes;
        assert!(changes.iter().any(|made| made.knob == "clip" && made.value == 3.5.into()), "{changes:?}");
    }
}
