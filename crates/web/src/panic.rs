//! A panic's text reaches the page from whichever thread it happened on.
//!
//! A thread of the pool that panics takes its worker down while the experiment's own worker waits
//! for it, so the text goes from the panicking thread straight to the page over a broadcast channel.

use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use web_sys::BroadcastChannel;

/// Named by the page, so that two tabs do not hear each other's.
static CHANNEL: OnceLock<String> = OnceLock::new();

pub fn forward_to(channel: String) {
    if CHANNEL.set(channel).is_ok() {
        std::panic::set_hook(Box::new(forward));
    }
}

fn forward(info: &PanicHookInfo) {
    console_error_panic_hook::hook(info);
    // Nothing can be done about a page that cannot be told; the console has the text.
    if let Some(Ok(page)) = CHANNEL.get().map(|name| BroadcastChannel::new(name)) {
        let _ = page.post_message(&info.to_string().into());
    }
}
