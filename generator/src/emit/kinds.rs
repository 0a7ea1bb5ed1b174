//! The static descriptors of a group's kinds.

use proc_macro2::TokenStream;
use quote::quote;

use super::format::{FormatError, doc, ident, item};
use super::ident::{constant, type_name};
use super::types::rules;
use super::{KindVersions, module_name};
use crate::hub::{KindHub, Plan, Step};
use crate::model::{Group, NameRule, Owner, Resource, Scope, TypeName, Verbs, Version};

/// Descriptors of all kinds, as items.
pub fn kinds(group: &Group, kinds: &[KindVersions<'_>]) -> Result<String, FormatError> {
    let mut text = String::new();
    for kind in kinds {
        text.push_str(&item(kind.kind, descriptor(group, kind))?);
        text.push('\n');
    }
    let names = kinds.iter().map(|kind| ident(&constant(kind.kind)));
    let all_doc = doc("Every kind of the group, by name.");
    text.push_str(&item(
        "KINDS",
        quote!(#all_doc pub static KINDS: &[&KindInfo] = &[#(&#names),*];),
    )?);
    Ok(text)
}

fn descriptor(group: &Group, kind: &KindVersions<'_>) -> TokenStream {
    let (_, newest) = kind.newest();
    let name = ident(&constant(kind.kind));
    let text = doc(&format!("`{}`: ARM type `{}`.", kind.kind, newest.arm_type));
    let (api_group, kind_name, plural) = (&group.api_group, kind.kind, &newest.plural);
    let (category, arm_type) = (&group.name, &newest.arm_type);
    let scope = scope(newest.scope);
    let owner = owner(group, kind);
    let name_rule = name_rule(&newest.name);
    let versions = kind.versions.iter().flat_map(|(version, resource)| {
        let names = resource.version_names.iter();
        names.map(|name| version_info(name, version, resource, kind.hub))
    });
    let hub = hub_info(kind.hub);
    let secrets = &newest.secrets;
    let config_maps = newest.config_maps.iter().map(|(key, path)| {
        quote!(ConfigMapExport { key: #key, status_path: &[#(#path),*] })
    });
    quote! {
        #text
        pub static #name: KindInfo = KindInfo {
            group: #api_group,
            kind: #kind_name,
            plural: #plural,
            category: #category,
            arm_type: #arm_type,
            scope: #scope,
            owner: #owner,
            name: #name_rule,
            versions: &[#(#versions),*],
            hub: #hub,
            secrets: &[#(#secrets),*],
            config_maps: &[#(#config_maps),*],
        };
    }
}

fn shape(module: &str, name: &TypeName) -> TokenStream {
    let (module, name) = (ident(module), ident(&type_name(name)));
    quote!(<#module::#name as Shaped>::SHAPE)
}

fn hub_info(hub: &KindHub) -> TokenStream {
    let storage_version = &hub.storage_version;
    let (spec, status) = (shape("hub", &hub.spec), shape("hub", &hub.status));
    quote!(HubInfo { storage_version: #storage_version, spec: #spec, status: #status })
}

fn version_info(name: &str, version: &Version, resource: &Resource, hub: &KindHub) -> TokenStream {
    let api_version = version.api_version.as_str();
    let sources = version.sources.iter().map(|source| &source.0);
    let module = module_name(&version.api_version);
    let (spec, status) = (
        shape(&module, &resource.spec),
        shape(&module, &resource.status),
    );
    let verbs = verbs(resource.verbs);
    let child_lists = resource.child_lists.iter();
    let child_lists = child_lists.map(|path| quote!(&[#(#path),*]));
    let plans = hub.plans.get(&version.api_version);
    let same = (Plan::default(), Plan::default());
    let (spec_plan, status_plan) = plans.unwrap_or(&same);
    let (spec_plan, status_plan) = (plan(spec_plan), plan(status_plan));
    quote! {
        VersionInfo {
            name: #name,
            api_version: #api_version,
            sources: &[#(#sources),*],
            spec: #spec,
            status: #status,
            verbs: #verbs,
            child_lists: &[#(#child_lists),*],
            spec_plan: #spec_plan,
            status_plan: #status_plan,
        }
    }
}

fn plan(differences: &Plan) -> TokenStream {
    if differences.is_same() {
        return quote!(&Plan::SAME);
    }
    let steps = differences.steps.iter().map(|step| match step {
        Step::Retype { version, hub } => {
            quote!(Step::Retype { version: #version, hub: #hub })
        }
    });
    let nested = differences.nested.iter().map(|(name, below)| {
        let below = plan(below);
        quote!((#name, #below))
    });
    quote!(&Plan { steps: &[#(#steps),*], nested: &[#(#nested),*] })
}

fn scope(scope: Scope) -> TokenStream {
    match scope {
        Scope::ResourceGroup => quote!(Scope::ResourceGroup),
        Scope::Subscription => quote!(Scope::Subscription),
        Scope::Tenant => quote!(Scope::Tenant),
        Scope::Extension => quote!(Scope::Extension),
    }
}

/// The owner as a kind: that of the same group with the parent's ARM type.
fn owner(group: &Group, kind: &KindVersions<'_>) -> TokenStream {
    let (_, newest) = kind.newest();
    match &newest.owner {
        Owner::None => quote!(OwnerRule::None),
        Owner::Any => quote!(OwnerRule::Any),
        Owner::ResourceGroup => {
            quote!(OwnerRule::Kind { group: "resources.azure.com", kind: "ResourceGroup" })
        }
        Owner::Parent(arm_type) => {
            let mut resources = group.versions.values().flat_map(|v| &v.resources);
            let parent = resources.find(|r| r.arm_type.eq_ignore_ascii_case(arm_type));
            match parent {
                Some(parent) => {
                    let (api_group, kind) = (&group.api_group, &parent.kind);
                    quote!(OwnerRule::Kind { group: #api_group, kind: #kind })
                }
                None => quote!(OwnerRule::Any),
            }
        }
    }
}

fn name_rule(rule: &NameRule) -> TokenStream {
    match rule {
        NameRule::Free(constraints) => match rules(constraints) {
            Some(rules) => quote!(NameRule::Free(&#rules)),
            None => quote!(NameRule::Free(&shape::Rules::NONE)),
        },
        NameRule::OneOf(values) => quote!(NameRule::OneOf(&[#(#values),*])),
        NameRule::Fixed(value) => quote!(NameRule::Fixed(#value)),
    }
}

fn verbs(verbs: Verbs) -> TokenStream {
    let Verbs {
        get,
        head,
        put,
        patch,
        delete,
        put_long_running,
        delete_long_running,
    } = verbs;
    quote! {
        Verbs {
            get: #get,
            head: #head,
            put: #put,
            patch: #patch,
            delete: #delete,
            put_long_running: #put_long_running,
            delete_long_running: #delete_long_running,
        }
    }
}
