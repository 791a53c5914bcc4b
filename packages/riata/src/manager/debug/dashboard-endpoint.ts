import type { Client } from '../../client/interfaces.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { EndpointAnswer, EndpointRoute } from '../probes/http-endpoint.js';
import { HttpEndpoint } from '../probes/http-endpoint.js';
import { reviewGuard } from '../probes/review-guard.js';
import type { resolveDashboard } from './dashboard-options.js';
import type { DebugRoutes } from './debug-routes.js';
import { localGuard } from './local-guard.js';
import { SignIn } from './sign-in.js';

/** The package `@riata/dashboard`, as a manager uses it. */
export interface DashboardModule {
  /** The file of a path; the page itself for every path that is no file. With a policy that lets no other script in. */
  dashboardFile(path: string): Promise<EndpointAnswer>;
  signInPage(problem?: string): EndpointAnswer;
}

/** Serves the dashboard: its files, the debug endpoints that they read, and the way in if it is protected. */
export async function dashboardEndpoint(
  options: NonNullable<ReturnType<typeof resolveDashboard>>,
  { client, runtime }: { readonly client: Client; readonly runtime: Runtime },
  debug: DebugRoutes,
): Promise<HttpEndpoint> {
  const pages = await loadDashboard();
  const file: EndpointRoute = ({ rest }) => pages.dashboardFile(`/${rest}`);
  const routes = new Map<string, EndpointRoute>([...debug.routes, ['/', file]]);
  const posts = new Map<string, EndpointRoute>(options.actions ? debug.posts : []);
  const { host, port, tls } = options;
  const place = { host, port, ...(tls && { tls }) };
  if (!options.protected) return new HttpEndpoint('dashboard', place, { routes, posts, guard: localGuard, runtime });
  const signIn = new SignIn(runtime, {
    reviews: reviewGuard(client, runtime.clock),
    pages,
    isSecure: tls !== undefined,
  });
  const { guard, authorizationOf } = signIn;
  posts.set('/sign-in', signIn.route);
  return new HttpEndpoint('dashboard', place, { routes, posts, guard, authorizationOf, runtime });
}

async function loadDashboard(): Promise<DashboardModule> {
  // Not a literal: bundlers would include it, and compilers ask for its types, where nobody wants a dashboard.
  const name = '@riata/dashboard';
  try {
    return (await import(/* @vite-ignore */ name)) as DashboardModule;
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    throw new Error(`dashboard: the package ${name} is not installed; run "npm install ${name}"`, { cause: error });
  }
}
