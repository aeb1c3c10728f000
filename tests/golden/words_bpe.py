"""Writes byte pairs from Hugging Face's tokenizers to words_bpe.json beside this file.

pip install tokenizers==0.22.1 && python3 words_bpe.py

The text is the Apache license of this repository. It is ASCII, so a character is a byte. The initial alphabet contains all 256
bytes in order, and this order breaks ties between equally frequent pairs. Pieces longer than 64 bytes, which Hothouse divides, do
not occur.
"""

import json
import pathlib

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
VOCAB = 700
# A space before a run of letters, digits or other characters belongs to the run; white space before that space is a separate piece.
PIECES = r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?= \S)|\s+"
SENTENCES = [
    "Licensed under the Apache License, Version 2.0",
    "the  quick\n\n  brown foxes' work, 12345 times over (or more)!",
    "    You may obtain a copy\nof it at http://example.org\t.",
    "ttttttttt eeeeee -- --- ... zzz",
]

text = (HERE / "../../LICENSE-APACHE").read_text("ascii")
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
trainer = trainers.BpeTrainer(
    vocab_size=VOCAB,
    min_frequency=2,
    initial_alphabet=[chr(byte) for byte in range(256)],
    show_progress=False,
)
tokenizer.train_from_iterator([text], trainer)
ids = tokenizer.get_vocab()
assert all(ids[chr(byte)] == byte for byte in range(256))
assert max(len(piece) for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)) <= 64

merges = [merge if isinstance(merge, list) else merge.split(" ") for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
golden = {
    "merges": [[ids[part] for part in merge] for merge in merges],
    "tokens_of_text": len(tokenizer.encode(text).ids),
    "sentences": [{"text": text, "tokens": tokenizer.encode(text).ids} for text in SENTENCES],
}
(HERE / "words_bpe.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
