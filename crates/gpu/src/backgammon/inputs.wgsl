// Computes the 344 inputs of backgammon's published network from the nine words of a decision. `inputs.rs` in the crate `learn` has a table
// of the inputs. Each side has four words with four bits per place: the points in the side's own numbering, then the bar. The ninth word
// holds the roll's index; its bit 8 marks the second half of a double. The ninth word of a sample has further bits, which this file
// ignores.

const BAR = 25u;
const CHECKERS = 15u;

fn checkers(at: u32, which: u32, place: u32) -> u32 {
    return (words[at + which * 4u + (place - 1u) / 8u] >> (4u * ((place - 1u) % 8u))) & 15u;
}

fn borne_off(at: u32, which: u32) -> u32 {
    var left = 0u;
    for (var word = 0u; word < 4u; word++) {
        let bits = words[at + which * 4u + word];
        // Adds pairs first, so that the sums of pairs and the total fit into bytes.
        left += (((bits & 0x0F0F0F0Fu) + ((bits >> 4u) & 0x0F0F0F0Fu)) * 0x01010101u) >> 24u;
    }
    return CHECKERS - left;
}

fn rear(at: u32, which: u32) -> u32 {
    for (var word = 4u; word > 0u; word--) {
        let bits = words[at + which * 4u + word - 1u];
        if (bits != 0u) { return (word - 1u) * 8u + firstLeadingBit(bits) / 4u + 1u; }
    }
    return 0u;
}

fn pips(at: u32, which: u32) -> u32 {
    var sum = 0u;
    for (var place = 1u; place <= BAR; place++) { sum += place * checkers(at, which, place); }
    return sum;
}

fn of_side(at: u32, which: u32, feature: u32) -> f32 {
    if (feature == 0u) { return 0.01 * f32(pips(at, which)); }
    if (feature == 4u) { return f32(rear(at, which)) / f32(BAR); }
    var some = 0u;
    var many = 0u;
    var back = checkers(at, which, BAR);
    var home = 0u;
    for (var point = 1u; point < BAR; point++) {
        let count = checkers(at, which, point);
        some |= select(0u, 1u << point, count > 0u);
        many |= select(0u, 1u << point, count > 1u);
        back += select(0u, count, point > 18u);
        home += select(0u, count, point <= 6u);
    }
    switch feature {
        case 1u: { return f32(countOneBits(many & 126u)) / 6.0; }
        case 2u: {
            var prime = 0u;
            for (var run = many; run != 0u; run &= run >> 1u) { prime++; }
            return f32(prime) / 6.0;
        }
        case 3u: { return f32(countOneBits(some & ~many)) / 5.0; }
        case 5u: { return f32(back) / 5.0; }
        default: { return f32(home) / 15.0; }
    }
}

fn input(at: u32, feature: u32) -> f32 {
    let which = feature / 157u;
    let own = feature % 157u;
    if (feature < 314u && own < 144u) {
        let count = checkers(at, which, own / 6u + 1u);
        let step = own % 6u;
        return select(f32(count > step), 0.5 * f32(max(count, 5u) - 5u), step == 5u);
    }
    if (feature < 314u && own < 147u) {
        let count = checkers(at, which, BAR);
        let step = own - 144u;
        return select(f32(count > step), 0.5 * f32(max(count, 2u) - 2u), step == 2u);
    }
    if (feature < 314u && own < 150u) {
        let fives = 5u * (own - 147u);
        return 0.2 * f32(min(max(borne_off(at, which), fives) - fives, 5u));
    }
    if (feature < 314u) { return of_side(at, which, own - 150u); }
    if (feature == 314u) { return f32(rear(at, 0u) + rear(at, 1u) > BAR); }
    if (feature == 315u) { return 0.01 * (f32(pips(at, 1u)) - f32(pips(at, 0u))); }
    let last = words[at + 8u];
    let roll = last & 255u;
    if (feature < 337u) { return f32(roll == feature - 316u); }
    if (feature == 343u) { return f32(((last >> 8u) & 1u) == 1u); }
    // The index of a roll is high·(high - 1)/2 + low - 1.
    var high = 1u;
    while (high * (high + 1u) / 2u <= roll) { high++; }
    let low = roll - high * (high - 1u) / 2u + 1u;
    let number = feature - 336u;
    return f32(number == high || number == low);
}
