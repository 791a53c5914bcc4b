import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { goTool } from '../../../tools/go-tools/go-tool.mjs';
import { exampleNames, exampleOperator } from '../behaviour/example-operators.js';
import { resolveOperator } from '../src/config/resolve-operator.js';
import { fullOptions, siteConfig, siteRules, sites } from '../src/manifests/site-operator.fixture.js';
import { bundleFiles } from '../src/olm/bundle-files.js';

const folder = mkdtempSync(join(tmpdir(), 'riata-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));
let tool: string;
beforeAll(async () => {
  const built = await goTool('bundle-check');
  if (built === undefined) throw new Error('Go is missing: it builds bundle-check');
  tool = built;
});

async function write(name: string, config: ReturnType<typeof siteConfig>): Promise<string> {
  const project = {
    author: 'Ann <ann@example.com>',
    keywords: ['sites'],
    homepage: 'https://example.com',
  };
  const { files } = await bundleFiles(await resolveOperator(config), {
    ...{ channels: ['stable'], defaultChannel: 'stable', project },
  });
  const path = join(folder, name);
  for (const file of files) {
    mkdirSync(dirname(join(path, file.path)), { recursive: true });
    writeFileSync(join(path, file.path), file.text);
  }
  return path;
}

/**
 * An icon is the author's own. Rules name no version: Events of the group events.k8s.io, and HorizontalPodAutoscalers, are taken
 * for those of versions that were removed. They are named in any order.
 */
const accepted = [
  /csv\.Spec\.Icon not specified/,
  /Migrate the API\(s\) for (?:(?:events|horizontalpodautoscalers): \(\[(?:"[^"]*" ?)+\]\),?)+$/,
];
const findings = (path: string) => spawnSync(tool, [path], { encoding: 'utf8' });

test.each([...exampleNames, 'site-operator'] as const)("OLM's own validators accept the bundle of %s", async (name) => {
  const config =
    name === 'site-operator'
      ? siteConfig({ definitions: [sites, siteRules], options: fullOptions })
      : exampleOperator(name);
  const { status, stdout } = findings(await write(name, config));
  const lines = stdout.split('\n').filter((line) => line !== '' && !accepted.some((each) => each.test(line)));
  expect({ status, lines }).toEqual({ status: 0, lines: [] });
});

test('what is wrong would be found', async () => {
  const path = await write('broken', siteConfig());
  rmSync(join(path, 'manifests/sites.sites.example.com.crd.yaml'));
  expect(() => execFileSync(tool, [path], { encoding: 'utf8', stdio: 'pipe' })).toThrow(
    expect.objectContaining({ status: 1, stdout: expect.stringMatching(/^error: .*Site/m) }),
  );
});
