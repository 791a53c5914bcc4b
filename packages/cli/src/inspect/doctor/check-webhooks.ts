import {
  CustomResourceDefinition,
  EndpointSlice,
  MutatingWebhookConfiguration,
  Service,
  ValidatingWebhookConfiguration,
} from 'riata/kinds';
import { bundleExpiries, certificateFindings } from './certificate-findings.js';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';
import { isReachable } from './is-reachable.js';

/** A webhook that the API server calls, of whichever configuration. */
interface CalledWebhook {
  /** `webhook rules.sites.example.com of ValidatingWebhookConfiguration site-operator`. */
  readonly name: string;
  /** What the server does if it gets no answer. */
  readonly onFailure: 'requests fail' | 'requests pass unchecked';
  readonly service?: { readonly namespace: string; readonly name: string };
  readonly url?: string;
  readonly caBundle?: string;
}

/** Whether webhooks that the API server calls can answer, and by certificates that are still valid. */
export async function checkWebhooks(cluster: CheckedCluster): Promise<readonly Finding[]> {
  const { client, signal } = cluster;
  const [validating, mutating, definitions] = await Promise.all([
    client.list(ValidatingWebhookConfiguration, { signal }),
    client.list(MutatingWebhookConfiguration, { signal }),
    client.list(CustomResourceDefinition, { signal }),
  ]);
  const admission = [...validating.items, ...mutating.items].flatMap(({ kind, metadata, webhooks = [] }) =>
    webhooks.map(
      ({ name, failurePolicy = 'Fail', clientConfig }): CalledWebhook => ({
        name: `webhook ${name} of ${kind} ${metadata.name}`,
        onFailure: failurePolicy === 'Fail' ? 'requests fail' : 'requests pass unchecked',
        ...clientConfig,
      }),
    ),
  );
  const conversion = definitions.items.flatMap(({ metadata, spec }): CalledWebhook[] => {
    if (spec.conversion?.strategy !== 'Webhook') return [];
    return [
      { name: `conversion of ${metadata.name}`, onFailure: 'requests fail', ...spec.conversion.webhook?.clientConfig },
    ];
  });
  const all = [...admission, ...conversion];
  const findings = (await Promise.all(all.map((webhook) => findingsOf(cluster, webhook)))).flat();
  if (findings.length > 0) return findings;
  return [
    ok(
      all.length === 0
        ? 'the API server calls no webhooks'
        : `all ${all.length} webhooks have a ready backend and a valid certificate`,
    ),
  ];
}

async function findingsOf({ client, clock, signal }: CheckedCluster, webhook: CalledWebhook): Promise<Finding[]> {
  const { name, caBundle, onFailure } = webhook;
  const unreachable = await backendProblem({ client, clock, signal }, webhook);
  const findings: Finding[] = [];
  if (unreachable !== undefined) {
    const report = onFailure === 'requests fail' ? problem : warning;
    findings.push(report(`${name}: ${unreachable.text}: ${onFailure}`, unreachable.remedy));
  }
  if (caBundle === undefined || caBundle === '') {
    if (webhook.service !== undefined) {
      findings.push(
        warning(
          `${name} has no caBundle: the server cannot trust it`,
          'start the operator, which writes it, or have cert-manager inject it',
        ),
      );
    }
    return findings;
  }
  const remedy = 'restart the operator, which renews its own certificates, or renew them by hand';
  try {
    const expiries = bundleExpiries(Buffer.from(caBundle, 'base64').toString());
    if (expiries.length === 0) throw new Error('no certificate');
    findings.push(...certificateFindings(`${name}: its caBundle`, expiries, clock.now(), remedy));
  } catch {
    findings.push(problem(`${name}: its caBundle holds no valid certificate`, remedy));
  }
  return findings;
}

async function backendProblem(
  { client, clock, signal }: Pick<CheckedCluster, 'client' | 'clock' | 'signal'>,
  { service, url }: CalledWebhook,
): Promise<{ readonly text: string; readonly remedy: string } | undefined> {
  if (service !== undefined) {
    const { namespace, name } = service;
    if ((await client.find(Service, { namespace, name }, { signal })) === undefined) {
      return {
        text: `Service ${namespace}/${name} not found`,
        remedy: 'deploy the operator, or remove the configuration',
      };
    }
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const { items } = await client.list(EndpointSlice, { namespace, labelSelector, signal });
    const isReady = items.some(({ endpoints = [] }) =>
      endpoints?.some(({ conditions }) => conditions?.ready !== false),
    );
    if (isReady) return undefined;
    return { text: `Service ${namespace}/${name} has no ready Pod`, remedy: `see: kubectl get pods -n ${namespace}` };
  }
  if (url === undefined)
    return { text: 'neither a Service nor a URL is given', remedy: 'start the operator, which writes it' };
  if (await isReachable(new URL(url), clock)) return undefined;
  return {
    text: `${new URL(url).origin} cannot be reached from here`,
    remedy: 'start the program behind it, or remove the configuration',
  };
}
