//! Whose an item of a shared list is, however the spec names its items before and after an edit.

mod echo;

use std::collections::BTreeMap;

use armature_shapes::shape::{Flags, Json, Shaped, StructShape};
use armature_shapes::shaped;

use super::super::super::overlay::Others;
use super::*;

shaped! {
    /// A disk.
    Disk {
        /// Name; Azure gives one where nobody does.
        name: String = "name".at(&["name"]);
        /// Id; Azure makes it of the name.
        id: String = "id".at(&["id"]);
        /// Number.
        lun: i64 = "lun".at(&["lun"]);
        /// Size.
        size: i64 = "size".at(&["properties", "size"]);
        /// How it is cached.
        caching: String = "caching".at(&["properties", "caching"]);
        /// Anything.
        settings: Json = "settings".at(&["properties", "settings"]);
        /// Never shown.
        key: String = "key".at(&["properties", "key"]).flags(Flags::WRITE_ONLY);
    }
}

shaped! {
    /// Where something runs.
    Site {
        /// Owner.
        owner: String = "owner".at(&["owner"]);
    }
}

shaped! {
    /// What a pool sends to; Azure gives it a name.
    Address {
        /// Name.
        name: String = "name".at(&["name"]);
        /// Address.
        ip: String = "ip".at(&["properties", "ip"]);
        /// Where it is.
        network: String = "network".at(&["properties", "network", "id"]).flags(Flags::ARM_ID);
    }
}

shaped! {
    /// A pool.
    Pool {
        /// Name.
        name: String = "name".at(&["name"]);
        /// Where it sends to.
        addresses: Vec<Address> = "addresses".at(&["properties", "addresses"]);
    }
}

shaped! {
    /// A machine.
    Machine {
        /// Tags.
        tags: BTreeMap<String, String> = "tags".at(&["tags"]);
        /// Disks.
        disks: Vec<Disk> = "disks".at(&["properties", "disks"]);
        /// Pools.
        pools: Vec<Pool> = "pools".at(&["properties", "pools"]);
        /// Objects by name.
        sites: BTreeMap<String, Site> = "sites".at(&["properties", "sites"]);
        /// Texts.
        zones: Vec<String> = "zones".at(&["zones"]);
    }
}

const SHAPE: &StructShape = Machine::SHAPE;
const DISKS: &str = "properties.disks";

/// What of a disk a spec names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Name,
    Id,
    Lun,
    NameAndLun,
    /// Numbers, and names of some.
    Half,
    /// What tells nothing apart.
    Nothing,
}

const FORMS: [Form; 6] = [
    Form::Name,
    Form::Id,
    Form::Lun,
    Form::NameAndLun,
    Form::Half,
    Form::Nothing,
];

/// A disk of Azure's as a spec names it.
fn in_form(disk: &Value, form: Form) -> Value {
    let is_named = disk["lun"].as_i64().unwrap() % 2 == 1;
    let named: &[&str] = match form {
        Form::Name => &["name"],
        Form::Id => &["id"],
        Form::Lun => &["lun"],
        Form::Half if is_named => &["name", "lun"],
        Form::Half => &["lun"],
        Form::NameAndLun => &["name", "lun"],
        Form::Nothing => &[],
    };
    let mut item = json!({"properties": {"size": disk["properties"]["size"]}});
    for name in named {
        item[*name] = disk[*name].clone();
    }
    item
}

/// A disk as Azure shows it.
fn disk(name: &str, lun: i64) -> Value {
    json!({"name": name, "id": format!("/disks/{name}"), "lun": lun, "properties": {"size": 10 + lun, "caching": "None"}})
}

fn disks(items: &[Value]) -> Value {
    json!({"properties": {"disks": items}})
}

/// What Azure has after a PUT: the disks that are named, each with all that it has.
fn answer(sent: &Value, there: &[Value]) -> Vec<Value> {
    let sent = sent["properties"]["disks"].as_array().unwrap();
    let disk = |item: &Value| {
        let fits = |known: &&Value| {
            let name = |name: &str| item.get(name).is_none_or(|value| *value == known[name]);
            let size = &item["properties"]["size"];
            name("name") && name("id") && name("lun") && *size == known["properties"]["size"]
        };
        there.iter().find(fits).expect("a disk").clone()
    };
    sent.iter().map(disk).collect()
}

