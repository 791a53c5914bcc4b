import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from 'riata/runtime';
import { goTool } from '../../../../../tools/go-tools/go-tool.mjs';

/** The program of distribution/distribution; empty without Go. */
export const registryProgram = (await goTool('registry')) ?? '';

/** The one account of {@link startRegistry}. */
export const account = { username: 'test', password: 'test-only' };
const passwordFile = 'test:$2a$04$y/pS8ppUBw6G.rNuJQ1jIuucgTzgUTLDLtvEP59yFd0/rBacdtsbm\n';

/** A registry that runs. */
export interface RunningRegistry extends AsyncDisposable {
  /** Host and port. */
  readonly host: string;
  /** Requests as its access log has them: `GET /v2/x/blobs/sha256:… 200`. */
  readonly requests: readonly string[];
  /** Of its token service, if it has one: the scopes that were asked for, and how the client showed who it is. */
  readonly tokens: readonly { readonly scopes: readonly string[]; readonly by: string }[];
}

/** Starts distribution's registry on a free port, with its files in a temporary folder. */
export async function startRegistry(auth: 'none' | 'basic' | 'token' = 'none'): Promise<RunningRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'riata-registry-'));
  const tokens = auth === 'token' ? await startTokenService(folder) : undefined;
  const config = {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: false } },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: '127.0.0.1:0', secret: 'test-only' },
    ...(auth === 'basic' && { auth: { htpasswd: { realm: 'test', path: join(folder, 'passwords') } } }),
    ...(tokens && { auth: { token: tokens.config } }),
  };
  writeFileSync(join(folder, 'passwords'), passwordFile);
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn(registryProgram, ['serve', join(folder, 'config.yml')], {
    env: { OTEL_TRACES_EXPORTER: 'none' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const requests: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, method, path, status] = /"(\w+) (\S+) HTTP\/1\.1" (\d+)/.exec(line) ?? [];
    if (method !== undefined) requests.push(`${method} ${path} ${status}`);
  });
  const port = await listeningPort(child);
  return {
    host: `127.0.0.1:${port}`,
    requests,
    tokens: tokens?.asked ?? [],
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      tokens?.server.close();
      tokens?.server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listeningPort(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  if (child.stderr === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    const port = /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stderr.resume(); // else it blocks when the pipe is full
    return port;
  }
  throw new Error(`the registry did not start:\n${lines.join('\n')}`);
}

/** Hands out tokens as Docker's registries expect them: to the account for everything, to others for reading. */
async function startTokenService(folder: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  writeFileSync(
    join(folder, 'keys.json'),
    JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' }] }),
  );
  const asked: { scopes: string[]; by: string }[] = [];
  const refreshToken = 'refresh-token-of-test';
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const form = request.method === 'POST' ? new URLSearchParams(body) : url.searchParams;
    const scopes = form.getAll('scope').flatMap((each) => each.split(' '));
    const given = `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}`;
    const by =
      form.get('refresh_token') === refreshToken
        ? 'refresh'
        : request.headers.authorization === given
          ? 'basic'
          : 'nobody';
    if (request.headers.authorization !== undefined && by === 'nobody') {
      response.writeHead(401).end('{}');
      return;
    }
    asked.push({ scopes, by });
    const access = scopes.map((scope) => {
      const [type, name, actions = ''] = scope.split(':');
      return { type, name, actions: actions.split(',').filter((action) => by !== 'nobody' || action === 'pull') };
    });
    const now = Math.floor(systemClock.now() / 1000);
    const claims = { iss: 'test', aud: 'registry', sub: by, exp: now + 300, nbf: now - 60, iat: now, access };
    const parts = [{ alg: 'ES256', typ: 'JWT', kid }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signature = sign('sha256', Buffer.from(parts.join('.')), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    const token = `${parts.join('.')}.${signature.toString('base64url')}`;
    response.end(JSON.stringify(request.method === 'POST' ? { access_token: token } : { token }));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  // Not by its number: crane refuses token services in private networks.
  const realm = `http://localhost:${(server.address() as AddressInfo).port}/token`;
  return { asked, server, config: { realm, service: 'registry', issuer: 'test', jwks: join(folder, 'keys.json') } };
}
