import { dirname } from 'node:path';
import type { LayerFiles } from '../oci/layer.js';
import { bundleOperator } from './bundle-operator.js';
import type { BundledPackage } from './bundled-package.js';
import { findMainModule } from './find-main-module.js';
import { cyclonedxSbom } from './sbom.js';
import { thirdPartyLicenses } from './third-party-licenses.js';

/** What {@link appFiles} takes. */
export interface AppFilesOptions {
  /** The path of `riata.config.ts`. */
  readonly configFile: string;
  readonly conditions?: readonly string[];
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Time in the bill of materials, in seconds since the epoch. @default none */
  readonly created?: number;
}

/** The files of an operator's image. */
export interface AppFiles {
  /** By names such as `main.mjs`. */
  readonly files: LayerFiles;
  readonly packages: readonly BundledPackage[];
}

/** Bundles an operator, and adds the licenses and the bill of materials of the packages in the bundle. */
export async function appFiles(options: AppFilesOptions): Promise<AppFiles> {
  const { configFile, conditions = [], name, version, description, created } = options;
  const main = await findMainModule(configFile, conditions);
  const bundle = await bundleOperator({ folder: dirname(configFile), main, conditions });
  const { packages } = bundle;
  const sbom = cyclonedxSbom({ name, version, description, packages, ...(created !== undefined && { created }) });
  const texts: [string, string | Uint8Array][] = [
    ...bundle.files,
    ['package.json', `${JSON.stringify({ name, version, type: 'module', private: true }, null, 2)}\n`],
    ['THIRD-PARTY-LICENSES.txt', thirdPartyLicenses(packages)],
    ['sbom.cdx.json', sbom],
  ];
  return { files: new Map(texts.map(([path, content]) => [path, Buffer.from(content)])), packages };
}
