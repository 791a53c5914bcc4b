import { isIPv4 } from 'node:net';
import { optionNames } from '../../runtime/option-names.js';
import type { HttpEndpointOptions } from '../probes/http-endpoint.js';

/** Where the dashboard is served, and to whom. Requires the package `@riata/dashboard`. */
export interface DashboardOptions extends Partial<HttpEndpointOptions> {
  /** Another one than a loopback address requires `protected` and `tls`. @default '127.0.0.1' */
  readonly host?: string;
  /** 0: any that is free. @default 8082 */
  readonly port?: number;
  /**
   * Viewers sign in with a token. They need the right to `get` the path `/debug/*`, and see the objects that they may `get`
   * and `list` themselves (TokenReview, SubjectAccessReview). @default false
   */
  readonly protected?: boolean;
  /** Whether viewers who may patch an object can pause, resume and trigger its reconciles. @default true */
  readonly actions?: boolean;
}

export const dashboardOptionNames = optionNames<DashboardOptions>({
  host: true,
  port: true,
  tls: true,
  protected: true,
  actions: true,
});

/** The options with their defaults; undefined without a dashboard. */
export function resolveDashboard(given: boolean | DashboardOptions | undefined) {
  if (given === undefined || given === false) return undefined;
  const options = given === true ? {} : given;
  return { protected: false, actions: true, ...options, host: options.host ?? '127.0.0.1', port: options.port ?? 8082 };
}

/** Throws for a dashboard that would show itself, or tokens, to anyone on the network. */
export function assertDashboardGuarded(given: boolean | DashboardOptions | undefined): void {
  const options = resolveDashboard(given);
  if (options === undefined || isLoopback(options.host)) return;
  if (options.protected && options.tls !== undefined) return;
  throw new TypeError(
    `Manager: dashboard.host "${options.host}" is not loopback; set dashboard.protected and dashboard.tls, or omit the host ` +
      'and use kubectl port-forward',
  );
}

/** Whether only this machine reaches an address. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
