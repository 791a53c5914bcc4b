import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runIn } from '../command/command-io.fixture.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { doctorCommand } from './doctor-command.js';

const commands = [doctorCommand];
let server: ApiServer;
let project: ReturnType<typeof makeProject>;
let args: readonly string[] = [];
beforeAll(async () => {
  server = await ApiServer.start();
  const { url, ca } = await server.listen({ port: 0 });
  project = makeProject(siteOperator);
  const path = join(project.folder, 'kubeconfig');
  writeFileSync(path, adminKubeconfig({ url, token: server.token, ca }));
  args = ['doctor', '--kubeconfig', path];
});
afterAll(async () => {
  project[Symbol.dispose]();
  await server.stop();
});

test('without a project, the cluster alone', async () => {
  const { code, out, notes } = await runIn('/', args, { commands });
  expect(code).toBe(0);
  expect(out).toMatch(/^connection\n {2}✓ https:.*\nidentity\n {2}✓ you are /);
  expect(out).toMatch(/\n0 problems, 0 warnings$/);
  expect(notes).toBe('no riata.config.ts here: only the cluster was checked');
});

test('a project that is not deployed', async () => {
  const { code, out, notes } = await runIn(project.folder, [...args, '--conditions', ...conditions], { commands });
  expect({ code, notes }).toEqual({ code: 3, notes: '' });
  expect(out).toContain('  ✗ sites.sites.example.com is missing\n    → apply what riata manifests writes');
  expect(out).toContain('  ! Deployment site-operator/site-operator not found');
  expect(out).toMatch(/\n1 problem, \d warnings$/);
});

test('JSON', async () => {
  const { code, out } = await runIn(project.folder, [...args, '--json', '--conditions', ...conditions], { commands });
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    ...{ operator: 'site-operator', problems: 1 },
    checks: expect.arrayContaining([{ check: 'identity', findings: [{ level: 'ok', text: expect.any(String) }] }]),
  });
});

test('a kubeconfig that is not there', async () => {
  const { code, notes } = await runIn('/', ['doctor', '--kubeconfig', '/nowhere'], { commands });
  expect(code).toBe(1);
  expect(notes).toContain('/nowhere');
});
