import { readFileSync } from 'node:fs';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { configFromKubeconfig, control, createClient, defineKind, loadConfig, Manager } from 'riata';
import { Pod } from 'riata/kinds';
import { memoryLogger } from 'riata/runtime';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

/** The parts of the messages that the page shows, each row's first code span cut at its dots. */
const shown = [
  ...readFileSync(new URL('../troubleshooting.md', import.meta.url), 'utf8').matchAll(/^\| `([^`]+)`/gm),
].map(([, text = '']) => text.split('…').map((part) => part.trim()));

/** Fails unless some row of the page begins with what the message says. */
function expectShown(message: string): void {
  const known = shown.filter((parts) => parts.every((part) => message.includes(part)));
  expect(known.length, message).toBeGreaterThan(0);
}

const failure = async (promise: Promise<unknown>) => String(await promise.catch((error: Error) => error.message));

test('configurations that lead nowhere', async () => {
  expectShown(await failure(loadConfig({ env: {}, homeDir: '/nowhere' })));
  const kubeconfig = JSON.parse(adminKubeconfig({ url: 'http://127.0.0.1:1', token: 'x', ca: undefined }));
  const wrong = { ...kubeconfig, 'current-context': 'prod' };
  const message = await failure((async () => configFromKubeconfig(JSON.stringify(wrong)))());
  expectShown(message);
  await using client = createClient(await configFromKubeconfig(JSON.stringify(kubeconfig)));
  expectShown(await failure(client.list(Pod)));
});

test('credentials, ports and kinds that are missing', async () => {
  await using server = await ApiServer.start();
  const { url, ca } = await server.listen();
  const config = await configFromKubeconfig(adminKubeconfig({ url, ca, token: 'expired' }));
  await using client = createClient(config);
  expectShown(await failure(client.list(Pod)));

  const log = memoryLogger();
  const Absent = defineKind({ group: 'absent.riata.dev', version: 'v1', kind: 'Absent', spec: z.object({}) });
  await using manager = new Manager({ config: server.config, runtime: { log } });
  manager.add(control(Absent).reconcile(() => {}));
  const stop = new AbortController();
  const ended = manager.run({ signal: stop.signal });
  const refusal = () => log.records.find(({ level, fields }) => level === 'error' && fields.error !== undefined);
  await vi.waitFor(() => expect(refusal()).toBeDefined(), 45_000);
  expectShown(String(refusal()?.fields.error));
  stop.abort();
  await ended;

  const port = Number(new URL(url).port);
  expectShown(await failure(server.listen({ port })));
  await using second = new Manager({ config: server.config, health: { host: '127.0.0.1', port }, runtime: { log } });
  const exit = await second.run({ signal: new AbortController().signal });
  expect(exit.reason).not.toBe('stopped');
  expectShown(String('error' in exit && (exit.error as Error).message));
});
