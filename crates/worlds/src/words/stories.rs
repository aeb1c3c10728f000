//! Lists and rules of the stories, as data for [`super::grammar`].
//!
//! A list consists of a head and of entries. The head `name form/form/…` names the list and its forms. Each entry contains one text per
//! form, in the order of the head. Rules use this syntax:
//!
//! - `{name=}` draws an entry of a list. The entry is remembered until the story ends or the list is drawn again.
//! - `{name}` inserts the remembered entry. If no rule remembers entries of this list, `{name}` inserts a newly drawn entry.
//! - `{name.form}` inserts another form of the entry. If the name begins with a capital letter (`{Name.form}`), the text also begins with a
//!   capital letter.
//! - `<rule>` inserts the text of another rule.
//! - `(a|b)` inserts one of the alternatives, all equally likely.
//!
//! Every text must have exactly one derivation. Otherwise the entropy would include choices that do not change the text. A test in
//! `tests/worlds/grammar.rs` checks that no text has two derivations.

pub const LISTS: &[(&str, &str)] = &[
    (
        "hero name/he/him/his",
        "Anna/she/her/her Ben/he/him/his Clara/she/her/her Dora/she/her/her Finn/he/him/his \
         Hugo/he/him/his Ivy/she/her/her Jack/he/him/his Lily/she/her/her Max/he/him/his Ruby/she/her/her \
         Tom/he/him/his",
    ),
    ("kind", "fox rabbit mouse bear duckling goat hedgehog squirrel kitten pony lamb pig"),
    ("kin", "mother father sister brother uncle grandmother"),
    ("friend", "owl crow turtle snail heron toad beetle donkey cat spider goose robin"),
    ("home", "by_the_river in_the_forest on_a_hill near_the_sea under_a_bridge at_the_old_mill"),
    ("spot", "lake cave garden market bakery tower meadow well village harbor orchard school"),
    ("thing", "key bell lantern kite drum ring map hat book flute crown jar"),
    ("colour", "red blue green golden silver white purple yellow"),
    (
        "hobby form/ing",
        "sing/singing paint/painting bake/baking read/reading dance/dancing fish/fishing knit/knitting \
         climb/climbing",
    ),
    ("trait", "small brave clever quiet merry lazy gentle hungry young proud funny tiny sleepy wise jolly noisy"),
    ("weather", "sunny rainy windy cold foggy bright snowy mild"),
    ("time", "morning evening day night"),
    ("went", "walked ran hurried skipped marched wandered hopped danced"),
    ("slowly", "slowly happily bravely softly alone gladly"),
    ("said", "said whispered cried laughed replied"),
    ("under", "under behind beside near"),
    ("mossy", "mossy big little round crooked dusty hollow tall"),
    ("rock", "rock tree stump bench wall fence cart ladder"),
    ("food", "bread soup cake honey nuts plums jam cheese toast peas figs rice"),
    ("happy", "happy glad proud pleased thrilled"),
    ("sad", "sad worried upset cross afraid"),
];

/// Alternatives of each rule, by the rule's name. The first rule is a whole story.
pub const RULES: &[(&str, &[&str])] = &[
    ("story", &["<opening> <habit>\n<wish> <worry>\n<first>(| <search>) <search>\n<go> <find>\n<ending>\n\n"]),
    (
        "opening",
        &[
            "Once upon a time, a {trait} {kind=} named {hero=} lived {home=}.",
            "Once there was a {trait}, {trait} {kind=} named {hero=}, who lived {home=}.",
            "{Hero=} was a {trait} {kind=} who lived {home=}.",
            "Long ago, {home=}, lived a {trait} {kind=} named {hero=}.",
        ],
    ),
    (
        "habit",
        &[
            "{Hero.he} loved to {hobby=} with {hero.his} {trait} {kin=}.",
            "{Hero.his} {kin=} liked {food} and {food}, but {hero} liked to {hobby=}.",
            "Each {time} {hero.he} would {hobby=} while {hero.his} {kin=} made {food}.",
        ],
    ),
    (
        "wish",
        &[
            "One {weather} {time}, {hero.his} {colour=} {thing=} was gone.",
            "One {weather} {time} {hero} lost a {colour=} {thing=}.",
            "\"I want a {colour=} {thing=},\" {said} {hero} one {weather} {time}.",
        ],
    ),
    ("worry", &["The {kind} was {sad} and ate {food}.", "\"Do not be {sad},\" {said} {hero.his} {kin}.", "{Hero} was {sad} but {trait}."]),
    ("first", &["First {hero.he} {went} to the {spot=}.", "So {hero} {went} {slowly} to the {spot=}."]),
    ("search", &["<meet> <ask> <answer>"]),
    ("meet", &["There {hero.he} met a {trait} {friend=}.", "A {trait} {friend=} sat {slowly} {under} a {mossy} {rock}."]),
    (
        "ask",
        &[
            "\"Have you seen a {colour} {thing}?\" {said} {hero}.",
            "\"Dear {friend}, where is the {thing}?\" {hero.he} {said}.",
            "\"My {thing} is {colour},\" {said} the {kind}.",
        ],
    ),
    (
        "answer",
        &[
            "\"No,\" {said} the {friend}, \"but try the {spot=}.\"",
            "\"Look in the {spot=}!\" the {friend} {said}.",
            "The {friend} wanted {food} and {food} and {said}, \"Go to the {spot=}!\"",
        ],
    ),
    ("go", &["{Hero} {went} to the {spot}.", "So the {kind} {went} {slowly} to the {spot}."]),
    (
        "find",
        &[
            "There, {under} a {mossy} {rock}, was the {colour} {thing}!",
            "{Hero.he} looked {under} a {mossy} {rock} and found the {thing}.",
            "What lay {under} the {mossy} {rock}? The {colour} {thing}!",
        ],
    ),
    (
        "ending",
        &[
            "{Hero} {went} home, and {hero.his} {kin} was {happy}. They ate {food} and {food}.",
            "\"Thank you, {friend}!\" {said} {hero}, and {hero.he} went on {hobby.ing}.",
            "That {time} they had {food} and {food} {home}, and all were {happy}.",
        ],
    ),
];
