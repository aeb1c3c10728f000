//! Tests of functions of the library, one file per source file. The other tests of this program run its binary.

#[cfg(unix)]
mod aside;
mod budget;
mod csv;
mod data;
mod draw;
mod format;
mod gnubg;
mod host;
mod lines;
mod monitor_file;
mod picture;
mod plain;
mod play;
mod raster;
mod record;
mod saves;
mod screen;
#[cfg(unix)]
mod signals;
mod sweep;
mod table_screen;
mod terminal;
mod training;
mod values;
mod versus;
mod view;
