//! What files of values mean, as people have them for Azure Service Operator and for us: the table of `files.rs`.

/// What a release does of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Both,
    /// It manages objects.
    Watchers,
    /// It keeps CRDs and converts.
    Webhooks,
}

/// What a file means.
pub struct Meaning {
    /// Its name in `values/`; that of Azure Service Operator's own is [`THEIRS`].
    pub file: &'static str,
    /// Settings that the Deployment has, of those that a Secret may hold, and what CRDs are installed: these and no others.
    pub settings: &'static [(&'static str, &'static str)],
    pub image: &'static str,
    /// Keys of the Secret that the chart makes, if it makes one.
    pub secret: Option<&'static [&'static str]>,
    /// The half of an operator whose rights, policies and Services there are.
    pub half: Half,
    /// The namespaces where it has rights on objects; everywhere when empty.
    pub namespaces: &'static [&'static str],
    /// Where metrics are served, and with `https` if readers prove themselves.
    pub metrics: &'static str,
    /// What pods may reach; anything when empty.
    pub egress: &'static [&'static str],
    /// Further places: kind, pointer, and the JSON that is there.
    pub more: &'static [(&'static str, &'static str, &'static str)],
    /// How the lines of the notes begin.
    pub notes: &'static [&'static str],
}

pub const THEIRS: &str = "values-v2.20.yaml";

const OURS: &str = concat!("ghcr.io/armature/armature:", env!("CARGO_PKG_VERSION"));

const ANYWHERE: &[&str] = &[
    "53/UDP 53 5353/UDP 5353",
    "443",
    "6443",
    "1433",
    "3306",
    "5432",
    "80 to 169.254.169.254/32",
];

const IDENTITY: &[&str] = &[
    "AZURE_CLIENT_ID",
    "AZURE_SUBSCRIPTION_ID",
    "AZURE_TENANT_ID",
];

const OF_GROUPS: (&str, &str) = ("CRD_PATTERN", "resources.azure.com/*");

/// A release of which nothing is said.
const PLAIN: Meaning = Meaning {
    file: "",
    settings: &[],
    image: OURS,
    secret: Some(&[]),
    half: Half::Both,
    namespaces: &[],
    metrics: "0.0.0.0:8443 https",
    egress: ANYWHERE,
    more: &[],
    notes: &[],
};

