import { describe, expect, test } from 'vitest';
import { toyServer } from '../toy-server.fixture.js';

const { ask } = toyServer();
const text = async (path: string) => (await ask({ path })).text;

describe.each(['/healthz', '/livez', '/readyz'])('%s', (path) => {
  test('names each check when asked to', async () => {
    const report = await text(`${path}?verbose`);
    expect(report).toContain('[+]poststarthook/rbac/bootstrap-roles ok\n');
    expect(report.endsWith(`${path.slice(1)} check passed\n`)).toBe(true);
  });

  test('reports which checks were excluded, and which excluded names match no check', async () => {
    const report = await text(`${path}?verbose&exclude=etcd&exclude=nope&exclude=none`);
    expect(report).toContain('[+]etcd excluded: ok\n');
    expect(report).toContain('warn: some health checks cannot be excluded: no matches for "none","nope"\n');
  });

  test('answers for one check', async () => {
    expect(await text(`${path}/ping`)).toBe('ok');
    expect(await text(`${path}/poststarthook/rbac/bootstrap-roles`)).toBe('ok');
    expect((await ask({ path: `${path}/poststarthook` })).status).toBe(404);
    expect((await ask({ path: `${path}/` })).status).toBe(404);
  });
});

test('readiness is more than health', async () => {
  expect(await text('/readyz/shutdown')).toBe('ok');
  expect((await ask({ path: '/livez/shutdown' })).status).toBe(404);
});
