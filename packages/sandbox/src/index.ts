/**
 * A working Kubernetes cluster without nodes.
 *
 * @module
 */

export type { ContainerIo, PodConnection, ProcessEnd } from '@riata/apiserver';
export type { MetricsOptions, MetricValues } from './autoscaling/metrics.js';
export {
  type ClusterOptions,
  clusterControllers,
  nodeControllers,
  type ProviderOptions,
  providerControllers,
  workloadControllers,
} from './controllers.js';
export type { KubeletOptions, PodFate } from './node/kubelet.js';
export { type MakeNodesOptions, makeNodes } from './node/nodes.js';
export type { ContainerScripts } from './node/scripted-containers.js';
export { Sandbox, type SandboxOptions } from './sandbox.js';
