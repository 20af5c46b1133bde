//! What a handler may ask about the message that started it.
//!
//! The router hands a handler its params and nothing else. The main loop needs the request's id all the
//! same: a later `$/cancelRequest` names it. The pump polls every handler for the first time on its own
//! thread, so a value of that thread, set around this one poll, is exactly as scoped as an argument.

use std::cell::RefCell;

use super::Id;

/// The id of the request whose handler is being started, as the editor wrote it.
///
/// `None` in a notice's handler, and `None` everywhere after a handler's first `await` that has to wait:
/// take it at the top.
pub fn current_request_id() -> Option<Id> {
    CURRENT.with_borrow(|it| it.as_ref().and_then(|it| it.id.clone()))
}

/// Whether the message being started held a lone surrogate, which was replaced by U+FFFD.
///
/// Its text has the right UTF-16 length but not the right content: a document opened or changed by such
/// a message must be read again from disk before it is trusted. Valid where [`current_request_id`] is.
pub fn current_message_repaired() -> bool {
    CURRENT.with_borrow(|it| it.as_ref().is_some_and(|it| it.repaired))
}

/// Runs `start` with the answers to the two questions above.
pub(super) fn during<T>(id: Option<Id>, repaired: bool, start: impl FnOnce() -> T) -> T {
    /// Forgets the message even when `start` panics.
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            CURRENT.set(None);
        }
    }
    CURRENT.set(Some(Current { id, repaired }));
    let _forget = Forget;
    start()
}

struct Current {
    id: Option<Id>,
    repaired: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}
