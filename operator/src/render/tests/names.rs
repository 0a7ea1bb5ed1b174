//! The name in Azure that a ConfigMap has, by a kind for tests: no other has one yet.

use armature_runtime::testing::kinds::NAMED;

use super::*;

/// No mark can stand for a name: the URL would be that of nothing.
#[test]
fn a_config_map_has_the_name_in_azure() {
    let named = "
apiVersion: toys.azure.com/v20200101
kind: Named
metadata: {name: not-a-name, namespace: team}
spec: {azureNameFromConfig: {name: names, key: named}}
";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: names, namespace: team}, data: {named: found}}";
    let rendered = |files: &[&str]| rendered_in(files, &[&NAMED], SUBSCRIPTION);
    let (requests, errors) = rendered(&[named, map]);
    assert_eq!(errors, Vec::<String>::new());
    let url = format!(
        "/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Toys/named/found?api-version=2020-01-01"
    );
    assert_eq!(requests[0]["url"], Value::from(url));
    assert_eq!(requests[0]["body"], json!({"name": "found"}));

    let at = "1.yaml: document 1: Named team/not-a-name: spec.azureNameFromConfig: the ConfigMap";
    for (files, expected) in [
        (
            vec![named],
            "team/names does not exist; add its manifest".to_owned(),
        ),
        (
            vec![named, &*map.replace("named:", "other:")],
            "names has no key named".to_owned(),
        ),
    ] {
        let (requests, errors) = rendered(&files);
        assert_eq!(requests, Vec::<Value>::new());
        assert_eq!(errors, [format!("{at} {expected}")]);
    }
}
