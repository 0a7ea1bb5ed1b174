//! Values that changed places.

use super::*;

shaped! {
    /// A region of an account.
    Region {
        /// Which.
        location_name: String = "locationName".at(&["locationName"]);
        /// Its place after a failover.
        priority: i64 = "failoverPriority".at(&["failoverPriority"]);
    }
}

shaped! {
    /// An account in several regions.
    Account {
        /// Where.
        locations: Vec<Region> = "locations".at(&["properties", "locations"]);
    }
}

#[test]
fn a_place_that_the_spec_does_not_name_takes_part_in_an_exchange() {
    let mut story = Story::of(&["properties.zone exchanged with properties.ha.standby"]);
    let spec = json!({"properties": {"zone": "1"}});
    let azure = json!({"properties": {"zone": "2", "ha": {"standby": "1"}}});
    let sent = story.pass(&spec, &azure, Scaled::Unasked);
    assert_eq!(sent, json!({"properties": {"zone": "2"}}));
}

/// Regions of an account are counterparts by their names, in whatever words and order.
#[test]
fn priorities_of_regions_are_azures_after_a_failover() {
    let rules = rules(&["properties.locations[].failoverPriority exchanged"]);
    let body = |regions: &[(&str, i64)]| {
        let regions = regions.iter();
        let regions: Vec<Value> = regions
            .map(|(name, priority)| json!({"locationName": name, "failoverPriority": priority}))
            .collect();
        json!({"properties": {"locations": regions}})
    };
    let spec = [("westeurope", 0), ("northeurope", 1)];
    let failed_over = [("westeurope", 1), ("northeurope", 0)];
    let table = [
        // Azure's, and what is sent.
        ([("North Europe", 1), ("West Europe", 0)], spec),
        ([("North Europe", 0), ("West Europe", 1)], failed_over),
        ([("West Europe", 1), ("North Europe", 0)], failed_over),
        // A third value, and another region.
        ([("West Europe", 2), ("North Europe", 0)], spec),
        ([("West Europe", 1), ("East US", 0)], spec),
    ];
    for (azure, sent) in table {
        let (desired, observed) = (body(&spec), body(&azure));
        let observed = (Some(&observed), Scaled::Unasked);
        let same = |_: &Mark| SAME;
        let owned = Owned::of(Account::SHAPE, &rules, &desired, observed, &same);
        assert_eq!(owned.desired, body(&sent), "{azure:?}");
        let moved = owned.moved.iter().map(|moved| moved.path.as_str());
        let expected = match sent == failed_over {
            true => vec![
                "properties.locations.westeurope.failoverPriority",
                "properties.locations.northeurope.failoverPriority",
            ],
            false => vec![],
        };
        let mut moved: Vec<&str> = moved.collect();
        moved.retain(|_| owned.moved.iter().any(|it| it.differs));
        assert_eq!(moved, expected, "{azure:?}");
    }
    // An edit of the order is sent.
    let mut story = Story { rules, marks: None };
    let mut sent = |spec: &Value, azure: &Value| {
        let known = story.marks.take();
        let memory = |mark: &Mark| match &known {
            None => Remembered::Nothing,
            Some(marks) if marks.contains(mark) => SAME,
            Some(_) => Remembered::Other,
        };
        let observed = (Some(azure), Scaled::Unasked);
        let owned = Owned::of(Account::SHAPE, &story.rules, spec, observed, &memory);
        story.marks = Some(owned.marks);
        owned.desired
    };
    let (before, after) = (body(&spec), body(&failed_over));
    assert_eq!(sent(&before, &before), before);
    assert_eq!(sent(&before, &after), after);
    assert_eq!(sent(&after, &before), after, "edited");
}