pub const MEANINGS: [Meaning; 23] = [
    Meaning {
        file: THEIRS,
        settings: &[
            ("ALLOW_MULTI_ENV_MANAGEMENT", "false"),
            ("MAX_CONCURRENT_RECONCILES", "4"),
        ],
        egress: &[
            "53/UDP 53 5353/UDP 5353",
            "443",
            "6443 to 0.0.0.0/0",
            "1433 to 0.0.0.0/0",
            "3306 to 0.0.0.0/0",
            "5432 to 0.0.0.0/0",
            "80 to 169.254.169.254/32",
        ],
        more: &[
            ("PodDisruptionBudget", "/spec/minAvailable", "\"50%\""),
            ("PodDisruptionBudget", "/spec/maxUnavailable", "null"),
            ("Deployment", "/spec/revisionHistoryLimit", "10"),
            ("Deployment", "/spec/replicas", "2"),
            (
                "Deployment",
                "/spec/template/spec/serviceAccountName",
                "\"azureserviceoperator-default\"",
            ),
        ],
        notes: &[
            "image: mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0 is Azure Service Operator's",
            "metrics.secure is metrics.authentication: https",
            "podDisruptionBudget.minAvailable comes before maxUnavailable",
            "webhook.certDir has no meaning",
            "go.memLimit has no meaning",
        ],
        ..PLAIN
    },
    Meaning {
        file: "blanks.yaml",
        ..PLAIN
    },
    Meaning {
        file: "service-principal.yaml",
        settings: &[(
            "CRD_PATTERN",
            "resources.azure.com/*;containerservice.azure.com/*;keyvault.azure.com/*",
        )],
        secret: Some(&[
            "AZURE_CLIENT_ID",
            "AZURE_CLIENT_SECRET",
            "AZURE_SUBSCRIPTION_ID",
            "AZURE_TENANT_ID",
        ]),
        ..PLAIN
    },
    Meaning {
        file: "workload-identity.yaml",
        settings: &[
            ("CRD_PATTERN", "resources.azure.com/*;storage.azure.com/*"),
            ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
        ],
        secret: Some(IDENTITY),
        more: &[
            (
                "ServiceAccount",
                "/metadata/name",
                "\"azureserviceoperator-default\"",
            ),
            (
                "ServiceAccount",
                "/metadata/annotations/azure.workload.identity~1client-id",
                "\"00000000-0000-0000-0000-00000000000a\"",
            ),
            (
                "Deployment",
                "/spec/template/metadata/labels/azure.workload.identity~1use",
                "\"true\"",
            ),
            (
                "Deployment",
                "/spec/template/metadata/labels/team",
                "\"platform\"",
            ),
        ],
        ..PLAIN
    },
    Meaning {
        file: "namespaced-credentials.yaml",
        settings: &[
            (
                "CRD_PATTERN",
                "resources.azure.com/*;dbforpostgresql.azure.com/*;managedidentity.azure.com/*",
            ),
            (
                "--crd-labels",
                "cluster.x-k8s.io/provider=infrastructure-azure,environment=production",
            ),
        ],
        ..PLAIN
    },
    Meaning {
        file: "own-secret.yaml",
        settings: &[("CRD_PATTERN", "*")],
        secret: None,
        notes: &["Secret aso-controller-settings is not there yet"],
        ..PLAIN
    },
    Meaning {
        file: "tenants-webhooks.yaml",
        settings: &[OF_GROUPS, ("AZURE_OPERATOR_MODE", "webhooks")],
        secret: None,
        half: Half::Webhooks,
        notes: &[
            "Secret aso-controller-settings is not there yet",
            "multitenant.enable has no meaning here: azureOperatorMode (webhooks)",
        ],
        ..PLAIN
    },
    Meaning {
        file: "tenants-watchers.yaml",
        settings: &[
            ("AZURE_OPERATOR_MODE", "watchers"),
            ("AZURE_TARGET_NAMESPACES", "web,web-test"),
        ],
        secret: Some(&[
            "AZURE_CLIENT_CERTIFICATE",
            "AZURE_CLIENT_ID",
            "AZURE_SUBSCRIPTION_ID",
            "AZURE_TENANT_ID",
        ]),
        half: Half::Watchers,
        namespaces: &["web", "web-test"],
        more: &[(
            "Deployment",
            "/spec/template/spec/serviceAccountName",
            "\"web-operator\"",
        )],
        notes: &["multitenant.enable has no meaning here: azureOperatorMode (watchers)"],
        ..PLAIN
    },
    Meaning {
        file: "flux-texts.yaml",
        settings: &[
            OF_GROUPS,
            ("ALLOW_MULTI_ENV_MANAGEMENT", "false"),
            ("AZURE_OPERATOR_MODE", "watchers-and-webhooks"),
            ("AZURE_TARGET_NAMESPACES", "web,api"),
            ("MAX_CONCURRENT_RECONCILES", "8"),
        ],
        secret: Some(&["AZURE_SUBSCRIPTION_ID"]),
        namespaces: &["web", "api"],
        metrics: "0.0.0.0:9090 https",
        egress: &[
            "53/UDP 53 5353/UDP 5353",
            "443",
            "443",
            "1433",
            "3306",
            "5432",
            "80 to 169.254.169.254/32",
        ],
        more: &[
            ("Deployment", "/spec/replicas", "3"),
            ("PodDisruptionBudget", "/spec/minAvailable", "\"50%\""),
        ],
        notes: &[
            "metrics.secure is metrics.authentication: https",
            "podDisruptionBudget.minAvailable",
        ],
        ..PLAIN
    },
    Meaning {
        file: "mirror-of-theirs.yaml",
        settings: &[OF_GROUPS],
        more: &[(
            "Deployment",
            "/spec/template/spec/imagePullSecrets",
            "[{\"name\":\"registry\"}]",
        )],
        notes: &[
            "image: registry.example.com/mirror/azureserviceoperator:v2.14.0 is Azure Service Operator's",
        ],
        ..PLAIN
    },
    Meaning {
        file: "mirror-by-base.yaml",
        notes: &[
            "image: registry.example.com/mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0 is",
        ],
        ..PLAIN
    },
    Meaning {
        file: "image-of-earlier-charts.yaml",
        notes: &["image: mcr.microsoft.com/k8s/azureserviceoperator:v2.6.0 is"],
        ..PLAIN
    },
    Meaning {
        file: "mirror-of-another-name.yaml",
        notes: &["image: registry.example.com/platform/aso:v2.18.1 is"],
        ..PLAIN
    },
    Meaning {
        file: "mirror-of-ours.yaml",
        image: "registry.example.com/platform/armature:0.1.0-hardened",
        more: &[(
            "Deployment",
            "/spec/template/spec/imagePullSecrets",
            "[{\"name\":\"registry\"}]",
        )],
        ..PLAIN
    },
    Meaning {
        file: "digest-of-ours.yaml",
        image: "registry.example.com/platform/armature@sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
        ..PLAIN
    },
    Meaning {
        file: "government.yaml",
        settings: &[
            ("ALLOW_MULTI_ENV_MANAGEMENT", "true"),
            ("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.us"),
            (
                "AZURE_RESOURCE_MANAGER_AUDIENCE",
                "https://management.usgovcloudapi.net",
            ),
            (
                "AZURE_RESOURCE_MANAGER_ENDPOINT",
                "https://management.usgovcloudapi.net",
            ),
            ("AZURE_USER_AGENT_SUFFIX", "contoso"),
        ],
        secret: Some(&["AZURE_ADDITIONAL_TENANTS", "AZURE_SUBSCRIPTION_ID"]),
        ..PLAIN
    },
    Meaning {
        file: "closed-network.yaml",
        settings: &[("TLS_MIN_VERSION", "1.3")],
        egress: &[
            "53/UDP 53 5353/UDP 5353",
            "443",
            "443 to 10.0.0.1/32",
            "1433 to 10.3.0.0/16",
            "3306 to 10.1.0.0/16",
            "5432 to 10.2.0.0/16",
            "3128 to 10.9.9.9/32",
            "4318",
        ],
        ..PLAIN
    },
    Meaning {
        file: "proxy-from-secret.yaml",
        egress: &[
            "53/UDP 53 5353/UDP 5353",
            "443",
            "6443",
            "1433",
            "3306",
            "5432",
            "80 to 169.254.169.254/32",
            "3128",
        ],
        notes: &["networkPolicies: what https_proxy in extraEnv names is not known here"],
        ..PLAIN
    },
    Meaning {
        file: "plain-metrics.yaml",
        metrics: "0.0.0.0:8080",
        notes: &["metrics.secure is metrics.authentication: plain HTTP"],
        ..PLAIN
    },
    Meaning {
        file: "no-metrics.yaml",
        metrics: "0",
        egress: &[],
        ..PLAIN
    },
    Meaning {
        file: "limits.yaml",
        settings: &[
            ("AZURE_SYNC_PERIOD", "never"),
            ("AZURE_TARGET_NAMESPACES", "web"),
            ("DEFAULT_RECONCILE_POLICY", "detach-on-delete"),
            ("MAX_CONCURRENT_RECONCILES", "1"),
        ],
        namespaces: &["web"],
        more: &[("Deployment", LIMIT, "\"1Gi\"")],
        notes: &["go.memLimit has no meaning", "rateLimit has no meaning"],
        ..PLAIN
    },
    Meaning {
        file: "pod-identity.yaml",
        secret: Some(IDENTITY),
        more: &[(
            "Deployment",
            "/spec/template/metadata/labels/aadpodidbinding",
            "\"aso-manager-binding\"",
        )],
        notes: &["aadPodIdentity makes nothing, since the cluster has no aad-pod-identity"],
        ..PLAIN
    },
    Meaning {
        file: "scheduling.yaml",
        settings: &[
            ("DEFAULT_RECONCILE_POLICY", "skip"),
            ("TLS_MIN_VERSION", "VersionTLS12"),
        ],
        more: &[
            ("Deployment", "/spec/replicas", "3"),
            (
                "Deployment",
                "/spec/template/metadata/annotations/kubectl.kubernetes.io~1default-container",
                "\"operator\"",
            ),
            ("PodDisruptionBudget", "/spec/minAvailable", "2"),
            (
                "PodDisruptionBudget",
                "/spec/unhealthyPodEvictionPolicy",
                "\"AlwaysAllow\"",
            ),
        ],
        notes: &["podDisruptionBudget.minAvailable"],
        ..PLAIN
    },
];

const LIMIT: &str = "/spec/template/spec/containers/0/resources/limits/memory";
