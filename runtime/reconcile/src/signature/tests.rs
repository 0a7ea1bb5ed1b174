//! What a signature covers, and which notes are believed.

use armature_shapes::resource::Kind;
use armature_shapes::testing::kinds::STORE;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use proptest::prelude::*;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn key(byte: u8) -> DigestKey {
    DigestKey::from_bytes(&[byte; DigestKey::LENGTH]).unwrap()
}

fn keys() -> NoteKeys {
    NoteKeys::new(key(1), None, Some(at(100)))
}

fn notes() -> BTreeMap<String, String> {
    let texts = SIGNED
        .iter()
        .map(|name| ((*name).to_owned(), "text".to_owned()));
    texts.collect()
}

/// Annotations with the signature of their state, made with these keys.
fn signed(
    keys: &NoteKeys,
    uid: &str,
    mut notes: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let signature = keys.sign(uid, &notes).unwrap();
    notes.insert(SIGNATURE.to_owned(), signature);
    notes
}

fn object(annotations: BTreeMap<String, String>, created: i64) -> Object {
    Object {
        kind: Kind(&STORE),
        metadata: ObjectMeta {
            uid: Some("uid".to_owned()),
            annotations: Some(annotations),
            finalizers: Some(vec![names::FINALIZER.to_owned()]),
            creation_timestamp: Some(Time(at(created))),
            ..ObjectMeta::default()
        },
        spec: None,
        status: None,
    }
}

#[test]
fn a_change_of_any_note_does_not_fit() {
    let keys = keys();
    let whole = signed(&keys, "uid", notes());
    assert_eq!(keys.verify("uid", &whole), Verdict::Fits(0));
    assert_eq!(keys.verify("uid2", &whole), Verdict::Other);
    assert_eq!(keys.verify("uid", &notes()), Verdict::Missing);
    for name in SIGNED {
        for text in [None, Some(""), Some("text2"), Some("Text")] {
            let mut changed = whole.clone();
            match text {
                Some(text) => changed.insert(name.to_owned(), text.to_owned()),
                None => changed.remove(name),
            };
            assert_eq!(
                keys.verify("uid", &changed),
                Verdict::Other,
                "{name} {text:?}"
            );
            // An addition is one as well.
            let fewer = signed(&keys, "uid", {
                let mut fewer = notes();
                fewer.remove(name);
                fewer
            });
            let mut added = fewer.clone();
            added.insert(name.to_owned(), text.unwrap_or("text").to_owned());
            assert_eq!(keys.verify("uid", &fewer), Verdict::Fits(0), "{name}");
            assert_eq!(keys.verify("uid", &added), Verdict::Other, "{name}");
        }
    }
    let mut other = whole;
    other.insert("somebody/else".to_owned(), "x".to_owned());
    other.insert(names::OPERATOR_NAMESPACE.to_owned(), "x".to_owned());
    assert_eq!(
        keys.verify("uid", &other),
        Verdict::Fits(0),
        "what is not signed"
    );
}

#[test]
fn a_signature_in_another_form_does_not_fit() {
    let keys = keys();
    let good = signed(&keys, "uid", notes())[SIGNATURE].clone();
    for text in [
        "",
        "v1.",
        "v1.AAAA",
        "v2.",
        &good[3..],
        &good[..good.len() - 1],
        &format!("{good}A"),
        "v1.%%",
    ] {
        let mut changed = notes();
        changed.insert(SIGNATURE.to_owned(), text.to_owned());
        assert_eq!(keys.verify("uid", &changed), Verdict::Other, "{text:?}");
    }
}

#[test]
fn both_keys_of_the_ring_fit_and_the_first_one_signs() {
    let old = keys();
    let ring = NoteKeys::new(key(2), Some(key(1)), None);
    let of_old = signed(&old, "uid", notes());
    assert_eq!(ring.verify("uid", &of_old), Verdict::Fits(1));
    let of_ring = signed(&ring, "uid", notes());
    assert_eq!(ring.verify("uid", &of_ring), Verdict::Fits(0));
    assert_eq!(old.verify("uid", &of_ring), Verdict::Other);
    assert_eq!(NoteKeys::default().sign("uid", &notes()), None);
}

