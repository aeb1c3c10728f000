//! Parsers accept any text from users and programs: they return a value or an error, and never panic. Parsers use at most twice the memory
//! that valid texts of the same length need. The environment variable `FUZZ=10000` sets the number of cases to 10,000.

use std::fmt::Display;
use testkit::{Mutator, cases, fuzz, peak_bytes};
use worlds::backgammon::{Board, IdError, Roll, Standing, notation};
use worlds::cube::{self, Puzzle, Three, Two};
use worlds::logic::{Grid, Rule};
use worlds::words::{Corpus, Tokenizer, TokenizerSpec};

const CASES: u32 = 300;
/// Number of bytes that are always allowed, for error texts and for containers that grow by doubling.
const SLACK: u64 = 16_384;

/// Parses mutated texts. The memory limit is twice the larger of two values: the largest memory that a valid text needs, and `factor` bytes
/// per byte of input.
fn check<T, E: Display>(what: &str, good: &[&str], factor: u64, read: impl Fn(&str) -> Result<T, E>) {
    let takes = |text: &str| {
        let (read, bytes) = peak_bytes(|| read(text).map(drop).map_err(|error| error.to_string()));
        if let Err(error) = &read {
            assert!(error.len() > 10, "{what}: {error}");
        }
        (read, bytes)
    };
    let usual = good.iter().map(|text| {
        let (read, bytes) = takes(text);
        assert_eq!(read, Ok(()), "{what}: {text}");
        bytes
    });
    let usual = usual.max().unwrap_or_default();
    fuzz(what, cases(CASES), |mutator: &mut Mutator| {
        let good = mutator.one_of(good);
        let text = mutator.text(good);
        let (_, bytes) = takes(&text);
        let most = 2 * usual.max(factor * text.len() as u64) + SLACK;
        assert!(bytes <= most, "{what}: {bytes} bytes for {} of {text:.200}", text.len());
    });
}

#[test]
fn backgammon_ids_and_moves_fuzz() {
    check("position id", &["4HPwATDgc/ABMA", "mGfwATDg8+ABUA"], 1, Board::from_id);
    let standings = [
        "4HPwATDgc/ABMA:cAkAAAAAAAAA",
        "4HPwATDgc/ABMA:QYkqASAAIAAA",
        "XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:4:2:1:5:10",
        "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:0:0:0:0:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:4:2:0:7:10",
    ];
    check("match id", &standings, 8, |text| -> Result<(), IdError> {
        // The game is written as two ids, one in each format. Both ids are read as the same game.
        let game = Standing::read(text)?.game;
        for id in [game.gnu_id(), game.xgid()] {
            let again = Standing::read(&id).unwrap_or_else(|error| panic!("{id} of {text}: {error}")).game;
            assert_eq!((again.gnu_id(), again.xgid()), (game.gnu_id(), game.xgid()), "{id} of {text}");
        }
        Ok(())
    });
    let board = Board::from_id("4HPwATDgc/ABMA").unwrap();
    let roll = Roll::new(3, 1).unwrap();
    check("move", &["8/5 6/5", "24/20", "13/10 24/23"], 8, |text| notation::read(&board, roll, text));
}

#[test]
fn cubes_fuzz() {
    check("cube moves", &["R U2 F' R' D2 B", "U", "R2 U R2 U' R2"], 8, cube::notation::read);
    let two = "UUUURRRRFFFFDDDDLLLLBBBB";
    check("facelets of the 2x2x2", &[two], 8, Two::from_facelets);
    let three = "UUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB";
    check("facelets of the 3x3x3", &[three], 8, Three::from_facelets);
}

#[test]
fn rules_and_drawings_fuzz() {
    check("rule", &["B3/S23", "B36/S23"], 8, Rule::parse);
    for channels in [1, 3, 8] {
        let good = ["..#/.#./#..", "#.\n.#", &"....####/".repeat(40)];
        check(&format!("drawing of {channels}"), &good, 64, |text| Grid::draw(text, channels));
    }
}

#[test]
fn texts_and_tokenizers_fuzz() {
    let story = "Once there was a fox. The fox had a red ball.\n\n".repeat(20);
    for (name, kind) in
        [("characters", TokenizerSpec::Chars), ("bytes", TokenizerSpec::Bytes), ("pairs", TokenizerSpec::Bpe { vocab: 280 })]
    {
        check(&format!("text as {name}"), &[&story], 64, |text| Corpus::new(text.as_bytes(), kind, 16));
    }
    let (_, pairs) = Corpus::new(story.as_bytes(), TokenizerSpec::Bpe { vocab: 280 }, 16).unwrap();
    let written = [Tokenizer::chars(&story), Tokenizer::bytes(), pairs].map(|tokenizer| tokenizer.to_json());
    for good in &written {
        check("tokenizer", &[good], 64, Tokenizer::from_json);
        let document: serde_json::Value = serde_json::from_str(good).unwrap();
        let (_, usual) = peak_bytes(|| Tokenizer::from_json(good).map(drop));
        fuzz("tokenizer's document", cases(CASES), |mutator| {
            let text = mutator.json(&document).to_string();
            let (read, bytes) = peak_bytes(|| Tokenizer::from_json(&text));
            assert!(bytes <= 2 * usual.max(64 * text.len() as u64) + SLACK, "{bytes} bytes: {text:.300}");
            if let Ok(tokenizer) = read {
                tokenizer.encode("The fox").map(|tokens| tokenizer.decode(&tokens)).ok();
            }
        });
    }
}
