//! operator <kubeconfig> <namespace> <user agent> ready|latency: a controller of Widgets as users of kube-rs write it.
//! `ready` gives each a ConfigMap and a status. `latency` writes nothing and says, when it is told to stop, how long after
//! spec.at each reconcile has begun, in µs, as JSON in one line. kube-rs has no leader election of its own.
use std::{
    env,
    error::Error,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config, CustomResource, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{
        Controller,
        controller::{Action, Config as ControllerConfig},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(group = "bench.riata.dev", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
struct WidgetSpec {
    #[serde(default)]
    size: i64,
    #[serde(default)]
    at: i64,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WidgetStatus {
    #[serde(default)]
    size: i64,
    #[serde(default)]
    observed_generation: i64,
}

struct Context {
    client: Client,
    latencies: Mutex<Vec<i64>>,
    writes: bool,
}

fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> Result<Action, kube::Error> {
    if !context.writes {
        if widget.spec.at > 0 {
            context.latencies.lock().unwrap().push(now_us() - widget.spec.at);
        }
        return Ok(Action::await_change());
    }
    let generation = widget.metadata.generation.unwrap_or_default();
    let size = widget.spec.size;
    if widget.status.as_ref().is_some_and(|status| status.size == size && status.observed_generation == generation) {
        return Ok(Action::await_change());
    }
    let (name, namespace) = (widget.name_any(), widget.namespace().unwrap_or_default());
    let params = PatchParams::apply("widgets").force();
    let config = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(namespace.clone()),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("size".to_owned(), size.to_string())].into()),
        ..ConfigMap::default()
    };
    let configs: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
    configs.patch(&name, &params, &Patch::Apply(&config)).await?;
    let status = json!({
        "apiVersion": Widget::api_version(&()),
        "kind": Widget::kind(&()),
        "status": {
            "size": size,
            "observedGeneration": generation,
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Reconciled", "message": "",
                "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        },
    });
    let widgets: Api<Widget> = Api::namespaced(context.client.clone(), &namespace);
    widgets.patch_status(&name, &params, &Patch::Apply(&status)).await?;
    Ok(Action::await_change())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let (path, namespace, user_agent, mode) = (&args[1], &args[2], &args[3], &args[4]);
    let kubeconfig = Kubeconfig::read_from(path)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.headers.push(("user-agent".parse()?, user_agent.parse()?));
    let client = Client::try_from(config)?;
    let writes = mode == "ready";
    let context = Arc::new(Context { client: client.clone(), latencies: Mutex::default(), writes });
    let widgets: Api<Widget> = Api::namespaced(client.clone(), namespace);
    let controller = Controller::new(widgets, watcher::Config::default())
        .with_config(ControllerConfig::default().concurrency(10));
    let controller = if writes {
        controller.owns(Api::<ConfigMap>::namespaced(client, namespace), watcher::Config::default())
    } else {
        controller
    };
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let again = |_: Arc<Widget>, _: &kube::Error, _: Arc<Context>| Action::requeue(Duration::from_secs(1));
    controller
        .graceful_shutdown_on(async move {
            terminate.recv().await;
        })
        .run(reconcile, again, context.clone())
        .for_each(|_| async {})
        .await;
    println!("{}", json!(*context.latencies.lock().unwrap()));
    Ok(())
}
