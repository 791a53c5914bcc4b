import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isTransportError } from 'riata/rest';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { type LoadedConfig, loadProjectConfig } from '../config/load-operator.js';
import { type AppFiles, appFiles } from './app/app-files.js';
import { basePackages } from './app/base-packages.js';
import { cyclonedxSbom } from './app/sbom.js';
import { loadBaseImage } from './base-image.js';
import { dockerfile } from './dockerfile.js';
import type { ImageCommandOptions } from './image-command.js';
import type { Image } from './oci/image.js';
import { type Layer, layerOf } from './oci/layer.js';
import { platformName } from './oci/oci-types.js';
import { writeLayoutArchive, writeLayoutFolder } from './oci/write-layout.js';
import { operatorImage } from './operator-image.js';
import { httpExchange } from './registry/http-exchange.js';
import { formatImageReference, type ImageReference, parseImageReference } from './registry/image-reference.js';
import { type BlobPush, pushImage } from './registry/push-image.js';
import { RegistryClient } from './registry/registry-client.js';
import { dockerCredentials } from './registry/registry-credentials.js';
import { RegistryError } from './registry/registry-error.js';

/** What `riata image --json` prints. */
export interface ImageResult {
  /** By digest: what a Deployment should name. */
  readonly image: string;
  readonly digest: string;
  readonly tags: readonly string[];
  readonly platforms: readonly string[];
  /** Of the operator's layer, in bytes. */
  readonly layerSize: number;
  readonly packages: readonly {
    readonly name: string;
    readonly version: string;
    readonly license: string | undefined;
  }[];
  readonly pushed: boolean;
  readonly output?: string;
}

/** The work of `riata image`. */
export async function runImage(io: CommandIo, options: ImageCommandOptions): Promise<void> {
  try {
    await makeImage(io, options);
  } catch (error) {
    if (isTransportError(error) && !io.signal.aborted) throw new CommandError(unreachable(error), { cause: error });
    const isExplained = error instanceof Error && (error.constructor === Error || error instanceof RegistryError);
    throw isExplained && !io.signal.aborted ? new CommandError(error.message, { cause: error }) : error;
  }
}

/** The message of a failed connection. Its own remedy is about API servers. */
function unreachable({ message }: Error): string {
  const [, url = '', problem = message] = /^\w+ (\S+?): ([^;]*)/.exec(message) ?? [];
  const host = URL.canParse(url) ? new URL(url).host : 'of the image';
  return `registry ${host}: ${problem}; check the name of the image and the network; a proxy is taken from HTTPS_PROXY, a base without a registry from --base oci:PATH`;
}

async function makeImage(io: CommandIo, options: ImageCommandOptions): Promise<void> {
  const project = await loadProjectConfig(io, options);
  const identity = identityOf(project);
  const labels = { ...identity.labels, ...givenLabels(options.label ?? []) };
  if (options.dockerfile) return io.out(dockerfile({ base: options.base, labels }));
  const names = namesOf(options, project.config.image, identity.version);
  const created = sourceDate(io.env.SOURCE_DATE_EPOCH);
  const { conditions = [] } = options;
  const app = await appFiles({
    ...{ configFile: project.path, conditions, name: identity.name, version: identity.version },
    description: identity.description,
    ...(created !== undefined && { created }),
  });
  io.note(`bundled ${identity.name} ${identity.version} with ${app.packages.length} packages`);
  if (options.bundle !== undefined) await writeBundle(resolve(io.cwd, options.bundle), app);
  if (!options.push && options.output === undefined) return;
  await using http = httpExchange({ clock: io.runtime.clock, env: io.env });
  const credentials = dockerCredentials({ env: io.env, signal: io.signal });
  const clients = new Map<string, RegistryClient>();
  const clientOf = (registry: string): RegistryClient => {
    const client =
      clients.get(registry) ?? new RegistryClient(registry, { http, credentials, clock: io.runtime.clock });
    clients.set(registry, client);
    return client;
  };
  const { platform } = options;
  const base = await loadBaseImage(options.base, {
    ...{ cwd: io.cwd, signal: io.signal, clientOf },
    ...(platform && { platforms: platform.flatMap((each) => each.split(',')) }),
  });
  const pinned = base.reference?.digest === undefined ? `${base.name}@${base.digest}` : base.name;
  io.note(`base ${pinned} (${base.platforms.map((each) => platformName(each.platform)).join(', ')})`);
  const files = new Map(app.files);
  if (options.basePackages) {
    const { packages, unread } = await basePackages(base, io.signal);
    for (const reason of unread) io.note(`packages of the base are missing in the bill of materials: ${reason}`);
    const { name, version, description } = identity;
    const sbom = cyclonedxSbom({
      ...{ name, version, description, packages: app.packages },
      base: { name: base.reference === undefined ? 'base' : base.name, digest: base.digest, packages },
      ...(created !== undefined && { created }),
    });
    files.set('sbom.cdx.json', Buffer.from(sbom));
  }
  const layer = layerOf(new Map([...files].map(([path, content]) => [`app/${path}`, content])), created ?? 0);
  io.note(`layer ${kilobytes(layer)} compressed`);
  const image = operatorImage({
    ...{ base, layer, main: '/app/main.mjs', labels, created: created ?? 0 },
    ...(options.node !== undefined && { node: options.node }),
  });
  const { repository } = names;
  if (options.output !== undefined)
    await write(
      io,
      options.output,
      image,
      names.tags.map((tag) => formatImageReference({ ...repository, tag })),
    );
  if (options.push) {
    const isSame = base.reference?.registry === repository.registry;
    await push(io, clientOf(repository.registry), image, names, isSame ? base.reference?.repository : undefined);
  }
  report(io, options, image, names, layer, app);
}

