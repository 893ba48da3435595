//! Is the chain whole? By induction from the first event: event k is as it was written if its hash is right and its
//! `previous` is the hash of event k − 1, which is as it was written. An event that was edited has another hash (or
//! somebody found a collision of SHA-256); one that was removed, moved or put in breaks the link behind it; a tail that
//! was cut off leaves a head that names another end.

use super::event::{Event, Head};

/// The first thing that is wrong, in one sentence.
pub(super) fn check(events: &[Event], head: &Head) -> Result<(), String> {
    let mut end = Head::empty();
    for event in events {
        let number = end.count + 1;
        if event.number != number {
            return Err(format!("event {number} of the ledger is missing or out of order"));
        }
        if event.digest() != event.hash {
            return Err(format!("event {number} of the ledger was edited"));
        }
        if event.previous != end.hash {
            return Err(format!("event {number} of the ledger does not follow the one before it"));
        }
        end = Head { count: number, hash: event.hash.clone() };
    }
    if head.count != end.count {
        let (is, was) = (end.count, head.count);
        return Err(format!("the ledger holds {is} events and its head counts {was}: events were removed or added"));
    }
    if head.hash != end.hash {
        return Err("the head of the ledger names another last event".to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::event::{Draft, Step};
    use super::*;
    use crate::privacy::Ratio;

    /// Two datasets with every kind of event, and every field filled somewhere.
    fn whole() -> (Vec<Event>, Head) {
        let reserve = |name: &str| Draft {
            epsilon: Ratio::new(1, 10),
            delta: Ratio::new(1, 1_000_000),
            rho: Ratio::new(3, 1024),
            method: Some("default".to_string()),
            schema: Some("ab".repeat(32)),
            ..Draft::about(Step::Reserve, name, None)
        };
        let limit =
            Draft { epsilon: Ratio::new(3, 1), delta: Ratio::new(0, 1), ..Draft::about(Step::Limit, "a", None) };
        let drafts = [
            limit,
            reserve("a"),
            Draft::about(Step::Open, "a", Some(2)),
            reserve("ünï"),
            Draft::about(Step::Spend, "a", Some(2)),
            Draft::about(Step::Withdraw, "ünï", Some(4)),
        ];
        let (mut events, mut head) = (Vec::new(), Head::empty());
        for (second, draft) in drafts.into_iter().enumerate() {
            let event = Event::after(&head, draft, format!("2026-01-02T03:04:0{second}Z"));
            head = Head { count: event.number, hash: event.hash.clone() };
            events.push(event);
        }
        (events, head)
    }

    /// Every change of one byte, where what comes out is still text.
    fn edits(text: &str) -> Vec<String> {
        let changed = |at: usize, bit: u8| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= bit;
            String::from_utf8(bytes).ok()
        };
        let mut edits: Vec<String> =
            (0..text.len()).flat_map(|at| [1, 2, 4, 16, 32].map(|bit| changed(at, bit))).flatten().collect();
        edits.extend([format!("{text} "), format!(" {text}"), text.repeat(2)]);
        edits.extend(text.char_indices().map(|(at, letter)| [&text[..at], &text[at + letter.len_utf8()..]].concat()));
        edits.retain(|edit| edit != text);
        edits
    }

    #[test]
    fn a_whole_chain_is_whole() {
        let (events, head) = whole();
        assert_eq!(check(&events, &head), Ok(()));
        assert_eq!(check(&[], &Head::empty()), Ok(()));
    }

    #[test]
    fn any_edited_byte_of_any_field_is_found() {
        let (events, head) = whole();
        let mut count = 0;
        for at in 0..events.len() {
            let mut found = |edit: &dyn Fn(&mut Event)| {
                let mut edited = events.clone();
                edit(&mut edited[at]);
                assert!(edited[at] == events[at] || check(&edited, &head).is_err(), "{:?}", edited[at]);
                count += 1;
            };
            let event = &events[at];
            for (field, text) in [
                (0, &event.time),
                (1, &event.step),
                (2, &event.dataset),
                (3, &event.version),
                (4, &event.previous),
                (5, &event.hash),
            ] {
                for edit in edits(text) {
                    found(&|event| {
                        let fields = [
                            &mut event.time,
                            &mut event.step,
                            &mut event.dataset,
                            &mut event.version,
                            &mut event.previous,
                            &mut event.hash,
                        ];
                        fields.into_iter().nth(field).unwrap().clone_from(&edit);
                    });
                }
            }
            for (field, text) in
                [&event.epsilon, &event.delta, &event.rho, &event.method, &event.schema].into_iter().enumerate()
            {
                let mut values: Vec<Option<String>> =
                    edits(text.as_deref().unwrap_or("1/2")).into_iter().map(Some).collect();
                values.extend([None, Some(String::new()), Some("0/1".to_string())]);
                for value in values {
                    found(&|event| {
                        let fields = [
                            &mut event.epsilon,
                            &mut event.delta,
                            &mut event.rho,
                            &mut event.method,
                            &mut event.schema,
                        ];
                        fields.into_iter().nth(field).unwrap().clone_from(&value);
                    });
                }
            }
            for number in 0..9 {
                found(&|event| event.number = number);
                found(&|event| event.entry = Some(number));
            }
            found(&|event| event.entry = None);
        }
        assert!(count > 5_000, "{count}");
        for hash in edits(&head.hash) {
            assert!(check(&events, &Head { hash, ..head.clone() }).is_err());
        }
    }

    /// With and without numbers that are put right again.
    #[test]
    fn events_that_are_removed_moved_or_put_in_are_found() {
        let (events, head) = whole();
        let assert_found = |mut changed: Vec<Event>, head: &Head| {
            assert!(check(&changed, head).is_err());
            for (number, event) in (1..).zip(&mut changed) {
                event.number = number;
            }
            assert!(check(&changed, head).is_err());
            let head = Head { count: changed.len() as u64, ..head.clone() };
            assert!(check(&changed, &head).is_err());
        };
        for at in 0..events.len() {
            let mut fewer = events.clone();
            fewer.remove(at);
            assert_found(fewer, &head);
            for other in 0..at {
                let mut moved = events.clone();
                moved.swap(at, other);
                assert_found(moved, &head);
            }
            for other in 0..=events.len() {
                let mut more = events.clone();
                more.insert(other, events[at].clone());
                assert_found(more, &head);
            }
        }
        for length in 0..events.len() {
            assert!(check(&events[..length], &head).is_err(), "a tail is cut off");
        }
    }
}
