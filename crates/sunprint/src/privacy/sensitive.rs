//! What depends on private rows, and what has been released.
//!
//! Proof: docs/proofs.md, Lemma 2.

use serde::Serialize;

/// A value that depends on private rows. It has no getter, no `Debug`, no `Clone`, no `Serialize`; only a mechanism of
/// this room opens it.
///
/// ```compile_fail,E0277
/// use sunprint::privacy::Sensitive;
/// println!("{:?}", Sensitive::new(7));
/// ```
/// ```compile_fail,E0599
/// use sunprint::privacy::Sensitive;
/// let copy = Sensitive::new(7).clone();
/// ```
/// ```compile_fail,E0624
/// use sunprint::privacy::Sensitive;
/// let leak = Sensitive::new(7).open();
/// ```
/// ```compile_fail,E0624
/// use sunprint::privacy::Sensitive;
/// let mut leak = 0;
/// Sensitive::new(7).map(|value| leak = value);
/// ```
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Marks a value as sensitive. Outside this crate there is no way back but through noise.
    pub fn new(value: T) -> Sensitive<T> {
        Sensitive(value)
    }

    /// Computes with the value inside. A closure could carry it out, so only this crate may call it, and only with
    /// closures that store and print nothing.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Sensitive<U> {
        Sensitive(f(self.0))
    }

    /// Two parts of the value, both still sensitive.
    pub(crate) fn split<A, B>(self, f: impl FnOnce(T) -> (A, B)) -> (Sensitive<A>, Sensitive<B>) {
        let (a, b) = f(self.0);
        (Sensitive(a), Sensitive(b))
    }

    /// Both values in one.
    pub fn zip<U>(self, other: Sensitive<U>) -> Sensitive<(T, U)> {
        Sensitive((self.0, other.0))
    }

    /// For mechanisms alone.
    pub(in crate::privacy) fn open(self) -> T {
        self.0
    }
}

/// A value that has paid for its noise: public. Whatever is computed from it is post-processing and free.
///
/// Nothing outside this room can make one:
/// ```compile_fail,E0624
/// use sunprint::privacy::Released;
/// let forged = Released::new(7);
/// ```
///
/// The law of its noise comes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Released<T, L = ()> {
    value: T,
    #[serde(skip)]
    law: L,
}

impl<T, L> Released<T, L> {
    /// For mechanisms alone.
    pub(in crate::privacy) fn new(value: T, law: L) -> Released<T, L> {
        Released { value, law }
    }

    /// The released value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// The law of the noise in it.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The released value, by move.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The released value and the law of its noise.
    pub fn into_parts(self) -> (T, L) {
        (self.value, self.law)
    }

    /// Post-processing. What noise does to the result is for whoever computes it.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Released<U> {
        Released { value: f(self.value), law: () }
    }
}
