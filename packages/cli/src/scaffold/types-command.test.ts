import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient, defineKind } from 'riata';
import { crdsToYaml, installCrds } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runIn } from '../command/command-io.fixture.js';
import { makeProject } from '../config/project.fixture.js';

const kind = (name: string, group: string) =>
  defineKind({ group, version: 'v1', kind: name, spec: z.object({ size: z.int().default(1) }) });
const Shop = kind('Shop', 'shops.example.com');
const Cart = kind('Cart', 'shops.example.com');
const Tenant = kind('Tenant', 'tenants.example.com');

const project = async () =>
  makeProject({
    'crds/shops.yaml': await crdsToYaml([Shop, Cart]),
    'crds/more/tenant.yml': await crdsToYaml([Tenant]),
  });

test('modules for groups, from files and folders; a check finds what is stale', async () => {
  using made = await project();
  const { folder } = made;
  const types = (...args: string[]) => runIn(folder, ['types', ...args]);
  const written = await types('crds');
  expect(written).toEqual({
    code: 0,
    out: 'src/kinds/shops.example.com.ts: created (Cart, Shop)\nsrc/kinds/tenants.example.com.ts: created (Tenant)',
    notes: '',
  });
  const text = readFileSync(join(folder, 'src/kinds/shops.example.com.ts'), 'utf8');
  expect(text).toContain("export const Shop: Kind<Shop, ShopWrite, 'Namespaced'> = makeKind({");

  expect(await types('crds', '--check')).toMatchObject({ code: 0, notes: '' });
  writeFileSync(join(folder, 'src/kinds/shops.example.com.ts'), `${text}\n`);
  expect(await types('crds', '--check', '--group', 'shops.example.com')).toEqual({
    code: 3,
    out: 'src/kinds/shops.example.com.ts: stale (Cart, Shop)',
    notes: 'riata: types are stale; run riata types with the same arguments, without --check',
  });
  const { out } = await types('crds/shops.yaml', '--json');
  expect(JSON.parse(out)).toEqual({
    files: [{ path: 'src/kinds/shops.example.com.ts', kinds: ['Cart', 'Shop'], state: 'changed' }],
  });
  expect(readFileSync(join(folder, 'src/kinds/shops.example.com.ts'), 'utf8')).toBe(text);
});

test('one module, or standard output', async () => {
  using made = await project();
  expect(await runIn(made.folder, ['types', 'crds', '--output', 'kinds.ts'])).toMatchObject({
    out: 'kinds.ts: created (Cart, Shop, Tenant)',
  });
  const { out } = await runIn(made.folder, ['types', 'crds/more/tenant.yml', '--output', '-']);
  expect(out).toContain('export interface Tenant {');
});

test('from a URL and from a cluster', async () => {
  using made = makeProject({});
  const yaml = await crdsToYaml([Tenant]);
  const web = createServer((request, response) => {
    response.statusCode = request.url === '/crds.yaml' ? 200 : 404;
    response.end(yaml);
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  try {
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    expect(await runIn(made.folder, ['types', `${url}/crds.yaml`])).toMatchObject({
      out: 'src/kinds/tenants.example.com.ts: created (Tenant)',
    });
    expect(await runIn(made.folder, ['types', `${url}/none`])).toMatchObject({
      code: 1,
      notes: `riata: ${url}/none: the server answered 404 Not Found`,
    });
  } finally {
    web.close();
  }

  await using server = await ApiServer.start({ log: silentLogger });
  const { url, ca } = await server.listen({ port: 0 });
  const kubeconfig = join(made.folder, 'kubeconfig');
  writeFileSync(kubeconfig, adminKubeconfig({ url, ca, token: server.token }), { mode: 0o600 });
  await using client = createClient(server.config, { runtime: { log: silentLogger } });
  await installCrds(client, [Shop, Tenant]);
  const group = ['--group', 'shops.example.com'];
  expect(await runIn(made.folder, ['types', '--kubeconfig', kubeconfig, ...group])).toEqual({
    ...{ code: 0, notes: '' },
    out: 'src/kinds/shops.example.com.ts: created (Shop)',
  });
});

test('refusals name the remedy', async () => {
  using made = await project();
  const { folder } = made;
  const types = async (...args: string[]) => {
    const { code, notes } = await runIn(folder, ['types', ...args]);
    return [code, notes];
  };
  const give = 'give files, folders or URLs, or the cluster to read: --context or --kubeconfig';
  expect(await types()).toEqual([2, `riata: ${give}`]);
  expect(await types('none.yaml')).toEqual([1, 'riata: none.yaml: not found']);
  expect(await types('crds', '--group', 'a.dev')).toEqual([
    1,
    'riata: no CustomResourceDefinition of group a.dev; there are: shops.example.com, tenants.example.com',
  ]);
  writeFileSync(join(folder, 'empty.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n');
  expect(await types('empty.yaml')).toEqual([1, 'riata: empty.yaml: has no CustomResourceDefinition']);
  writeFileSync(join(folder, 'other.yaml'), (await crdsToYaml([Shop])).replace('size', 'length'));
  expect(await types('crds', 'other.yaml')).toEqual([
    1,
    'riata: shops.shops.example.com differs between crds and other.yaml; give one of them',
  ]);
  writeFileSync(
    join(folder, 'bad.yaml'),
    (await crdsToYaml([Shop])).replace('group: shops.example.com', 'group: ../../x'),
  );
  expect((await types('bad.yaml'))[1]).toContain('group "../../x" is invalid');
  mkdirSync(join(folder, 'src/kinds'), { recursive: true });
  writeFileSync(join(folder, 'src/kinds/shops.example.com.ts'), '// mine');
  expect(await types('crds')).toEqual([
    1,
    'riata: src/kinds/shops.example.com.ts was not generated by riata types; give another --output, or remove it',
  ]);
});
