import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { goTool } from '../../../../../tools/go-tools/go-tool.mjs';
import { tinyBase } from '../base-image.fixture.js';
import { loadBaseImage } from '../base-image.js';
import { operatorImage } from '../operator-image.js';
import { layerOf } from './layer.js';
import { openLayout } from './read-layout.js';
import { writeLayoutArchive, writeLayoutFolder } from './write-layout.js';

// Empty without Go.
const [check = '', crane = ''] = [await goTool('oci-check'), await goTool('crane')];
const folder = mkdtempSync(join(tmpdir(), 'riata-layout-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const names = ['registry.example.com/site-operator:1.2.0', 'registry.example.com/site-operator:latest'];
const options = {
  cwd: folder,
  clientOf: () => {
    throw new Error('no registry is asked');
  },
};

async function build(platforms?: readonly string[]) {
  const path = join(folder, 'base');
  await writeLayoutFolder(path, tinyBase(), { names: [] });
  const base = await loadBaseImage('./base', { ...options, ...(platforms && { platforms }) });
  const layer = layerOf(new Map([['app/main.mjs', Buffer.from('await 1;')]]), 0);
  return operatorImage({
    base,
    layer,
    main: '/app/main.mjs',
    labels: { 'org.opencontainers.image.title': 'x' },
    created: 0,
  });
}

describe('an image layout', () => {
  test.skipIf(check === '' || crane === '')('is valid by the schemas of the specification, and to crane', async () => {
    const image = await build();
    const path = join(folder, 'image');
    await writeLayoutFolder(path, image, { names });
    execFileSync(check, [path]);
    const archive = join(folder, 'image.tar');
    await writeLayoutArchive(archive, image, { names });
    execFileSync(crane, ['validate', '--tarball', archive]);
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xf', archive, '-C', unpacked]);
    execFileSync(check, [unpacked]);
    // What docker load reads.
    const [saved] = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
    expect(saved.RepoTags).toEqual(names);
    const config = JSON.parse(readFileSync(join(unpacked, saved.Config), 'utf8'));
    expect(config.architecture).toBe('amd64');
    expect(saved.Layers.every((layer: string) => existsSync(join(unpacked, layer)))).toBe(true);
  });

  test('has the same bytes on each run', async () => {
    const [a, b] = [join(folder, 'a.tar'), join(folder, 'b.tar')];
    await writeLayoutArchive(a, await build(), { names });
    await writeLayoutArchive(b, await build(), { names });
    expect(readFileSync(a).equals(readFileSync(b))).toBe(true);
  });

  test('keeps what the base says, except what an operator needs', async () => {
    const [amd, arm, ...more] = (await build()).platforms;
    expect(more).toEqual([]);
    expect(arm?.platform).toEqual({ os: 'linux', architecture: 'arm64' });
    expect(amd?.manifest.layers).toHaveLength(2);
    expect(amd?.manifest.layers[1]).toEqual(arm?.manifest.layers[1]);
    expect(amd?.config).toMatchObject({
      architecture: 'amd64',
      created: '1970-01-01T00:00:00Z',
      config: {
        User: '65532:65532',
        Entrypoint: ['/nodejs/bin/node', '--enable-source-maps', '/app/main.mjs'],
        Env: ['PATH=/bin', 'NODE_ENV=production'],
        Labels: { vendor: 'tiny', 'org.opencontainers.image.title': 'x' },
        WorkingDir: '/app',
      },
    });
    expect(amd?.config.config).not.toHaveProperty('Cmd');
    expect(amd?.config.history?.map((each) => each.created_by)).toEqual(['COPY / /', 'riata image']);
    expect(amd?.manifest.annotations).toMatchObject({ 'org.opencontainers.image.title': 'x' });
  });

  test('of one platform has no index', async () => {
    const image = await build(['linux/arm64']);
    expect(image.root.mediaType).toBe('application/vnd.oci.image.manifest.v1+json');
    expect(image.platforms).toHaveLength(1);
    expect((await build(['all'])).platforms).toHaveLength(3);
  });

  test('as a base: names what is missing', async () => {
    await expect(build(['linux/riscv64'])).rejects.toThrow(
      'base image "./base": platform "linux/riscv64" not found; it has linux/amd64, linux/arm64, linux/s390x',
    );
    await expect(loadBaseImage('./nowhere', options)).rejects.toThrow(
      `base image "./nowhere": ${join(folder, 'nowhere')} not found`,
    );
    mkdirSync(join(folder, 'empty'));
    await expect(openLayout(join(folder, 'empty'))).rejects.toThrow(
      'not an OCI image layout: oci-layout or index.json is missing',
    );
  });

  test('is taken from an archive as well, and a corrupt blob is refused', async () => {
    const image = await build();
    const archive = join(folder, 'archive.tar');
    await writeLayoutArchive(archive, image, { names });
    const again = await loadBaseImage(`oci:${archive}`, options);
    expect(again.digest).toBe(image.root.digest);
    const bytes = readFileSync(archive);
    const layer = image.platforms[0]?.manifest.layers[1];
    if (layer === undefined) throw new Error('no layer');
    const read = async () => {
      for await (const _ of (await openLayout(archive)).read(layer));
    };
    await read();
    const at = bytes.indexOf(Buffer.from([0x1f, 0x8b, 0x08]));
    bytes[at + 20] = (bytes[at + 20] as number) ^ 1;
    bytes[bytes.lastIndexOf(Buffer.from([0x1f, 0x8b, 0x08])) + 20] = 0x55;
    writeFileSync(archive, bytes);
    await expect(read()).rejects.toThrow(`blob ${layer.digest} is corrupt: its content has the digest sha256:`);
  });

  test('never replaces a folder of other files', async () => {
    const path = join(folder, 'photos');
    mkdirSync(path);
    writeFileSync(join(path, 'me.jpg'), '');
    await expect(writeLayoutFolder(path, await build(), { names })).rejects.toThrow(
      `${path}: the folder holds files that are not an image layout; choose another one`,
    );
    expect(existsSync(join(path, 'me.jpg'))).toBe(true);
  });
});
