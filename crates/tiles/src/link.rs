//! Links of the tiles. A link names the room, the seed and the settings that differ from the room's defaults.

use learn::settings::Settings;
use std::error::Error;

/// Links of all tiles, one a line. The page reads this file too.
pub const LINKS: &str = include_str!("links.txt");

pub struct Link<'a> {
    pub room: &'a str,
    pub seed: u32,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Link<'a> {
    pub fn read(text: &'a str) -> Result<Link<'a>, Box<dyn Error>> {
        let (room, query) = text.trim_start_matches("#/").split_once('?').ok_or("a link of a tile has settings")?;
        let mut link = Link { room, seed: 0, values: query.split('&').filter_map(|pair| pair.split_once('=')).collect() };
        link.seed = link.value("seed").ok_or("a link of a tile has a seed")?.parse()?;
        Ok(link)
    }

    /// Returns the text of a setting; `None` if the link does not name it.
    pub fn value(&self, name: &str) -> Option<&'a str> {
        self.values.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    /// Returns `preset` with the settings of the link. A name that is no setting of `preset` has no effect.
    pub fn settings<C: Settings>(&self, mut preset: C) -> Result<C, Box<dyn Error>> {
        for (name, value) in &self.values {
            preset.parse(name, value)?;
        }
        Ok(preset)
    }
}
