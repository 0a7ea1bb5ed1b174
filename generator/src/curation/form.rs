//! The form of a curation file as data: which keys may stand where, with which values and what they mean. A file is checked
//! against it before it is read ([`super::check`]), so that everything wrong with its form is told at once and with a
//! suggestion; `docs/curation.md` has a row for each key.

use super::key::{Form, Key, key, required};
use super::property::RULE;
use super::words::{
    Encoding, EnvelopeWord, ErrorWord, IdPart, NameWord, Naming, SpecFormat, Treatment,
};

/// Keys of a file.
pub static FILE: [Key; 11] = [
    required(
        "group",
        Form::Text,
        r#"group = "storage""#,
        "short name; the API group is `<group>.azure.com`",
    ),
    required(
        "sources",
        Form::Map(&Form::Table(&SOURCE)),
        "[sources.storage]",
        "where the specs are, see below",
    ),
    required(
        "naming",
        Form::Word(Naming::WORDS),
        r#"naming = "hybrid""#,
        "how versions are named: `legacy` (`v1api20230101`), `new` (`v20230101`) or `hybrid` (both)",
    ),
    key(
        "new-naming-from",
        Form::Text,
        r#"new-naming-from = "2025-06-01""#,
        "first api-version that is named as in new groups, whatever `naming` says",
    ),
    key(
        "explicit-collections",
        Form::Flag,
        "explicit-collections = true",
        "whether absent lists and maps are sent as `null`, for providers that take a missing one as \"keep\"",
    ),
    key(
        "types-by-letter",
        Form::Flag,
        "types-by-letter = true",
        "whether types stand in a file for each first letter, for groups whose types are too many for one file",
    ),
    required(
        "kinds",
        Form::Map(&Form::Table(&KIND)),
        "[kinds.StorageAccount]",
        "exported kinds",
    ),
    key(
        "parts",
        Form::Texts,
        r#"parts = ["Delegation"]"#,
        "definitions that are made on their own elsewhere and yet stay whole inside other resources",
    ),
    key(
        "id-only",
        Form::Texts,
        r#"id-only = ["Subnet"]"#,
        "definitions of which only the id stays inside resources, though they are no resources themselves",
    ),
    key(
        "types",
        Form::Map(&Form::Map(&Form::WordOrTable(Treatment::WORDS, RULE))),
        "[types.VirtualNetworkRule]",
        "rules per type and property",
    ),
    key(
        "errors",
        Form::Tables(&ERROR),
        "[[errors]]",
        "what errors of Azure mean",
    ),
];

static SOURCE: [Key; 6] = [
    required(
        "folder",
        Form::Text,
        r#"folder = "specification/storage/resource-manager/Microsoft.Storage""#,
        "folder of specs, above `stable` and `preview`",
    ),
    key(
        "files",
        Form::Texts,
        r#"files = ["storage.json"]"#,
        "spec files of each api-version that is read from `openapi`, relative to its folder",
    ),
    key(
        "versions",
        Form::Map(&Form::WordOrTexts(SpecFormat::WORDS)),
        r#"versions = { "2023-01-01" = "openapi" }"#,
        "what each api-version is read from: `openapi`, `bicep`, or a list of spec files of its own",
    ),
    key(
        "on-request",
        Form::Map(&Form::WordOrTexts(SpecFormat::WORDS)),
        r#"on-request = { "2026-04-01" = "bicep" }"#,
        "as `versions`, for those that are served only when `crdPattern` names them and are never stored",
    ),
    key(
        "inherit-from",
        Form::Texts,
        r#"inherit-from = ["2023-05-01"]"#,
        "api-versions of the specs that serve no kind and tell what Bicep types leave out",
    ),
    key(
        "retires",
        Form::Map(&Form::Table(&RETIREMENT)),
        r#"retires = { "2021-03-01" = { date = "2026-10-31", page = "https://…" } }"#,
        "api-versions that Azure retires, each with the day and the public page that says so, see below",
    ),
];

static RETIREMENT: [Key; 2] = [
    required(
        "date",
        Form::Text,
        r#"date = "2027-02-27""#,
        "the day from which requests at the api-version may fail",
    ),
    required(
        "page",
        Form::Text,
        r#"page = "https://learn.microsoft.com/azure/key-vault/general/migrate-api-version""#,
        "the public page that has the date",
    ),
];

static ERROR: [Key; 5] = [
    key(
        "kinds",
        Form::Texts,
        r#"kinds = ["PublicIPAddress"]"#,
        "the only kinds that the rule is for; all of the group when absent",
    ),
    required(
        "code",
        Form::Text,
        r#"code = "ReferencedResourceNotProvisioned""#,
        "error code",
    ),
    key(
        "message",
        Form::Text,
        r#"message = "was not found""#,
        "part of the message, in any casing; texts change, so only where the code says too little",
    ),
    required(
        "class",
        Form::Word(ErrorWord::WORDS),
        r#"class = "retry-slow""#,
        "what to do, see below",
    ),
    key(
        "because",
        Form::Text,
        r#"because = "the other resource is being made""#,
        "why, for readers",
    ),
];