/// A machine and what the operator remembers of it.
struct Story {
    object: Object,
    shared: Vec<String>,
    record: Option<Record>,
    generation: i64,
    /// What was taken out and stays, and what may have been the spec's.
    told: Vec<String>,
    unsure: Vec<String>,
}

impl Story {
    fn of(shared: &[&str]) -> Self {
        Self {
            object: Object::new(),
            shared: shared.iter().map(|path| (*path).to_owned()).collect(),
            record: None,
            generation: 0,
            told: Vec::new(),
            unsure: Vec::new(),
        }
    }

    /// The body of a PUT beside what others have.
    fn body(&self, spec: &Value, azure: &Value) -> Value {
        let (keyed, record) = (self.object.keyed(), self.record.as_ref());
        let others = Others {
            ignored: &[],
            shared: &self.shared,
            is_ours: &|member| record.is_some_and(|it| it.was_ours(member, keyed)),
            filled: &|list, counts| record.map_or(0, |it| it.filled(list, counts, keyed)),
            is_held: &|_, _| false,
        };
        others.body(SHAPE, spec, azure)
    }

    fn comparison<'a>(
        &'a self,
        spec: &'a Value,
        body: &'a Value,
        azure: &'a Value,
    ) -> Comparison<'a> {
        Comparison {
            own: Some(spec),
            shared: &self.shared,
            ..Comparison::new(SHAPE, body, azure)
        }
    }

    fn keep(&mut self, record: &Record) {
        self.record = Some(Record::parse(&record.encode(), self.object.keyed()).unwrap());
    }

    /// An edit that is sent; how it ends is not known.
    fn sends(&mut self, spec: &Value, azure: &Value) -> Value {
        self.generation += 1;
        let body = self.body(spec, azure);
        let now = self.object.now(self.generation, spec, "x");
        let comparison = self.comparison(spec, &body, azure);
        let record = Record::sent(
            &now,
            &comparison,
            self.object.keyed(),
            self.record.as_ref(),
            true,
        );
        self.keep(&record);
        body
    }

    /// Azure shows what it made of it.
    fn reads(&mut self, spec: &Value, azure: &Value) {
        let body = self.body(spec, azure);
        let now = self.object.now(self.generation, spec, "x");
        let comparison = self.comparison(spec, &body, azure);
        let (keyed, before) = (self.object.keyed(), self.record.as_ref());
        let settled = Record::settled(&now, &comparison, keyed, None, before, self.object.at);
        (self.told, self.unsure) = (settled.kept, settled.unsure);
        self.keep(&settled.record);
    }

    /// The record becomes one of an earlier release.
    fn ages(&mut self, spec: &Value, azure: &Value) {
        let comparison = self.comparison(spec, spec, azure);
        let mut record = self.record.clone().unwrap();
        record.paths = record.paths.of_earlier(&comparison, self.object.keyed());
        self.keep(&record);
    }

    /// An edit is sent and read.
    fn edits(&mut self, spec: &Value, azure: &Value) -> Value {
        let body = self.sends(spec, azure);
        self.reads(spec, &body);
        body
    }

    /// What is drift.
    fn drift(&self, spec: &Value, azure: &Value) -> Vec<String> {
        let body = self.body(spec, azure);
        let comparison = self.comparison(spec, &body, azure);
        let record = self.record.as_ref().unwrap();
        let drift = record.drift(&comparison, self.object.keyed(), self.object.at);
        drift.into_iter().map(|it| it.path).collect()
    }
}

