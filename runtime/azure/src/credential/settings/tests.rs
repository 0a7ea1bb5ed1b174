//! Which keys make which identity, as ASO behaviour §5.2 has it.

use super::*;

const COMMON: [(&str, &str); 3] = [(SUBSCRIPTION, "s"), (TENANT, "t"), (CLIENT, "c\n")];
const PASSWORD: (&str, &str) = (CERTIFICATE_PASSWORD, "tr0ub4dor");
const PBES2: &[u8] = include_bytes!("../testdata/pbes2.pfx");

fn cloud() -> Cloud {
    Cloud::from_variables(|_| None).expect("the public cloud")
}

fn data(pairs: &[(&str, &str)]) -> SecretData {
    SecretData {
        version: "1".to_owned(),
        data: pairs
            .iter()
            .map(|(key, value)| {
                let is_file = *value == "pfx";
                let value = if is_file { PBES2 } else { value.as_bytes() };
                ((*key).to_owned(), value.to_vec())
            })
            .collect(),
    }
}

fn of_secret(pairs: &[(&str, &str)], other_clouds: bool) -> Result<Identity, CredentialError> {
    bounded(pairs, other_clouds, &SecretBounds::default())
}

fn bounded(
    pairs: &[(&str, &str)],
    other_clouds: bool,
    bounds: &SecretBounds,
) -> Result<Identity, CredentialError> {
    let rules = SecretRules {
        token_file: Some("/t"),
        cloud: &cloud(),
        other_clouds,
        identity_folders: &["/mnt".into()],
        bounds,
    };
    secret_identity("n", "x", &data(pairs), rules)
}

fn of_operator(pairs: &[(&str, &str)]) -> Result<Option<Identity>, CredentialError> {
    operator_identity(|name| {
        let pair = pairs.iter().find(|(key, _)| *key == name);
        pair.map(|(_, value)| (*value).to_owned())
    })
}

fn with(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&COMMON, more].concat()
}

const SECRET: (&str, &str) = (CLIENT_SECRET, "hunter2");
const PFX: (&str, &str) = (CERTIFICATE, "pfx");
const FILE: (&str, &str) = (IDENTITY_FILE, "/identity.json");
const POD: (&str, &str) = (AUTH_MODE, "podIdentity");
const WORKLOAD: (&str, &str) = (AUTH_MODE, "WorkloadIdentity");
const USE_WORKLOAD: (&str, &str) = (WORKLOAD_IDENTITY, "True");

#[test]
fn the_order_of_methods_in_a_secret() {
    for (more, expected) in [
        (&[POD, FILE, PFX, PASSWORD, SECRET][..], "ClientSecret"),
        (&[POD, FILE, PFX, PASSWORD], "ClientCertificate("),
        (&[POD, FILE], "IdentityFile(/identity.json)"),
        (&[POD], "ManagedIdentity"),
        (&[WORKLOAD], "WorkloadIdentity(/t)"),
        (&[], "WorkloadIdentity(/t)"),
        (&[(CLIENT_SECRET, " \n"), POD], "ManagedIdentity"),
    ] {
        let identity = of_secret(&with(more), false).expect(expected);
        let proof = format!("{:?}", identity.proof);
        assert!(proof.starts_with(expected), "{expected}: {proof}");
        assert_eq!(
            (identity.tenant.as_str(), identity.client.as_str()),
            ("t", "c")
        );
        let shown = format!("{identity:?} {:?}", data(&with(more)));
        assert!(
            !shown.contains("hunter2") && !shown.contains(PASSWORD.1),
            "{shown}"
        );
    }
}