static KIND: [Key; 21] = [
    required(
        "type",
        Form::Text,
        r#"type = "Microsoft.Storage/storageAccounts""#,
        "ARM type",
    ),
    key(
        "source",
        Form::Text,
        r#"source = "storage""#,
        "the only source that it is read from; only where several have its type in one api-version",
    ),
    key(
        "versions",
        Form::Texts,
        r#"versions = ["2023-01-01"]"#,
        "api-versions that export the kind; all that have the type when absent; `2023-01-01..` stands for all from that one on",
    ),
    key(
        "naming",
        Form::Word(Naming::WORDS),
        r#"naming = "new""#,
        "how its versions are named, in place of what is said for the group: a kind that came later than others has no names of old",
    ),
    key(
        "plural",
        Form::Text,
        r#"plural = "redis""#,
        "plural in lower case, where it is not that of English grammar",
    ),
    key(
        "azure-name",
        Form::Word(NameWord::WORDS),
        r#"azure-name = "uuid""#,
        "what the resource is called where the user gives no name, see below; as the object when absent",
    ),
    key(
        "azure-name-from-config",
        Form::Flag,
        "azure-name-from-config = true",
        "whether `azureName` may come from a key of a ConfigMap, by `azureNameFromConfig`",
    ),
    key(
        "name-pattern",
        Form::Text,
        r#"name-pattern = "^[a-z][a-z0-9]{5,49}$""#,
        "regular expression of names in Azure, in place of the spec's",
    ),
    key(
        "name-slash",
        Form::Text,
        r#"name-slash = "~""#,
        "what ARM writes where the service's own name has a slash: ARM has no slash in a name",
    ),
    key(
        "envelope",
        Form::Word(EnvelopeWord::WORDS),
        r#"envelope = "keep""#,
        "`keep` leaves the members of `properties` there, in the kind and in all that is in it, whatever the spec says or does not say",
    ),
    key(
        "parts",
        Form::Texts,
        r#"parts = ["Subnet"]"#,
        "definitions that stay whole inside this kind alone, whatever becomes of them in others",
    ),
    key(
        "keep-unknown",
        Form::Texts,
        r#"keep-unknown = ["inboundNatRules"]"#,
        "spec paths of lists and maps whose members may also be kinds of their own: a PUT carries those of Azure that the spec never named",
    ),
    key(
        "azure-owned",
        Form::Texts,
        r#"azure-owned = ["sku.capacity from 1 to properties.most while properties.inflates"]"#,
        "values that Azure moves by itself: paths in ARM's schema, each with whose value counts and while which condition, see below",
    ),
    key(
        "equal",
        Form::Texts,
        r#"equal = ["properties.roleDefinitionId as id-in-any-scope"]"#,
        "values that Azure answers in other words: paths in ARM's schema, each with what is the same there, see below",
    ),
    key(
        "edits",
        Form::Texts,
        r#"edits = ["properties.storage.sizeGB refused unless larger"]"#,
        "which edits Azure refuses, or takes only with a new resource, for `armature plan` alone: paths in ARM's schema, each with what becomes of an edit, see below",
    ),
    key(
        "secrets",
        Form::Map(&Form::Table(&SECRET)),
        r#"subscriptionId = { id = "subscription" }"#,
        "keys of `operatorSpec.secrets`, each with the place of its value",
    ),
    key(
        "secrets-from",
        Form::Text,
        r#"secrets-from = "2023-01-31""#,
        "first api-version that has the secrets",
    ),
    key(
        "secrets-until",
        Form::Text,
        r#"secrets-until = "2023-01-31""#,
        "last api-version that has the secrets",
    ),
    key(
        "config-maps",
        Form::Map(&Form::Text),
        r#"config-maps = { alias = "alias" }"#,
        "keys of `operatorSpec.configMaps`, each with a status path, or `\"\"` for a handwritten exporter",
    ),
    key(
        "config-maps-from",
        Form::Text,
        r#"config-maps-from = "2024-04-13""#,
        "first api-version that has the config maps",
    ),
    key(
        "config-maps-until",
        Form::Text,
        r#"config-maps-until = "2025-08-01""#,
        "last api-version that has the config maps",
    ),
];

static SECRET: [Key; 5] = [
    key(
        "status",
        Form::Text,
        r#"status = "primaryEndpoints.blob""#,
        "status path",
    ),
    key(
        "id",
        Form::Word(IdPart::WORDS),
        r#"id = "subscription""#,
        "part of the ARM id: `subscription`",
    ),
    key(
        "action",
        Form::Text,
        r#"action = "listKeys""#,
        "name of a POST below the resource, or its path there, with `value`",
    ),
    key(
        "value",
        Form::Text,
        r#"value = "keys[keyName=key1].value""#,
        "way to the value in the answer; `[name=text]` picks an item of a list, `[first]` the first one",
    ),
    key(
        "encoding",
        Form::Word(Encoding::WORDS),
        r#"encoding = "base64""#,
        "`base64` where the answer has the value in Base64",
    ),
];
