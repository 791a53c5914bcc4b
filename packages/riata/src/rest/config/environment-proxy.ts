import { proxyProblem } from '../transport/http/proxy.js';
import { type ProxyEnvironment, proxyFromEnvironment } from '../transport/http/proxy-environment.js';
import { ConfigError } from './config-error.js';

/** The proxy that the environment names for a server, checked. */
export function environmentProxy(server: string, env: ProxyEnvironment = process.env): string | undefined {
  const proxy = proxyFromEnvironment(server, env);
  const problem = proxy === undefined ? undefined : proxyProblem(proxy);
  if (problem === undefined) return proxy;
  const field = server.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  throw new ConfigError(`${problem}; correct it, or except the server by NO_PROXY`, { source: 'environment', field });
}