#[test]
fn the_order_of_methods_of_the_operator() {
    let pem = || {
        let key =
            rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
        let key = key.expect("a key");
        let params = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
        let certificate = params.self_signed(&key).expect("a certificate");
        certificate.pem() + &key.serialize_pem()
    };
    let pem: &'static str = pem().leak();
    let certificate = (CERTIFICATE, pem);
    for (more, expected) in [
        (
            &[USE_WORKLOAD, certificate, FILE, SECRET][..],
            "WorkloadIdentity(/var/run",
        ),
        (
            &[USE_WORKLOAD, (FEDERATED_TOKEN_FILE, "/t")],
            "WorkloadIdentity(/t)",
        ),
        (
            &[(WORKLOAD_IDENTITY, "false"), certificate, FILE, SECRET],
            "ClientCertificate(",
        ),
        (&[FILE, SECRET], "IdentityFile("),
        (&[SECRET], "ClientSecret"),
        (&[], "ManagedIdentity"),
    ] {
        let identity = of_operator(&with(more)).expect(expected).expect(expected);
        let proof = format!("{:?}", identity.proof);
        assert!(proof.starts_with(expected), "{expected}: {proof}");
    }
    let machine = of_operator(&[(SUBSCRIPTION, "s")]).expect("an identity");
    assert_eq!(
        machine,
        Some(Identity::new("s", "", "", Proof::ManagedIdentity))
    );
    assert_eq!(of_operator(&[]).expect("none"), None);
    let error = of_operator(&[(SUBSCRIPTION, "s"), SECRET]).expect_err("no tenant");
    let expected = "key AZURE_TENANT_ID is missing in the operator's settings";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn errors_name_the_secret_and_the_key_and_no_value() {
    for (pairs, expected) in [
        (vec![], "key AZURE_SUBSCRIPTION_ID is missing in Secret n/x"),
        (
            vec![(SUBSCRIPTION, " ")],
            "key AZURE_SUBSCRIPTION_ID is missing in Secret n/x",
        ),
        (
            vec![(SUBSCRIPTION, "s")],
            "key AZURE_TENANT_ID is missing in Secret n/x",
        ),
        (
            vec![(SUBSCRIPTION, "s"), (TENANT, "t")],
            "key AZURE_CLIENT_ID is missing in Secret n/x",
        ),
        (
            with(&[(AUTH_MODE, "hunter2")]),
            "key AUTH_MODE of Secret n/x",
        ),
        (
            with(&[(CERTIFICATE, "hunter2")]),
            "key AZURE_CLIENT_CERTIFICATE of Secret n/x",
        ),
        (
            with(&[PFX]),
            "key AZURE_CLIENT_CERTIFICATE_PASSWORD is missing in Secret n/x",
        ),
        (
            with(&[PFX, (CERTIFICATE_PASSWORD, "hunter2")]),
            "key AZURE_CLIENT_CERTIFICATE_PASSWORD of Secret n/x",
        ),
        (
            with(&[POD, (ADDITIONAL_TENANTS, "u")]),
            "key AZURE_ADDITIONAL_TENANTS of Secret n/x",
        ),
    ] {
        let error = of_secret(&pairs, false).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn additional_tenants_are_others() {
    let identity = of_secret(&with(&[SECRET, (ADDITIONAL_TENANTS, "u, t,,v ")]), false);
    assert_eq!(
        identity.expect("an identity").additional_tenants,
        ["u", "v"]
    );
}

#[test]
fn only_the_operator_can_allow_other_clouds() {
    let clouds = |endpoint| {
        with(&[
            SECRET,
            ("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint),
            ("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com"),
            (
                "AZURE_RESOURCE_MANAGER_AUDIENCE",
                "https://management.azure.com",
            ),
        ])
    };
    let own = of_secret(&clouds("https://management.azure.com"), false);
    assert_eq!(own.expect("its own cloud").cloud, None);
    let other = of_secret(&clouds("https://other.test"), true).expect("another cloud");
    let endpoint = other.cloud.map(|cloud| cloud.endpoint.to_string());
    assert_eq!(endpoint.as_deref(), Some("https://other.test/"));
    for (pairs, other_clouds, expected) in [
        (
            clouds("https://other.test"),
            false,
            "ALLOW_MULTI_ENV_MANAGEMENT",
        ),
        (
            clouds("http://other.test"),
            true,
            "AZURE_RESOURCE_MANAGER_ENDPOINT of Secret n/x",
        ),
        (
            clouds("https://other.test")[..5].to_vec(),
            true,
            "key AZURE_AUTHORITY_HOST of Secret n/x",
        ),
    ] {
        let error = of_secret(&pairs, other_clouds)
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_secret_names_files_below_the_folders_for_them_and_the_operator_any() {
    let folders = |proof: Proof| match proof {
        Proof::IdentityFile { folders, .. } => folders,
        other => panic!("{other:?}"),
    };
    let of = |token_file| {
        let cloud = cloud();
        let rules = SecretRules {
            token_file,
            cloud: &cloud,
            other_clouds: false,
            identity_folders: &["/mnt".into()],
            bounds: &SecretBounds::default(),
        };
        let identity = secret_identity("n", "x", &data(&with(&[FILE])), rules).unwrap();
        folders(identity.proof).unwrap()
    };
    let mounted = PathBuf::from("/var/run/secrets/tokens");
    assert_eq!(of(None), [mounted, "/mnt".into()]);
    assert_eq!(of(Some("/a/token")), [PathBuf::from("/a"), "/mnt".into()]);
    // The root would be everything.
    assert_eq!(of(Some("/token")), [PathBuf::from("/mnt")]);
    let own = of_operator(&with(&[FILE])).unwrap().unwrap();
    assert_eq!(folders(own.proof), None);
}

/// A Secret with several proofs is not read past the one that it stands for.
#[test]
fn a_proof_that_secrets_may_not_use_is_refused_by_its_key() {
    let kinds = "client-secret client-certificate identity-file workload-identity managed-identity";
    for (more, kind, key) in [
        (&[SECRET, PFX, PASSWORD][..], "client-secret", CLIENT_SECRET),
        (&[PFX, FILE], "client-certificate", CERTIFICATE),
        (&[FILE, POD], "identity-file", IDENTITY_FILE),
        (&[POD], "managed-identity", AUTH_MODE),
        (&[WORKLOAD], "workload-identity", AUTH_MODE),
        (&[], "workload-identity", CLIENT),
    ] {
        let others = kinds.replace(kind, "");
        let bounds = SecretBounds::parse(&others, "").unwrap();
        let error = bounded(&with(more), false, &bounds).expect_err(kind);
        let error = error.to_string();
        let start = format!("key {key} of Secret n/x cannot be used: it stands for {kind}, and ");
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains("ARMATURE_SECRET_PROOFS"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
        let alone = SecretBounds::parse(kind, "").unwrap();
        let found = bounded(&with(more), false, &alone).map_err(|error| error.to_string());
        // The certificate of the row without a password says so, and is not what is refused.
        assert!(found.is_ok() || kind == "client-certificate", "{found:?}");
    }
}

#[test]
fn other_clouds_are_those_that_are_listed_whole() {
    let listed = "https://arm.test https://login.test https://audience.test";
    let bounds = SecretBounds::parse("", listed).unwrap();
    let keys = |endpoint, authority, audience| {
        with(&[
            (Cloud::VARIABLES[0], endpoint),
            (Cloud::VARIABLES[1], authority),
            (Cloud::VARIABLES[2], audience),
        ])
    };
    for (pairs, other_clouds, expected) in [
        (
            keys(
                "https://arm.test/",
                "https://login.test",
                "https://audience.test/",
            ),
            false,
            true,
        ),
        (
            keys(
                "https://evil.test",
                "https://login.test",
                "https://audience.test",
            ),
            false,
            false,
        ),
        (
            keys(
                "https://arm.test",
                "https://evil.test",
                "https://audience.test",
            ),
            false,
            false,
        ),
        (
            keys(
                "https://arm.test",
                "https://login.test",
                "https://evil.test",
            ),
            false,
            false,
        ),
        // As Azure Service Operator's setting has it.
        (
            keys(
                "https://evil.test",
                "https://evil.test",
                "https://evil.test",
            ),
            true,
            true,
        ),
    ] {
        let found = bounded(&pairs, other_clouds, &bounds);
        assert_eq!(found.is_ok(), expected, "{pairs:?}");
        let error = found
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(!error.contains(".test"), "{error}");
        assert!(
            expected || error.contains("ARMATURE_ALLOWED_CLOUDS"),
            "{error}"
        );
    }
}

/// One Secret costs no more than another, whatever stands in it: a value that no key of Azure has is refused before it is read.
#[test]
fn values_of_any_length_are_refused_by_their_key() {
    let long: &'static str = "x".repeat(900 << 10).leak();
    for (key, longest) in LONGEST {
        let others = COMMON.iter().filter(|(name, _)| *name != key);
        let mut pairs: Vec<_> = others.copied().collect();
        pairs.push((key, long));
        let error = of_secret(&pairs, true).expect_err(key).to_string();
        let expected = format!(
            "key {key} of Secret n/x cannot be used: it has {} bytes, expected {longest} at most",
            long.len()
        );
        assert_eq!(error, expected);
    }
    let keys: Vec<&str> = LONGEST.iter().map(|(key, _)| *key).collect();
    let read = OPERATOR_VARIABLES
        .iter()
        .chain(&Cloud::VARIABLES)
        .chain(&[AUTH_MODE]);
    // No keys of Secrets.
    let elsewhere = [WORKLOAD_IDENTITY, FEDERATED_TOKEN_FILE];
    for key in read.filter(|key| !elsewhere.contains(key)) {
        assert!(keys.contains(key), "{key} has no limit");
    }
}

#[test]
fn additional_tenants_are_few_and_each_is_named_once() {
    let many: String = (0..120_000).map(|number| format!("t{number},")).collect();
    let of =
        |tenants: &'static str| of_secret(&with(&[SECRET, (ADDITIONAL_TENANTS, tenants)]), false);
    for (tenants, expected) in [
        ("a,b,c", &["a", "b", "c"][..]),
        ("a, A ,,a,t,T,b", &["a", "b"]),
        ("", &[]),
    ] {
        assert_eq!(of(tenants).expect(tenants).additional_tenants, expected);
    }
    for (tenants, expected) in [
        (
            "a,b,c,d",
            "it names 4 tenants beside that of the identity, expected 3 at most",
        ),
        (many.leak(), "bytes, expected 1024 at most"),
    ] {
        let error = of(tenants).expect_err("too many").to_string();
        let key = "key AZURE_ADDITIONAL_TENANTS of Secret n/x cannot be used: ";
        assert!(
            error.starts_with(key) && error.contains(expected),
            "{error}"
        );
    }
    // The administrator's word is his own to answer for.
    let own = of_operator(&with(&[SECRET, (ADDITIONAL_TENANTS, "a,b,c,d")]));
    let own = own.expect("settings").expect("an identity");
    assert_eq!(own.additional_tenants.len(), 4);
}