/// After a rotation objects that are signed by the key before are signed, and others need a signature as before.
#[test]
fn a_rotation_asks_for_no_other_all_signed_since() {
    let old = NoteKeys::new(key(1), None, Some(at(100))).demanding_all();
    let ring = NoteKeys::new(key(2), Some(key(1)), Some(at(100))).demanding_all();
    for (annotations, expected) in [
        (signed(&old, "uid", notes()), Belief::Signed),
        (signed(&ring, "uid", notes()), Belief::Signed),
        (notes(), Belief::Foreign),
    ] {
        assert_eq!(ring.belief(&object(annotations, 50)), expected);
    }
}

/// What earlier builds have signed fits: a note that is signed more, or less, would have all objects taken over at the upgrade.
#[test]
fn what_is_signed_stays_what_it_is() {
    let signature = keys().sign("uid", &notes()).unwrap();
    assert_eq!(signature, "v1.yYkn94vOr4mOKuMybpvsTkSQ_hcqBrpL8MyEoRIYOGY");
}

/// A digest that is kept in an object is public, and a tenant can have some of texts of his choice.
#[test]
fn a_digest_is_no_signature() {
    let begin_of_digest = 1u64.to_be_bytes();
    assert!(!PURPOSE.starts_with(&begin_of_digest[..1]));
}

#[test]
fn an_object_is_believed_by_its_signature_or_its_age() {
    let (ours, lost) = (keys(), NoteKeys::new(key(9), None, Some(at(100))));
    let fits = signed(&ours, "uid", notes());
    let other = signed(&lost, "uid", notes());
    let none = notes();
    let all = ours.clone().demanding_all();
    let unknown = NoteKeys::new(key(1), None, None);
    let no_keys = NoteKeys::default();
    use Belief::{Foreign, Signed, Unsigned};
    for (case, keys, annotations, created, belief, counts) in [
        ("signed, young", &ours, &fits, 101, Signed, true),
        ("signed, old", &ours, &fits, 100, Signed, true),
        ("none, old", &ours, &none, 100, Unsigned, true),
        ("none, young", &ours, &none, 101, Foreign, false),
        ("another key, old", &ours, &other, 100, Unsigned, true),
        ("another key, young", &ours, &other, 101, Foreign, false),
        ("all are signed: signed", &all, &fits, 50, Signed, true),
        ("all are signed: none", &all, &none, 50, Foreign, false),
        (
            "all are signed: another key",
            &all,
            &other,
            50,
            Foreign,
            false,
        ),
        ("time not known: none", &unknown, &none, 999, Unsigned, true),
        (
            "time not known: another key",
            &unknown,
            &other,
            999,
            Unsigned,
            true,
        ),
        ("no keys", &no_keys, &other, 999, Unsigned, true),
    ] {
        let found = object(annotations.clone(), created);
        assert_eq!(keys.belief(&found), belief, "{case}");
        assert_eq!(keys.count(&found), counts, "{case}");
    }
    let mut unclaimed = object(other, 101);
    unclaimed.metadata.finalizers = None;
    assert_eq!(
        ours.belief(&unclaimed),
        Unsigned,
        "the claim makes all anew"
    );
}

#[test]
fn notes_of_another_operator_alone_are_a_takeover_as_ever() {
    let of = |name: &str| object([(name.to_owned(), "x".to_owned())].into(), 0);
    for name in [
        names::RESOURCE_ID,
        names::POLLER_RESUME_ID,
        names::LATEST_RECONCILED_GENERATION,
    ] {
        assert!(!has_own_notes(&of(name)), "{name}");
    }
    for name in OWN {
        assert!(has_own_notes(&of(name)), "{name}");
    }
}

proptest! {
    /// Texts that run into each other's places, and notes that change places.
    #[test]
    fn other_notes_have_another_signature(
        one in proptest::collection::btree_map(0..SIGNED.len(), "[a-c=-]{0,4}", 0..5),
        two in proptest::collection::btree_map(0..SIGNED.len(), "[a-c=-]{0,4}", 0..5),
        uids in ("[a-c=-]{0,3}", "[a-c=-]{0,3}"),
    ) {
        let texts = |entries: &BTreeMap<usize, String>| -> BTreeMap<String, String> {
            entries.iter().map(|(at, text)| (SIGNED[*at].to_owned(), text.clone())).collect()
        };
        let keys = keys();
        let signature = |uid: &str, entries| keys.sign(uid, &texts(entries));
        let is_same = one == two && uids.0 == uids.1;
        prop_assert_eq!(signature(&uids.0, &one) == signature(&uids.1, &two), is_same);
    }
}
