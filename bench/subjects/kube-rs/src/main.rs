//! informer <server> <events> default|no-managed-fields: a reflector of Pods until so many events have come.
use std::{env, error::Error, fs, pin::pin};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config, ResourceExt,
    runtime::{WatchStreamExt, reflector, watcher},
};
use serde_json::json;

/// CPU of the whole process in ms.
fn cpu_ms() -> f64 {
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1000.0 + time.tv_usec as f64 / 1000.0;
    ms(usage.ru_utime) + ms(usage.ru_stime)
}

/// A field of the process's status, in MB.
fn status_mb(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|text| text.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// What the allocator has handed out and not got back.
fn heap_bytes() -> usize {
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let (server, events, drops) = (&args[1], args[2].parse::<usize>()?, args[3] == "no-managed-fields");
    let client = Client::try_from(Config::new(server.parse()?))?;
    let (store, writer) = reflector::store::<Pod>();
    let watched = watcher(Api::<Pod>::all(client), watcher::Config::default()).default_backoff();
    let watched = if drops {
        watched.modify(|pod| pod.managed_fields_mut().clear()).boxed()
    } else {
        watched.boxed()
    };
    let mut stream = pin!(watched.reflect(writer));
    let mut read = 0;
    let mut seen = 0;
    let mut take = |pod: &Pod| {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        read += pod.metadata.name.as_deref().map_or(0, str::len) + node.map_or(0, str::len);
    };
    let heap = heap_bytes();
    let mut cpu = cpu_ms();
    while let Some(event) = stream.try_next().await? {
        match event {
            watcher::Event::InitApply(pod) => take(&pod),
            watcher::Event::InitDone => {
                let sync = cpu_ms() - cpu;
                let at_sync = status_mb("VmRSS");
                unsafe { libc::malloc_trim(0) };
                let held = heap_bytes() - heap;
                let (rss, peak) = (status_mb("VmRSS"), status_mb("VmHWM"));
                let objects = store.len();
                println!(
                    "{}",
                    json!({ "objects": objects, "cpuMs": sync, "heapBytes": held, "atSyncMb": at_sync, "rssMb": rss, "peakMb": peak })
                );
                cpu = cpu_ms();
            }
            watcher::Event::Apply(pod) => {
                take(&pod);
                seen += 1;
                if seen == events {
                    break;
                }
            }
            _ => {}
        }
    }
    let spent = cpu_ms() - cpu;
    println!("{}", json!({ "events": seen, "cpuMs": spent, "peakMb": status_mb("VmHWM"), "read": read }));
    Ok(())
}
