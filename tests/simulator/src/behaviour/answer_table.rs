//! Types of resources and what they answer, by [`Answers`].
//!
//! Source: recordings `servicebus-v1api20240101`, `appconfiguration-v20220501`, `containerservice-v1api20240901`,
//! `containerregistry-v1api20230701`, `cache-v20250701` and `dbforpostgresql-v1api20221201` where a row says so; all other
//! rows the answers and examples in spec `specification`, in the folder of the type.

use super::answers::Answers;

/// Nothing but the type.
const NOTHING: Answers = Answers {
    arm_type: "",
    filled: &[],
    actions: &[],
    children: &[],
};

/// Keys of a rule of Service Bus, as recordings of `servicebus` have them; Event Hubs and Notification Hubs answer the same.
const RULE_KEYS: &str = r#"{
    "primaryConnectionString": "Endpoint=sb://{root}.servicebus.windows.net/;SharedAccessKeyName={name};SharedAccessKey={key:primary}",
    "secondaryConnectionString": "Endpoint=sb://{root}.servicebus.windows.net/;SharedAccessKeyName={name};SharedAccessKey={key:secondary}",
    "primaryKey": "{key:primary}",
    "secondaryKey": "{key:secondary}",
    "keyName": "{name}"
}"#;

const LIST_RULE_KEYS: &[(&str, &str)] = &[("listKeys", RULE_KEYS)];

/// `serviceBusEndpoint`, as recordings of `servicebus` have it.
const BUS_ENDPOINT: &[(&[&str], &str)] = &[(
    &["properties", "serviceBusEndpoint"],
    "https://{name}.servicebus.windows.net:443/",
)];

const ROOT_RULE: &[(&str, &str)] = &[("authorizationRules", "RootManageSharedAccessKey")];

const PRIMARY_AND_SECONDARY: &str =
    r#"{"primaryKey": "{key:primary}", "secondaryKey": "{key:secondary}"}"#;

/// Members of a database server: one that is there can be used.
const HOST: &[&str] = &["properties", "fullyQualifiedDomainName"];
const STATE: &[&str] = &["properties", "state"];

