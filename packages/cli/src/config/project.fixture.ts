import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

/** A project on disk, in which the packages of this repository are found; removed when it is disposed. */
export function makeProject(files: Readonly<Record<string, string>>): { readonly folder: string } & Disposable {
  mkdirSync(root, { recursive: true });
  const folder = mkdtempSync(join(root, 'cli-project-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The conditions by which projects in this repository find the source of its packages. */
export const conditions = process.env.RIATA_PACKED === 'true' ? [] : ['riata-source'];

/** An operator for Sites, of three files and a package.json. */
export const siteOperator: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'site-operator',
    version: '1.2.3',
    type: 'module',
    description: 'Runs sites.',
  }),
  'riata.config.ts': `import { operator } from '@riata/cli';

export default operator({
  name: 'site-operator',
  image: 'registry.example.com/site-operator',
  run: () => import('./src/main.js'),
});
`,
  'src/main.ts': `import { isMain, run } from 'riata';
import { sites } from './sites.js';

export const definitions = [sites];

if (isMain(import.meta.url)) await run(...definitions);
`,
  'src/site.ts': `import { defineKind, type KindOf } from 'riata';
import { z } from 'zod';

/** A web site. */
export const Site = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
});
export interface Site extends KindOf<typeof Site> {}
`,
  'src/sites.ts': `import { control } from 'riata';
import { Deployment } from 'riata/kinds';
import { Site } from './site.js';

/** Runs a Deployment for each Site. */
export const sites = control(Site)
  .owns(Deployment)
  .reconcile(async ({ object: site, apply, status }) => {
    const { name } = site.metadata;
    const labels = { site: name };
    const deployment = await apply(
      Deployment({
        metadata: { name, labels },
        spec: {
          replicas: site.spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } },
        },
      }),
    );
    await status({ availableReplicas: deployment.status?.availableReplicas ?? 0 });
  });
`,
};