interface ImageNames {
  readonly repository: ImageReference;
  readonly tags: readonly string[];
}

function namesOf(options: ImageCommandOptions, configured: string, version: string): ImageNames {
  const repository = parseImageReference(options.image ?? configured);
  if (repository.tag ?? repository.digest) {
    throw new CommandError(`image "${options.image}": must be a repository; give the tag by --tag`);
  }
  // A version such as 1.2.0+build is no tag.
  const tags = options.tag ?? [version.replaceAll('+', '_')];
  for (const tag of tags) parseImageReference(formatImageReference({ ...repository, tag }));
  return { repository, tags };
}

function identityOf({ config, packageJson }: LoadedConfig) {
  const { name } = config;
  const version = config.version ?? packageJson.version ?? '0.0.0';
  const description = config.description ?? packageJson.description ?? `The operator ${name}`;
  const source = repositoryUrl(packageJson.repository);
  const { license } = packageJson;
  const labels: Record<string, string> = {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.description': description,
    ...(source !== undefined && { 'org.opencontainers.image.source': source }),
    ...(typeof license === 'string' && { 'org.opencontainers.image.licenses': license }),
  };
  return { name, version, description, labels };
}

/** `git+https://git.example.com/a/b.git` of package.json as a URL that a browser opens. */
function repositoryUrl(repository: unknown): string | undefined {
  const url = typeof repository === 'string' ? repository : (repository as { url?: unknown } | undefined)?.url;
  if (typeof url !== 'string' || !URL.canParse(url.replace(/^git\+/, ''))) return undefined;
  const parsed = new URL(url.replace(/^git\+/, '').replace(/\.git$/, ''));
  // Some are copied from a remote, with a token in them.
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

function givenLabels(labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    labels.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
}

function sourceDate(value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,10}$/.test(value)) return Number(value);
  throw new CommandError(`SOURCE_DATE_EPOCH must be a number of seconds ≥ 0, got "${value}"`);
}

async function writeBundle(folder: string, { files }: AppFiles): Promise<void> {
  const found = await readdir(folder).catch((): string[] => []);
  if (found.length > 0 && !found.includes('sbom.cdx.json')) {
    throw new CommandError(`${folder}: the folder holds files that are not a bundle; choose another one`);
  }
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function write(io: CommandIo, output: string, image: Image, names: readonly string[]): Promise<void> {
  const path = resolve(io.cwd, output);
  const writeTo = output.endsWith('.tar') ? writeLayoutArchive : writeLayoutFolder;
  await writeTo(path, image, { names, signal: io.signal });
  io.note(`wrote ${output}`);
}

async function push(
  io: CommandIo,
  client: RegistryClient,
  image: Image,
  { repository, tags }: ImageNames,
  mountFrom: string | undefined,
): Promise<void> {
  const counts: Record<BlobPush, number> = { present: 0, mounted: 0, uploaded: 0 };
  await pushImage(client, image, {
    ...{ repository: repository.repository, tags, signal: io.signal },
    ...(mountFrom !== undefined && { mountFrom }),
    onBlob: (_, how) => {
      counts[how] += 1;
    },
  });
  io.note(`pushed: ${counts.uploaded} blobs uploaded, ${counts.mounted} mounted, ${counts.present} present already`);
}

function report(
  io: CommandIo,
  options: ImageCommandOptions,
  image: Image,
  names: ImageNames,
  layer: Layer,
  app: AppFiles,
): void {
  const { digest } = image.root;
  const result: ImageResult = {
    image: formatImageReference({ ...names.repository, digest }),
    ...{ digest, tags: names.tags },
    platforms: image.platforms.map(({ platform }) => platformName(platform)),
    layerSize: layer.descriptor.size,
    packages: app.packages.map(({ name, version, license }) => ({ name, version, license })),
    pushed: options.push ?? false,
    ...(options.output !== undefined && { output: options.output }),
  };
  io.out(options.json ? JSON.stringify(result, null, 2) : result.image);
}

function kilobytes({ descriptor }: Layer): string {
  return `${Math.ceil(descriptor.size / 1024)} KiB`;
}
