use armature_shapes::testing::gadget::MODEL;
use serde_json::json;

use super::*;

fn options() -> CrdOptions {
    CrdOptions {
        conversion: Some(ConversionWebhook {
            endpoint: WebhookEndpoint::Service {
                namespace: "armature".to_owned(),
                name: "webhook".to_owned(),
                path: "/convert".to_owned(),
                port: 443,
            },
            ca_bundle: Some("Q0E=".to_owned()),
        }),
        versions: ServedVersions::default(),
        kept: Default::default(),
        labels: Default::default(),
        operator_version: "1.2.3".to_owned(),
        known_values: false,
    }
}

fn schema(version: &str) -> Value {
    let mut crd = custom_resource_definition(&MODEL, &options());
    let versions = crd["spec"]["versions"].as_array_mut().unwrap();
    let mut found = versions.iter_mut().filter(|known| known["name"] == version);
    found.next().unwrap()["schema"]["openAPIV3Schema"].take()
}

#[test]
fn names_versions_and_webhook() {
    let crd = custom_resource_definition(&MODEL, &options());
    assert_eq!(crd["metadata"]["name"], "gadgets.toys.azure.com");
    assert_eq!(
        crd["metadata"]["labels"]["app.kubernetes.io/version"],
        "1.2.3"
    );
    assert_eq!(
        crd["spec"]["names"],
        json!({
            "categories": ["azure", "toys"], "kind": "Gadget", "listKind": "GadgetList",
            "plural": "gadgets", "singular": "gadget",
        })
    );
    assert_eq!(
        crd["spec"]["conversion"]["webhook"]["clientConfig"],
        json!({
            "service": {"namespace": "armature", "name": "webhook", "path": "/convert", "port": 443},
            "caBundle": "Q0E=",
        })
    );
    let stored: Vec<_> = crd["spec"]["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| {
            (
                version["name"].as_str().unwrap(),
                version["storage"] == true,
            )
        })
        .collect();
    assert_eq!(
        stored,
        [
            ("v1api20200101", false),
            ("v1api20210101", false),
            ("v20210101", false),
            ("v20210101storage", true),
        ]
    );
}

#[test]
fn latest_serves_the_newest_stable_version_and_those_asked_for() {
    let names = |also: &[&str]| {
        let also = also.iter().map(|name| (*name).to_owned()).collect();
        let options = CrdOptions {
            versions: ServedVersions::Latest { also },
            ..CrdOptions::default()
        };
        let crd = custom_resource_definition(&MODEL, &options);
        let versions = crd["spec"]["versions"].as_array().unwrap().clone();
        versions
            .iter()
            .map(|version| version["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["v20210101", "v20210101storage"]);
    assert_eq!(
        names(&["v1api20200101", "v0"]),
        ["v1api20200101", "v20210101", "v20210101storage"]
    );
}

#[test]
fn earlier_storage_versions_stay_without_being_served() {
    let options = CrdOptions {
        kept: ["v1api20200101storage".to_owned()].into(),
        ..options()
    };
    let crd = custom_resource_definition(&MODEL, &options);
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let kept = versions
        .iter()
        .find(|version| version["name"] == "v1api20200101storage");
    let kept = kept.unwrap();
    assert_eq!(
        (&kept["served"], &kept["storage"]),
        (&json!(false), &json!(false))
    );
    let stored = versions.iter().filter(|version| version["storage"] == true);
    assert_eq!(stored.count(), 1);
}

#[test]
fn schemas_say_types_constraints_and_required_fields() {
    let schema = schema("v20210101");
    let spec = &schema["properties"]["spec"];
    assert_eq!(spec["required"], json!(["owner", "location"]));
    let properties = &spec["properties"];
    assert_eq!(
        properties["azureName"],
        json!({"type": "string", "pattern": "^[a-z0-9]+$", "minLength": 3, "maxLength": 24})
    );
    assert_eq!(
        properties["capacity"],
        json!({"type": "integer", "minimum": 0, "maximum": 100})
    );
    assert_eq!(
        properties["accessTier"],
        json!({"type": "string", "enum": ["Hot", "Cool"]})
    );
    assert_eq!(
        properties["tags"],
        json!({"type": "object", "additionalProperties": {"type": "string"}})
    );
    let status = &schema["properties"]["status"]["properties"];
    assert_eq!(status["accessTier"], json!({"type": "string"}));
    assert_eq!(
        status["observedGeneration"],
        json!({"type": "integer", "format": "int64"})
    );
    let condition = &status["conditions"]["items"];
    assert_eq!(
        condition["properties"]["lastTransitionTime"]["format"],
        "date-time"
    );
    assert_eq!(
        condition["required"],
        json!(["lastTransitionTime", "reason", "status", "type"])
    );
}

#[test]
fn descriptions_are_there_where_the_shape_has_them() {
    let item = |version: &str| {
        let mut rules = schema(version)["properties"]["spec"]["properties"]["rules"].take();
        rules["items"].take()
    };
    let old = item("v1api20200101");
    assert_eq!(old["description"], "How traffic flows.");
    assert_eq!(
        old["properties"]["weight"]["description"],
        "Lower comes first."
    );
    assert_eq!(old["properties"]["name"].get("description"), None);
    assert!(!item("v20210101").to_string().contains("description"));
}

#[test]
fn the_storage_version_checks_nothing() {
    let schema = schema("v20210101storage");
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(schema["properties"]["spec"], open);
    let status = &schema["properties"]["status"];
    assert_eq!(status["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(status["properties"]["conditions"]["items"], open);
}

#[test]
fn an_object_without_conditions_says_that_nobody_has_looked() {
    let status = &schema("v20210101storage")["properties"]["status"];
    let unseen = &status["default"]["conditions"];
    assert_eq!(status["properties"]["conditions"]["default"], *unseen);
    assert_eq!(unseen.as_array().map(Vec::len), Some(1));
    assert_eq!(unseen[0]["type"], "Ready");
    assert_eq!(unseen[0]["status"], "Unknown");
    assert_eq!(unseen[0]["reason"], "Pending");
    // The conditions of objects that the operator has written have these members, and the API server checks them so.
    let served = &schema("v20210101")["properties"]["status"]["properties"]["conditions"]["items"];
    for name in served["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        assert!(unseen[0][name].is_string(), "{name}");
    }
}

#[test]
fn rules_stand_where_they_are_affordable() {
    let schema = schema("v20210101");
    let messages = |schema: &Value| -> Vec<String> {
        let rules = schema["x-kubernetes-validations"].as_array();
        let rules = rules.into_iter().flatten();
        rules
            .map(|rule| rule["message"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        messages(&schema),
        [
            "azureName cannot change once the resource exists in Azure",
            "owner cannot change once the resource exists in Azure",
        ]
    );
    let spec = &schema["properties"]["spec"];
    assert_eq!(
        messages(spec),
        ["set at most one of address and addressFromConfig"]
    );
    let properties = &spec["properties"];
    assert_eq!(
        messages(&properties["owner"]),
        ["set exactly one of name and armId"]
    );
    assert_eq!(
        messages(&properties["source"]),
        ["set exactly one of blob, queue"]
    );
    assert_eq!(
        messages(&properties["subnetReference"]),
        ["set either armId, or group, kind and name together"]
    );
    let in_a_list = &properties["rules"]["items"]["properties"]["targetReference"];
    assert!(messages(in_a_list).is_empty());
}
