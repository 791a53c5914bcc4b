import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The first line of what the compiler says of each line of a program that has a `// line` behind it. */
function firstLines(program: string): string[] {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'compile-errors-'));
  try {
    writeFileSync(join(folder, 'main.ts'), program);
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true },
      include: ['main.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8', stdio: 'pipe' });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return stdout.split('\n').flatMap((line) => /main\.ts\(\d+,\d+\): error (.*)/.exec(line)?.[1] ?? []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('compile errors name the kind and what is missing in their first line', () => {
  const lines = firstLines(`
    import { createClient, control, defineKind, type KindOf } from 'riata';
    import { ConfigMap } from 'riata/kinds';
    import { z } from 'zod';
    const schema = z.object({ image: z.string(), ports: z.array(z.object({ name: z.string(), port: z.int() })) });
    const site = defineKind({ group: 'x.dev', version: 'v1', kind: 'Site', spec: schema });
    export interface Site extends KindOf<typeof site> {}
    export const Site = site.named<Site>();
    const client = createClient({ server: 'https://localhost' });
    export const found: number = await client.get(Site, { namespace: 'a', name: 'b' });
    export const sites = control(Site).reconcile(({ object }) => void object.nope);
    export const wrong: number = sites;
    await client.create(Site({ metadata: { name: 'b' }, spec: { image: 'x', ports: [] } }));
    await client.create(ConfigMap({ metadata: { name: 'b' } }));
    await client.apply(ConfigMap({ metadata: { namespace: 'a', name: 'b' } }), { force: true });
    await client.get(site, { name: 'b' });
  `);
  expect(lines).toEqual([
    "TS2322: Type 'Site' is not assignable to type 'number'.",
    "TS2339: Property 'nope' does not exist on type 'Site'.",
    "TS2322: Type 'ControllerDefinition<Site>' is not assignable to type 'number'.",
    expect.stringMatching(
      /^TS2345: Argument of type 'New<Site, .*' is not assignable to parameter of type 'NamespaceRequired & /,
    ),
    expect.stringMatching(
      /^TS2345: Argument of type 'New<ConfigMap, .*' is not assignable to parameter of type 'NamespaceRequired & /,
    ),
    "TS2345: Argument of type '{ force: true; }' is not assignable to parameter of type '{ force: true; } & FieldManagerRequired'.",
    "TS2741: Property 'namespace' is missing in type '{ name: string; }' but required in type '{ readonly namespace: string; readonly name: string; }'.",
  ]);
  expect(lines.join()).not.toMatch(/Zod/);
});
