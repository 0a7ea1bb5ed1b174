//! Many watches share few connections.

use armature::{Operator, OperatorConfig};
use armature_e2e::{World, identity};
use armature_runtime::kubernetes::Watches;
use http::Request;

use crate::{is_ready, wait_until, workers};

const NAMESPACES: usize = 13;
const WORKER: &str = "00000000-0000-0000-0000-0000000000d1";

fn namespace(number: usize) -> String {
    format!("watched-{number}")
}

fn group(number: usize) -> String {
    let namespace = namespace(number);
    format!(
        "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {namespace}
  namespace: {namespace}
  annotations: {{serviceoperator.azure.com/operator-namespace: {namespace}}}
spec: {{location: westeurope}}
"
    )
}

/// Watches that the API server serves now, of whomever.
async fn served_watches(world: &World) -> usize {
    let request = Request::get("/metrics").body(Vec::new()).unwrap();
    let text = world.client().request_text(request).await.unwrap();
    text.lines()
        .filter(|line| line.starts_with("apiserver_longrunning_requests{"))
        .filter(|line| line.contains("verb=\"WATCH\""))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
        .sum()
}

#[test]
fn more_than_250_watches_leave_room_for_each_other_and_for_requests() {
    World::shared().run(&namespace(0), async |world, _| {
        for number in 1..NAMESPACES {
            world.create_namespace(&namespace(number)).await.unwrap();
        }
        let last = NAMESPACES - 1;
        let mut config = OperatorConfig {
            target_namespaces: (0..NAMESPACES).map(namespace).collect(),
            ..world.operator_config(&namespace(last))
        };
        config.arm.identity = identity(WORKER).unwrap().into();
        // Other operators of these tests have fewer than a hundred watches.
        let wanted = Watches::count(config.kinds.len(), NAMESPACES);
        assert!(wanted > 350, "{wanted} watches prove too little");
        let operator = Operator::start(config).await.unwrap();
        wait_until("every watch is open at once", async || {
            served_watches(world).await >= wanted
        })
        .await;

        // Whatever watch was opened last delivers, and the requests that follow from it pass.
        let objects = world.objects(&namespace(last));
        objects.apply(&group(last)).await.unwrap();
        objects
            .wait_ready("ResourceGroup", &namespace(last), is_ready)
            .await;
        assert_eq!(workers(world, &namespace(last)), [WORKER]);
        operator.stop().await;
    });
}
