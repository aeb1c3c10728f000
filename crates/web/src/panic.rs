//! Sends the text of a panic on any thread to the page.
//!
//! A panic stops a thread while the run's worker waits for this thread. The panicking thread itself therefore sends the text to the page,
//! over a broadcast channel.

use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use web_sys::BroadcastChannel;

/// Name of the broadcast channel. Each page uses its own name, so that tabs do not receive each other's messages.
static CHANNEL: OnceLock<String> = OnceLock::new();

pub fn forward_to(channel: String) {
    if CHANNEL.set(channel).is_ok() {
        std::panic::set_hook(Box::new(forward));
    }
}

fn forward(info: &PanicHookInfo) {
    console_error_panic_hook::hook(info);
    // If the page cannot be reached, only the console shows the text.
    if let Some(Ok(page)) = CHANNEL.get().map(|name| BroadcastChannel::new(name)) {
        let _ = page.post_message(&info.to_string().into());
    }
}