/// Every row. Where no recording is named, answers are as the spec describes them.
pub(super) const ALL: &[Answers] = &[
    Answers {
        arm_type: "Microsoft.ServiceBus/namespaces",
        filled: BUS_ENDPOINT,
        children: ROOT_RULE,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ServiceBus/namespaces/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ServiceBus/namespaces/topics/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.EventHub/namespaces",
        filled: BUS_ENDPOINT,
        children: ROOT_RULE,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.EventHub/namespaces/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.EventHub/namespaces/eventhubs/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.NotificationHubs/namespaces",
        filled: BUS_ENDPOINT,
        children: ROOT_RULE,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.NotificationHubs/namespaces/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.NotificationHubs/namespaces/notificationHubs",
        children: &[
            ("authorizationRules", "DefaultFullSharedAccessSignature"),
            ("authorizationRules", "DefaultListenSharedAccessSignature"),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.NotificationHubs/namespaces/notificationHubs/authorizationRules",
        actions: LIST_RULE_KEYS,
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.EventGrid/topics",
        filled: &[(
            &["properties", "endpoint"],
            "https://{name}.westeurope-1.eventgrid.azure.net/api/events",
        )],
        actions: &[("listKeys", r#"{"key1": "{key:1}", "key2": "{key:2}"}"#)],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.SignalRService/signalR",
        actions: &[(
            "listKeys",
            r#"{
                "primaryKey": "{key:primary}",
                "secondaryKey": "{key:secondary}",
                "primaryConnectionString": "Endpoint=https://{name}.service.signalr.net;AccessKey={key:primary};Version=1.0;",
                "secondaryConnectionString": "Endpoint=https://{name}.service.signalr.net;AccessKey={key:secondary};Version=1.0;"
            }"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.OperationalInsights/workspaces",
        filled: &[(&["properties", "customerId"], "{guid}")],
        actions: &[(
            "sharedKeys",
            r#"{"primarySharedKey": "{key:primary}", "secondarySharedKey": "{key:secondary}"}"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Devices/IotHubs",
        actions: &[(
            "listkeys",
            r#"{"value": [
                {"keyName": "iothubowner", "primaryKey": "{key:owner1}", "secondaryKey": "{key:owner2}", "rights": "RegistryWrite, ServiceConnect, DeviceConnect"},
                {"keyName": "service", "primaryKey": "{key:service1}", "secondaryKey": "{key:service2}", "rights": "ServiceConnect"},
                {"keyName": "device", "primaryKey": "{key:device1}", "secondaryKey": "{key:device2}", "rights": "DeviceConnect"},
                {"keyName": "registryRead", "primaryKey": "{key:read1}", "secondaryKey": "{key:read2}", "rights": "RegistryRead"},
                {"keyName": "registryReadWrite", "primaryKey": "{key:write1}", "secondaryKey": "{key:write2}", "rights": "RegistryWrite"}
            ]}"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Insights/components",
        filled: &[
            (&["properties", "InstrumentationKey"], "{guid}"),
            (
                &["properties", "ConnectionString"],
                "InstrumentationKey={guid};IngestionEndpoint=https://westeurope-5.in.applicationinsights.azure.com/",
            ),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.MachineLearningServices/workspaces",
        actions: &[(
            "listKeys",
            r#"{
                "userStorageKey": "{key:storage}",
                "appInsightsInstrumentationKey": "{guid}",
                "containerRegistryCredentials": {
                    "username": "{name}",
                    "passwords": [
                        {"name": "password", "value": "{key:password}"},
                        {"name": "password2", "value": "{key:password2}"}
                    ]
                },
                "notebookAccessKeys": {
                    "primaryAccessKey": "{key:notebook1}",
                    "secondaryAccessKey": "{key:notebook2}"
                }
            }"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.MachineLearningServices/registries",
        filled: &[
            (
                &["properties", "discoveryUrl"],
                "https://westeurope.api.azureml.ms/registrymanagement/v1.0/registries/{name}/discovery",
            ),
            (
                &["properties", "mlFlowRegistryUri"],
                "azureml://westeurope.api.azureml.ms/mlflow/v1.0/registries/{name}",
            ),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ApiManagement/service/gateways",
        actions: &[(
            "listKeys",
            r#"{"primary": "{key:primary}", "secondary": "{key:secondary}"}"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ApiManagement/service/subscriptions",
        actions: &[("listSecrets", PRIMARY_AND_SECONDARY)],
        ..NOTHING
    },
    // As recordings of `appconfiguration` of 2022-05-01 have them.
    Answers {
        arm_type: "Microsoft.AppConfiguration/configurationStores",
        filled: &[(&["properties", "endpoint"], "https://{name}.azconfig.io")],
        actions: &[(
            "listKeys",
            r#"{"value": [
                {"id": "pri1", "name": "Primary", "value": "{key:1}", "connectionString": "Endpoint=https://{name}.azconfig.io;Id=pri1;Secret={key:1}", "readOnly": false},
                {"id": "sec1", "name": "Secondary", "value": "{key:2}", "connectionString": "Endpoint=https://{name}.azconfig.io;Id=sec1;Secret={key:2}", "readOnly": false},
                {"id": "pri2", "name": "Primary Read Only", "value": "{key:3}", "connectionString": "Endpoint=https://{name}.azconfig.io;Id=pri2;Secret={key:3}", "readOnly": true},
                {"id": "sec2", "name": "Secondary Read Only", "value": "{key:4}", "connectionString": "Endpoint=https://{name}.azconfig.io;Id=sec2;Secret={key:4}", "readOnly": true}
            ], "nextLink": null}"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Communication/communicationServices",
        filled: &[(
            &["properties", "hostName"],
            "{name}.europe.communication.azure.com",
        )],
        actions: &[(
            "listKeys",
            r#"{
                "primaryKey": "{key:primary}",
                "secondaryKey": "{key:secondary}",
                "primaryConnectionString": "endpoint=https://{name}.europe.communication.azure.com/;accesskey={key:primary}",
                "secondaryConnectionString": "endpoint=https://{name}.europe.communication.azure.com/;accesskey={key:secondary}"
            }"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.CognitiveServices/accounts",
        filled: &[(
            &["properties", "endpoint"],
            "https://{location}.api.cognitive.microsoft.com/",
        )],
        actions: &[("listKeys", r#"{"key1": "{key:1}", "key2": "{key:2}"}"#)],
        ..NOTHING
    },
    // As recordings of `containerservice` have them, and those of `containerregistry` and of `cache` of 2025-07-01 below.
    Answers {
        arm_type: "Microsoft.ContainerService/fleets",
        filled: &[(
            &["properties", "hubProfile", "fqdn"],
            "{host}.hcp.{location}.azmk8s.io",
        )],
        actions: &[(
            "listCredentials",
            r#"{"kubeconfigs": [{"value": "{kubeconfig:user}"}]}"#,
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ContainerService/managedClusters",
        filled: &[
            (&["properties", "fqdn"], "{host}.hcp.{location}.azmk8s.io"),
            (
                &["properties", "nodeResourceGroup"],
                "MC_{group}_{name}_{location}",
            ),
        ],
        actions: &[
            (
                "listClusterAdminCredential",
                r#"{"kubeconfigs": [{"value": "{kubeconfig:admin}"}]}"#,
            ),
            (
                "listClusterUserCredential",
                r#"{"kubeconfigs": [{"value": "{kubeconfig:user}"}]}"#,
            ),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.ContainerRegistry/registries",
        filled: &[(&["properties", "loginServer"], "{host}.azurecr.io")],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Cache/redis",
        filled: &[(
            &["properties", "hostName"],
            "{host}.redis.cache.windows.net",
        )],
        actions: &[("listKeys", PRIMARY_AND_SECONDARY)],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Cache/redisEnterprise",
        filled: &[(
            &["properties", "hostName"],
            "{host}.{location}.redis.azure.net",
        )],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Cache/redisEnterprise/databases",
        actions: &[("listKeys", PRIMARY_AND_SECONDARY)],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.DocumentDB/mongoClusters",
        filled: &[(
            &["properties", "connectionString"],
            "mongodb+srv://<user>:<password>@{host}.mongocluster.cosmos.azure.com/?tls=true&authMechanism=SCRAM-SHA-256&retrywrites=false&maxIdleTimeMS=120000",
        )],
        ..NOTHING
    },
    // As recordings of `dbforpostgresql` have them, and the other servers from the examples of their specs.
    Answers {
        arm_type: "Microsoft.DBforPostgreSQL/flexibleServers",
        filled: &[
            (HOST, "{host}.postgres.database.azure.com"),
            (STATE, "Ready"),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.DBforMySQL/flexibleServers",
        filled: &[(HOST, "{host}.mysql.database.azure.com"), (STATE, "Ready")],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.DBforMariaDB/servers",
        filled: &[
            (HOST, "{host}.mariadb.database.azure.com"),
            (&["properties", "userVisibleState"], "Ready"),
        ],
        ..NOTHING
    },
    Answers {
        arm_type: "Microsoft.Sql/servers",
        filled: &[(HOST, "{host}.database.windows.net"), (STATE, "Ready")],
        ..NOTHING
    },
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use armature_generated::KINDS;
    use armature_runtime::kind::SecretSource;
    use armature_runtime::reconcile::secret_source::values;
    use serde_json::{Value, json};

    use super::super::answers::with_values;
    use super::ALL;
    use crate::id::ResourceId;

    #[test]
    fn every_answer_is_json_and_has_what_the_operator_reads() {
        let id = ResourceId::parse("/subscriptions/s/resourceGroups/g/providers/A.B/c/d").unwrap();
        let body = json!({"location": "westeurope"});
        for answers in ALL {
            for (action, answer) in answers.actions {
                let at = format!("{} {action}", answers.arm_type);
                let answer = with_values(answer, &id, &body);
                let answer: Value = serde_json::from_str(&answer).expect(&at);
                let answered = BTreeMap::from([(*action, answer)]);
                let of_type = |it: &&&_| is_of_type(it, answers.arm_type);
                for info in KINDS.iter().filter(of_type) {
                    let is_listed = |source: SecretSource| matches!(source, SecretSource::Action { action: one, .. } if one == *action);
                    let wanted = info.secrets.iter().filter(|row| is_listed(row.source));
                    let wanted: BTreeSet<String> = wanted.map(|row| row.key.to_owned()).collect();
                    let found = values(info, &wanted, &Value::Null, None, &answered).0;
                    assert!(found.keys().eq(&wanted), "{at}: {:?}", found.keys());
                }
            }
        }
    }

    #[test]
    fn every_type_and_every_action_of_it_stands_once() {
        let mut seen = BTreeSet::new();
        for answers in ALL {
            assert!(seen.insert(answers.arm_type), "{}", answers.arm_type);
            let actions: BTreeSet<_> = answers.actions.iter().map(|row| row.0).collect();
            assert_eq!(actions.len(), answers.actions.len(), "{}", answers.arm_type);
        }
    }

    fn is_of_type(info: &armature_runtime::kind::KindInfo, arm_type: &str) -> bool {
        info.remote_type().eq_ignore_ascii_case(arm_type)
    }
}
