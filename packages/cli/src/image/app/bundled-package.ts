import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package that has code in a bundle. */
export interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** As package.json has it: an SPDX expression, mostly. */
  readonly license: string | undefined;
  readonly description: string | undefined;
  readonly homepage: string | undefined;
  /** Names of the packages that it needs. */
  readonly dependencies: readonly string[];
  /** Whether it has compiled code, which no bundle can hold. */
  readonly isNative: boolean;
}

/** The package that a file belongs to: that of the nearest package.json with a name. */
export function packageOf(file: string): BundledPackage | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = readPackage(folder);
    if (found !== undefined) return found;
    if (dirname(folder) === folder) return undefined;
  }
}

/** The texts of a package's license and notice files, by file name. */
export function licenseTexts({ folder }: BundledPackage): [name: string, text: string][] {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying|copyright)/i.test(name));
  return names
    .sort()
    .filter((name) => !/\.(?:[cm]?[jt]s|json)$/.test(name))
    .flatMap((name): [string, string][] => {
      try {
        return [[name, readFileSync(join(folder, name), 'utf8')]];
      } catch {
        return []; // a folder
      }
    });
}

function readPackage(folder: string): BundledPackage | undefined {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return undefined;
  const json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const { name, version } = json;
  if (typeof name !== 'string') return undefined; // such as { "type": "module" } in a folder of a package
  const dependencies = [json.dependencies, json.peerDependencies, json.optionalDependencies].flatMap(namesOf);
  const compilers = ['node-gyp-build', 'bindings', 'prebuild-install', '@mapbox/node-pre-gyp', 'node-addon-api'];
  return {
    ...{ folder, name, version: typeof version === 'string' ? version : '0.0.0' },
    license: licenseOf(json.license ?? json.licenses),
    description: text(json.description),
    homepage: text(json.homepage),
    dependencies: [...new Set(dependencies)].sort(),
    isNative:
      json.gypfile === true ||
      existsSync(join(folder, 'binding.gyp')) ||
      dependencies.some((each) => compilers.includes(each)),
  };
}

function licenseOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(licenseOf).filter(Boolean).join(' OR ') || undefined;
  return text(value) ?? text((value as { type?: unknown } | undefined)?.type);
}

function namesOf(dependencies: unknown): string[] {
  return typeof dependencies === 'object' && dependencies !== null ? Object.keys(dependencies) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
