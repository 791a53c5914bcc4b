import type { BasePackage } from './base-packages.js';
import type { BundledPackage } from './bundled-package.js';

/** What {@link cyclonedxSbom} takes. */
export interface SbomOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly packages: readonly BundledPackage[];
  /** The base image and what is installed in it. @default left out */
  readonly base?: { readonly name: string; readonly digest: string; readonly packages: readonly BasePackage[] };
  /** Seconds since the epoch. @default left out, so that the same packages give the same bytes */
  readonly created?: number;
}

/**
 * A software bill of materials in CycloneDX 1.6: the operator, the packages that are in its bundle, and those of the base image. A file in the image
 * named `*.cdx.json` is what Trivy and Syft look for; there it has part in the image's digest and signature, and goes
 * wherever the image goes, through tar archives and registries that know no referrers.
 */
export function cyclonedxSbom({ name, version, description, packages, base, created }: SbomOptions): string {
  const root = purl(name, version);
  const byName = new Map<string, string[]>();
  for (const each of packages) byName.set(each.name, [...(byName.get(each.name) ?? []), purl(each.name, each.version)]);
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      ...(created !== undefined && { timestamp: new Date(created * 1000).toISOString() }),
      tools: { components: [{ type: 'application', name: 'riata image' }] },
      component: { 'bom-ref': root, type: 'application', name, version, description },
    },
    components: [...packages.map(component), ...(base === undefined ? [] : baseComponents(base))],
    dependencies: [
      {
        ref: root,
        dependsOn: [
          ...packages.map((each) => purl(each.name, each.version)),
          ...(base === undefined ? [] : [base.digest]),
        ],
      },
      ...(base === undefined ? [] : [{ ref: base.digest, dependsOn: base.packages.map((each) => each.purl) }]),
      ...packages.map((each) => ({
        ref: purl(each.name, each.version),
        dependsOn: [...new Set(each.dependencies.flatMap((dependency) => byName.get(dependency) ?? []))].sort(),
      })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function component({ name, version, license, description, homepage }: BundledPackage) {
  const [group, short] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const id = purl(name, version);
  return {
    'bom-ref': id,
    type: 'library',
    ...(group !== undefined && { group }),
    name: short,
    version,
    ...(description !== undefined && { description }),
    scope: 'required',
    ...(license !== undefined && { licenses: [licenseChoice(license)] }),
    purl: id,
    ...(homepage !== undefined && { externalReferences: [{ type: 'website', url: homepage }] }),
  };
}

function baseComponents({ name, digest, packages }: NonNullable<SbomOptions['base']>) {
  return [
    { 'bom-ref': digest, type: 'container', name, version: digest },
    ...packages.map((each) => ({
      'bom-ref': each.purl,
      type: 'library',
      ...{ name: each.name, version: each.version },
      ...(each.license !== undefined && { licenses: [licenseChoice(each.license)] }),
      purl: each.purl,
    })),
  ];
}

/** `SEE LICENSE IN …` and the like are no SPDX expressions. */
function licenseChoice(license: string) {
  const isExpression = /^[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*$|^\([\w.+\- ()]+\)$/.test(license);
  return isExpression && license !== 'UNLICENSED' ? { expression: license } : { license: { name: license } };
}

/** A package URL: `pkg:npm/%40scope/name@1.2.3`. */
function purl(name: string, version: string): string {
  return `pkg:npm/${name.split('/').map(encodeURIComponent).join('/')}@${encodeURIComponent(version)}`;
}
