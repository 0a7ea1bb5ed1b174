//! Every benchmark by name. A new one is a row here.

use futures::FutureExt;
use futures::future::BoxFuture;

use super::Context;
use super::figure::Figure;
use super::process::Bars;
use super::{apply, crds, drift, engines, process, rebuild, scale};

/// One benchmark.
pub struct Benchmark {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is measured, as a sentence.
    pub about: &'static str,
    /// Whether clients or clocks of it are in this program, which has to be a release build then.
    pub is_inside: bool,
    /// Measures it.
    pub run: for<'c> fn(&'c Context) -> BoxFuture<'c, anyhow::Result<Vec<Figure>>>,
}

/// All, in order of printing.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "gen",
        about: "Generating every group and comparing with the tree (`cargo xtask gen --check`).",
        is_inside: false,
        run: |context| {
            let bars = Bars {
                wall: Some(2.0),
                peak: Some(1000.0),
            };
            xtask(context, &["gen", "--check"], bars).boxed()
        },
    },
    Benchmark {
        name: "survey",
        about: "Loading, discovering and typing every spec file on the machine (`cargo xtask survey`).",
        is_inside: false,
        run: |context| {
            let bars = Bars {
                wall: Some(60.0),
                ..Bars::default()
            };
            xtask(context, &["survey", "-o", "json"], bars).boxed()
        },
    },
    Benchmark {
        name: "rebuild",
        about: "The operator's build (`cargo build -p armature`) after one file was touched: a decision of the reconciler, a \
                customization, the ARM client; for development, and optimised as for `cargo xtask dev --release`.",
        is_inside: false,
        run: |context| async move { rebuild::figures(context) }.boxed(),
    },
    Benchmark {
        name: "codec",
        about: "Spec and status of one object from JSON into the Rust types that extensions use, and back, over the hub \
                form of every kind of compute, containerservice, network and storage with about 40 values in each of the two.",
        is_inside: true,
        run: |context| engines::figures(context, "codec").boxed(),
    },
    Benchmark {
        name: "conversion",
        about: "One object from a served version to the stored form and back, over one object of every version of every kind, \
                as long as those of `codec`.",
        is_inside: true,
        run: |context| engines::figures(context, "conversion").boxed(),
    },
    Benchmark {
        name: "cache",
        about: "Memory that the operator's cache takes for a virtual network as the operator leaves it.",
        is_inside: true,
        run: |context| engines::figures(context, "cache").boxed(),
    },
    Benchmark {
        name: "webhook",
        about: "One object through the conversion webhook of the running operator, over TLS on loopback, one after the \
                other on one connection: a Ready resource group and a Ready virtual network as users read them, to the stored \
                version; and every sample, from the version it is written in to the stored one and back.",
        is_inside: true,
        run: |context| scale::webhook(context).boxed(),
    },
    Benchmark {
        name: "idle",
        about: "The operator with every CRD installed and no objects; each run is a start of its own, after one that installed them.",
        is_inside: true,
        run: |context| scale::idle(context).boxed(),
    },
    Benchmark {
        name: "crds",
        about: "Every CRD on a real API server: until the last one is established, and what is alive in the server's memory \
                after a restart, with nobody connected and with the operator; with all versions, and with `--crd-versions \
                latest`, each on a control plane of its own.",
        is_inside: false,
        run: |context| crds::figures(context).boxed(),
    },
    Benchmark {
        name: "apply",
        about: "1,000 resource groups with a virtual network each, in 40 namespaces with a subscription each, applied by \
                16 clients at once: from the first request until the last object is Ready, and until all are deleted \
                again. The simulator answers at once. A set is a group with its network; what the API server was asked is \
                read from its own metrics.",
        is_inside: true,
        run: |context| apply::figures(context).boxed(),
    },
    Benchmark {
        name: "restart",
        about: "A restart with 10,000 Ready objects (half resource groups, half virtual networks): from the start of the \
                process to its last request to Azure, and requests meanwhile.",
        is_inside: true,
        run: |context| scale::restart(context).boxed(),
    },
    Benchmark {
        name: "sync",
        about: "Requests to Azure for one Ready object in one hour. 1,000 objects are counted over whole sync periods of \
                20 s; at the default period of 1 h there is one such period in an hour.",
        is_inside: true,
        run: |context| scale::sync(context).boxed(),
    },
    Benchmark {
        name: "drift",
        about: "10,000 Ready objects in 20 subscriptions that nobody changes, with all settings at their defaults and a \
                simulated Azure Resource Graph that is 60 s late: requests to Azure for one object in an hour, counted over \
                five minutes between two syncs with the reads of a day or an hour added by what the Graph shows; and how long \
                it takes until a change of one resource is undone.",
        is_inside: true,
        run: |context| drift::figures(context).boxed(),
    },
    Benchmark {
        name: "steady",
        about: "30,000 Ready objects, observed for a minute in each run, at a sync period of 5 min instead of 1 h: twelve \
                times the usual load.",
        is_inside: true,
        run: |context| scale::steady(context).boxed(),
    },
];

async fn xtask(context: &Context, arguments: &[&str], bars: Bars) -> anyhow::Result<Vec<Figure>> {
    let program = context.build("xtask").await?;
    process::figures(context, &program, arguments, bars)
}
