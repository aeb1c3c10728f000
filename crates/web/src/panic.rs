//! Forwards the text of a panic on any thread to the page.
//!
//! A panicking thread of the pool stops its worker while the experiment's worker waits for it. So the panicking thread sends the text
//! directly to the page over a broadcast channel.

use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use web_sys::BroadcastChannel;

/// Name of the broadcast channel. The page chooses it, so that tabs do not receive each other's messages.
static CHANNEL: OnceLock<String> = OnceLock::new();

pub fn forward_to(channel: String) {
    if CHANNEL.set(channel).is_ok() {
        std::panic::set_hook(Box::new(forward));
    }
}

fn forward(info: &PanicHookInfo) {
    console_error_panic_hook::hook(info);
    // An unreachable page cannot be handled; the console has the text.
    if let Some(Ok(page)) = CHANNEL.get().map(|name| BroadcastChannel::new(name)) {
        let _ = page.post_message(&info.to_string().into());
    }
}
