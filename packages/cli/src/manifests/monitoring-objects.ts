import type { WriteObject } from 'riata/client';
import { isPlaceholder, onlyIf } from '../chart/placeholder.js';
import type { DeploymentSite } from './deployment-site.js';

const apiVersion = 'monitoring.coreos.com/v1';

/** A ServiceMonitor, and a PrometheusRule with alerts on the manager's own metrics; only if they are asked for. */
export function monitoringObjects(site: DeploymentSite): WriteObject[] {
  const { operator, options, metrics } = site;
  const { monitoring = false } = options;
  if (monitoring === false) return [];
  if (metrics === undefined) {
    throw new TypeError(
      `deployment "${operator.name}": monitoring requires metrics; export const options = { metrics: { port: 8080 } } beside the definitions`,
    );
  }
  const settings = typeof monitoring === 'object' && !isPlaceholder(monitoring) ? monitoring : {};
  const objects = [
    serviceMonitor(site, metrics, settings.interval ?? '30s', settings.labels),
    ...(settings.alerts === false ? [] : [prometheusRule(site, settings.labels)]),
  ];
  return isPlaceholder(monitoring) ? onlyIf(monitoring as boolean, objects) : objects;
}

function serviceMonitor(
  { operator, namespace, selector }: DeploymentSite,
  { isHttps }: { readonly isHttps: boolean },
  interval: string,
  labels: Readonly<Record<string, string>> | undefined,
): WriteObject {
  const isProtected = operator.options.metrics?.protected === true;
  const endpoint = {
    ...{ port: 'metrics', path: '/metrics', interval },
    ...(isHttps && { scheme: 'https', tlsConfig: { insecureSkipVerify: true } }),
    ...(isProtected && { bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }),
  };
  const spec = {
    endpoints: [endpoint],
    selector: { matchLabels: { ...selector, 'app.kubernetes.io/component': 'metrics' } },
  };
  const metadata = { name: operator.name, namespace, ...(labels && { labels }) };
  return { apiVersion, kind: 'ServiceMonitor', metadata, spec } as WriteObject;
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'warning' | 'critical';
  readonly summary: string;
}

/** What a person should look at. Names of metrics are the manager's. */
function alertsFor({ operator, namespace }: DeploymentSite): Alert[] {
  const { name } = operator;
  const own = `namespace="${namespace}",job="${name}-metrics"`;
  const alerts: Alert[] = [
    {
      ...{ alert: 'OperatorDown', for: '5m', severity: 'critical' },
      expr: `absent(up{${own}} == 1)`,
      summary: `${name} is not running, or its metrics cannot be scraped.`,
    },
    {
      ...{ alert: 'OperatorReconcileErrors', for: '15m', severity: 'warning' },
      expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${own}}[5m])) / sum by (controller) (rate(controller_runtime_reconcile_total{${own}}[5m])) > 0.1`,
      summary: 'More than a tenth of the reconciles of {{ $labels.controller }} fail.',
    },
    {
      ...{ alert: 'OperatorFailingObjects', for: '10m', severity: 'warning' },
      expr: `max by (controller, source) (max_over_time(riata_source_failing_objects{${own}}[10m])) > 0`,
      summary: 'Objects cannot be enqueued for {{ $labels.controller }}, because of {{ $labels.source }}.',
    },
    {
      ...{ alert: 'OperatorQueueNotDrained', for: '30m', severity: 'warning' },
      expr: `min by (name) (min_over_time(workqueue_depth{${own}}[10m])) > 100`,
      summary: 'More than 100 keys have waited in queue {{ $labels.name }} all the time.',
    },
    {
      ...{ alert: 'OperatorApiErrors', for: '15m', severity: 'warning' },
      expr: `sum(rate(rest_client_requests_total{${own},code=~"5..|<error>"}[5m])) / sum(rate(rest_client_requests_total{${own}}[5m])) > 0.1`,
      summary: `More than a tenth of the requests of ${name} to the API server fail.`,
    },
    {
      ...{ alert: 'OperatorEventLoopBlocked', for: '15m', severity: 'warning' },
      expr: `histogram_quantile(0.99, sum by (le, pod) (rate(riata_event_loop_lag_seconds_bucket{${own}}[5m]))) > 1`,
      summary: 'The event loop of {{ $labels.pod }} is blocked for more than a second.',
    },
  ];
  return alerts;
}

function prometheusRule(site: DeploymentSite, labels: Readonly<Record<string, string>> | undefined): WriteObject {
  const { operator, namespace } = site;
  const rules = alertsFor(site).map(({ alert, expr, for: time, severity, summary }) => ({
    ...{ alert, expr, for: time, labels: { severity, operator: operator.name }, annotations: { summary } },
  }));
  const metadata = { name: operator.name, namespace, ...(labels && { labels }) };
  return {
    apiVersion,
    kind: 'PrometheusRule',
    metadata,
    spec: { groups: [{ name: operator.name, rules }] },
  } as WriteObject;
}
