import type { ControllerDefinition } from 'riata/controller';
import { refuseUnknownOptions } from 'riata/runtime';
import { horizontalPodAutoscalers } from './autoscaling/horizontal-pod-autoscalers.js';
import { type MetricsOptions, metricsOptionNames } from './autoscaling/metrics.js';
import {
  certificateSigningRequests,
  type SignerOptions,
  signerOptionNames,
} from './certificates/certificate-signing-requests.js';
import { endpointMirroring } from './network/endpoint-mirroring.js';
import { endpointSlices } from './network/endpoint-slice.js';
import { endpoints } from './network/endpoints.js';
import { type LoadBalancerOptions, loadBalancerOptionNames, loadBalancers } from './network/load-balancers.js';
import { type KubeletOptions, kubelet, kubeletOptionNames } from './node/kubelet.js';
import { nodeHeartbeats } from './node/node-heartbeats.js';
import { scheduler } from './node/scheduler.js';
import { taintEviction } from './node/taint-eviction.js';
import { claimBinder } from './storage/claim-binder.js';
import { ephemeralClaims } from './storage/ephemeral-claims.js';
import { type ProvisionerOptions, provisioner, provisionerOptionNames, volumeDeleter } from './storage/provisioner.js';
import { volumeReclaimer } from './storage/volume-reclaimer.js';
import { cronJobs } from './workloads/cron-jobs.js';
import { daemonSets } from './workloads/daemon-sets.js';
import { deployments } from './workloads/deployment/deployments.js';
import { replicaSets } from './workloads/deployment/replica-sets.js';
import { disruptionBudgets } from './workloads/disruption-budgets.js';
import { jobs } from './workloads/jobs.js';
import { replicationControllers } from './workloads/replication-controllers.js';
import { statefulSets } from './workloads/stateful-sets.js';

/**
 * The controllers of workloads: Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs and
 * CronJobs, the Endpoints and EndpointSlices of Services, and PodDisruptionBudgets, as kube-controller-manager has
 * them. For a server without kube-controller-manager.
 */
export function workloadControllers(): readonly ControllerDefinition[] {
  const pods = [deployments, replicaSets, replicationControllers, statefulSets, daemonSets, jobs, cronJobs];
  return [...pods, endpoints, endpointSlices, endpointMirroring, disruptionBudgets()];
}

/** Options of the cluster-wide controllers. */
export interface ClusterOptions extends MetricsOptions, SignerOptions {}

export const clusterOptionNames = metricsOptionNames.with(signerOptionNames).and<ClusterOptions>({});

/**
 * The controllers that serve the cluster as a whole, as kube-controller-manager has them: the eviction of Pods by taints,
 * the binding of PersistentVolumeClaims, HorizontalPodAutoscalers, and CertificateSigningRequests. ResourceQuotas are
 * counted by the server itself.
 */
export function clusterControllers(options: ClusterOptions = {}): readonly ControllerDefinition[] {
  refuseUnknownOptions('clusterControllers', options, clusterOptionNames);
  const volumes = [claimBinder(), volumeReclaimer, ephemeralClaims];
  const certificates = certificateSigningRequests(options);
  return [taintEviction(), ...volumes, horizontalPodAutoscalers(options), ...certificates];
}

/** Options of the simulated cloud provider. */
export interface ProviderOptions extends ProvisionerOptions, LoadBalancerOptions {}

export const providerOptionNames = provisionerOptionNames.with(loadBalancerOptionNames).and<ProviderOptions>({});

/**
 * A simulated cloud provider, for any server, a real one too: volumes for claims, addresses for Services and Ingresses.
 */
export function providerControllers(options: ProviderOptions = {}): readonly ControllerDefinition[] {
  refuseUnknownOptions('providerControllers', options, providerOptionNames);
  return [provisioner(options), volumeDeleter(options), ...loadBalancers(options)];
}

/**
 * A scheduler and a pretend kubelet: they make Nodes ready, and Pods Running and Ready on them, on any server, a real one
 * too.
 */
export function nodeControllers(options: KubeletOptions = {}): readonly ControllerDefinition[] {
  refuseUnknownOptions('nodeControllers', options, kubeletOptionNames);
  return [scheduler(), kubelet(options), nodeHeartbeats(options)];
}