fn names(disks: &[Value]) -> Vec<&str> {
    let names = disks.iter().map(|disk| disk["name"].as_str().unwrap());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

/// However the spec names its disks before and after: what it drops goes, what others attached stays, and neither is drift.
#[test]
fn what_is_dropped_from_a_shared_list_goes_however_its_items_are_named() {
    let own = [
        disk("vm_disk1", 0),
        disk("vm_disk2", 1),
        disk("vm_disk3", 2),
    ];
    let others = disk("pvc", 40);
    let all: Vec<Value> = own.iter().cloned().chain([others.clone()]).collect();
    let mut failed = Vec::new();
    for before in FORMS {
        for after in FORMS {
            for left in [3, 2, 1, 0] {
                for is_read in [true, false] {
                    let mut story = Story::of(&[DISKS]);
                    let spec = |count: usize, form: Form| {
                        disks(
                            &own[..count]
                                .iter()
                                .map(|it| in_form(it, form))
                                .collect::<Vec<_>>(),
                        )
                    };
                    let (first, second) = (spec(3, before), spec(left, after));
                    let body = story.sends(&first, &disks(&[]));
                    let mut azure = answer(&body, &all);
                    azure.insert(0, others.clone());
                    if is_read {
                        story.reads(&first, &disks(&azure));
                    }
                    let body = story.sends(&second, &disks(&azure));
                    let azure = answer(&body, &all);
                    story.reads(&second, &disks(&azure));
                    let mut expected = names(&own[..left]);
                    expected.insert(0, "pvc");
                    let drift = story.drift(&second, &disks(&azure));
                    let is_told = !story.told.is_empty() || !story.unsure.is_empty();
                    if names(&azure) != expected || !drift.is_empty() || is_told {
                        let found = (names(&azure), drift, &story.told);
                        failed.push(format!("{before:?} {after:?} {left} {is_read}: {found:?}"));
                    }
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of 288:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// A member of a list that became shared since the record was made is known by its paths.
#[test]
fn what_is_dropped_from_a_list_that_became_shared_goes() {
    let full = json!({
        "tags": {"a": "1", "b": "2"},
        "properties": {
            "disks": [disk("a", 0), disk("b", 1)],
            "sites": {"a": {"owner": "x"}, "b": {"owner": "x"}},
        },
    });
    let without = |spec: &Value, list: &str| {
        let mut spec = spec.clone();
        let value = spec
            .pointer_mut(&format!("/{}", list.replace('.', "/")))
            .unwrap();
        match value {
            Value::Array(items) => items.truncate(1),
            members => drop(members.as_object_mut().unwrap().remove("b")),
        }
        spec
    };
    let theirs = |azure: &Value, list: &str| {
        let mut azure = azure.clone();
        let value = azure
            .pointer_mut(&format!("/{}", list.replace('.', "/")))
            .unwrap();
        match (list, value) {
            (_, Value::Array(items)) => items.push(disk("theirs", 40)),
            ("tags", tags) => tags["theirs"] = json!("1"),
            (_, sites) => sites["theirs"] = json!({"owner": "y"}),
        }
        azure
    };
    let lists = ["tags", DISKS, "properties.sites"];
    for covered in lists {
        for shared in lists.into_iter().filter(|list| *list != covered) {
            // The annotation changes alone first, or together with the spec.
            for (is_noticed, is_of_earlier) in
                [(true, false), (true, true), (false, false), (false, true)]
            {
                let case = format!("{covered}, then {shared} ({is_noticed}, {is_of_earlier})");
                let mut story = Story::of(&[covered]);
                story.sends(&full, &json!({}));
                story.reads(&full, &full);
                if is_of_earlier {
                    story.ages(&full, &full);
                }
                story.shared.push(shared.to_owned());
                let azure = theirs(&full, shared);
                if is_noticed {
                    story.reads(&full, &azure);
                }
                let left = without(&full, shared);
                let body = story.sends(&left, &azure);
                assert_eq!(body, theirs(&left, shared), "{case}");
                // Its failure changes nothing of that.
                assert_eq!(story.sends(&left, &azure), body, "{case}");
                story.reads(&left, &body);
                assert_eq!(story.told, Vec::<String>::new(), "{case}");
                assert_eq!(story.drift(&left, &body), Vec::<String>::new(), "{case}");
                // Somebody makes it again under its name.
                let again = theirs(&full, shared);
                assert_eq!(story.drift(&left, &again), Vec::<String>::new(), "{case}");
            }
        }
    }
}

/// What an earlier release did not note is neither ours nor others': it stays, and is told once.
#[test]
fn what_a_record_does_not_know_stays_and_is_told_once() {
    let (a, b) = (disk("a", 0), disk("b", 1));
    let both = disks(&[a.clone(), b.clone()]);
    let one = disks(std::slice::from_ref(&a));
    // An item of ours has gone, and is made again.
    let mut story = Story::of(&[DISKS]);
    story.edits(&both, &json!({}));
    story.edits(&one, &both);
    assert_eq!(story.drift(&one, &both), Vec::<String>::new(), "others'");
    story.ages(&one, &one);
    assert_eq!(story.drift(&one, &both), Vec::<String>::new(), "not known");
    story.edits(&one, &both);
    assert_eq!(story.unsure, ["properties.disks.b"]);
    // The last one goes, and the list with it.
    let none = json!({"properties": {}});
    for is_shared_still in [true, false] {
        let mut story = Story::of(&[DISKS]);
        story.edits(&both, &json!({}));
        if !is_shared_still {
            // A rule that is about the list finds none.
            story.shared.clear();
        }
        story.edits(&none, &disks(&[]));
        story.shared = vec![DISKS.to_owned()];
        assert_eq!(story.drift(&none, &both), Vec::<String>::new());
        assert_eq!(story.edits(&none, &both), both, "{is_shared_still}");
        assert_eq!(story.unsure.is_empty(), is_shared_still);
    }
    // There is no record, and the spec was edited.
    for is_read_later in [false, true] {
        let mut story = Story::of(&[DISKS]);
        let body = story.sends(&one, &both);
        assert_eq!(body, both);
        if is_read_later {
            assert_eq!(story.sends(&one, &both), both);
        }
        story.reads(&one, &both);
        assert_eq!(story.unsure, ["properties.disks.b"]);
        assert_eq!(story.edits(&one, &both), both);
        assert_eq!(story.unsure, Vec::<String>::new(), "once");
        // What the message says.
        story.edits(&both, &both);
        assert_eq!(story.edits(&one, &both), one);
        assert_eq!(story.told, Vec::<String>::new());
    }
    // There was nothing before.
    let mut story = Story::of(&[DISKS]);
    story.edits(&both, &json!({}));
    story.reads(&both, &disks(&[a.clone(), b.clone(), disk("theirs", 40)]));
    assert_eq!(story.unsure, Vec::<String>::new());
}

/// Of a list that became shared, a record has room for so many paths only.
#[test]
fn what_a_record_had_no_room_for_stays_and_is_told() {
    let all: Vec<Value> = (0..150).map(|at| disk(&format!("d{at}"), at)).collect();
    let azure = disks(&all);
    let mut story = Story::of(&["tags"]);
    story.edits(&azure, &json!({}));
    story.shared.push(DISKS.to_owned());
    let left = disks(&all[1..149]);
    let body = story.edits(&left, &azure);
    let sent = body["properties"]["disks"].as_array().unwrap();
    assert_eq!(sent[..], all[1..], "the first one goes");
    assert_eq!(story.unsure, ["properties.disks.d149"]);
    // Items were named of which no more is known than their places.
    let plain = |size: i64| json!({"properties": {"size": size}});
    let mut story = Story::of(&["tags"]);
    let both = disks(&[plain(1), plain(2)]);
    story.edits(&both, &json!({}));
    story.shared.push(DISKS.to_owned());
    assert_eq!(story.edits(&disks(&[plain(1)]), &both), both);
    assert_eq!(story.unsure, ["properties.disks[1]"]);
}

/// What others attach under the number of a disk that was ours is theirs, where Azure had told its name.
#[test]
fn what_others_put_in_the_place_of_ours_stays() {
    let (ours, theirs) = (disk("vm_disk1", 0), disk("pvc", 0));
    for form in [Form::Name, Form::Lun, Form::NameAndLun, Form::Half] {
        let mut story = Story::of(&[DISKS]);
        let azure = disks(std::slice::from_ref(&ours));
        let spec = disks(&[in_form(&ours, form)]);
        story.sends(&spec, &json!({}));
        story.reads(&spec, &azure);
        let replaced = disks(std::slice::from_ref(&theirs));
        assert_eq!(story.edits(&disks(&[]), &replaced), replaced, "{form:?}");
        assert_eq!(story.told, Vec::<String>::new());
    }
}

/// Members of a pool that others add and Azure names, in a list of pools that the user shares, too.
#[test]
fn items_that_azure_names_are_told_by_what_they_say() {
    let asked = |ip: &str| json!({"properties": {"ip": ip, "network": {"id": "/n/A"}}});
    let shown = |name: &str, ip: &str| json!({"name": name, "properties": {"ip": ip, "network": {"id": "/n/a"}}});
    let pools = |addresses: &[Value]| json!({"properties": {"pools": [{"name": "p", "properties": {"addresses": addresses}}]}});
    const ADDRESSES: &str = "properties.pools.p.properties.addresses";
    let azure = pools(&[shown("theirs", "9"), shown("x1", "1"), shown("x2", "2")]);
    for (shared, is_read) in [
        (&[ADDRESSES][..], true),
        (&[ADDRESSES], false),
        (&["properties.pools", ADDRESSES], true),
    ] {
        let mut story = Story::of(shared);
        let both = pools(&[asked("1"), asked("2")]);
        story.sends(&both, &json!({}));
        if is_read {
            story.reads(&both, &azure);
            assert_eq!(story.drift(&both, &azure), Vec::<String>::new());
        }
        // Nobody touches anything but an address that the spec drops.
        let one = pools(&[asked("2")]);
        let body = story.sends(&one, &azure);
        let expected = pools(&[shown("theirs", "9"), asked("2")]);
        assert_eq!(body, expected, "{shared:?}");
        let left = pools(&[shown("theirs", "9"), shown("x2", "2")]);
        story.reads(&one, &left);
        assert_eq!((&story.told, &story.unsure), (&vec![], &vec![]));
        assert_eq!(story.drift(&one, &left), Vec::<String>::new());
        // Ours is deleted by somebody, and another one comes.
        let other = pools(&[shown("theirs", "9"), shown("new", "7")]);
        assert_ne!(story.drift(&one, &other), Vec::<String>::new());
        let body = story.body(&one, &other);
        let all = pools(&[asked("2"), shown("theirs", "9"), shown("new", "7")]);
        assert_eq!(body, all);
        let body = story.edits(&pools(&[]), &left);
        assert_eq!(body, pools(&[shown("theirs", "9")]));
    }
}

/// What Azure says in words of its own is not taken for others', and what is sent does not grow.
#[test]
fn an_item_that_azure_says_in_other_words_stays_one() {
    let asked = |ip: &str| json!({"properties": {"ip": ip, "network": {"id": "/n/a"}}});
    let shown = |name: &str, ip: &str| json!({"name": name, "properties": {"ip": format!("0{ip}"), "network": {"id": "/n/a"}}});
    let pools = |addresses: &[Value]| json!({"properties": {"pools": [{"name": "p", "properties": {"addresses": addresses}}]}});
    let mut story = Story::of(&["properties.pools.p.properties.addresses"]);
    let both = pools(&[asked("1"), asked("2")]);
    story.sends(&both, &json!({}));
    let azure = pools(&[shown("x1", "1"), shown("x2", "2"), shown("theirs", "9")]);
    story.reads(&both, &azure);
    assert_eq!((&story.told, &story.unsure), (&vec![], &vec![]));
    assert_eq!(story.drift(&both, &azure), Vec::<String>::new());
    let body = story.body(&both, &azure);
    assert_eq!(body, pools(&[asked("1"), asked("2"), shown("theirs", "9")]));
    let one = pools(&[asked("2")]);
    assert_eq!(
        story.sends(&one, &azure),
        pools(&[asked("2"), shown("theirs", "9")])
    );
    let left = pools(&[shown("x2", "2"), shown("theirs", "9")]);
    story.reads(&one, &left);
    assert_eq!((&story.told, &story.unsure), (&vec![], &vec![]));
    assert_eq!(story.drift(&one, &left), Vec::<String>::new());
    assert_eq!(
        story.edits(&pools(&[]), &left),
        pools(&[shown("theirs", "9")])
    );
}

/// At most twelve bytes for each member: of 4000 members 64 KiB.
#[test]
fn a_record_of_many_members_has_bounds() {
    let all: Vec<Value> = (0..1000).map(|at| disk(&format!("d{at}"), at)).collect();
    let azure = disks(&all);
    for (form, most) in [
        (Form::Name, 7),
        (Form::Lun, 12),
        (Form::Half, 12),
        (Form::Nothing, 18),
    ] {
        let spec: Vec<Value> = all.iter().map(|it| in_form(it, form)).collect();
        let spec = disks(&spec);
        let mut story = Story::of(&[DISKS]);
        story.sends(&spec, &json!({}));
        let sent = story.record.as_ref().unwrap().encode().len();
        story.reads(&spec, &azure);
        let read = story.record.as_ref().unwrap().encode().len();
        let longest = sent.max(read);
        assert!(
            longest <= most * 1024,
            "{form:?}: {longest} bytes, {read} when read"
        );
    }
}
