import { type BundledPackage, licenseTexts } from './bundled-package.js';

const line = '='.repeat(80);

/** The licenses of all packages in a bundle, with their texts: what most of them ask for in return. */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const parts = packages.map((each) => {
    const { name, version, license = 'unknown', homepage } = each;
    const texts = licenseTexts(each).map(([, text]) => text.replaceAll('\r\n', '\n').trim());
    const body = texts.length === 0 ? 'The package has no license file.' : texts.join(`\n\n${'-'.repeat(80)}\n\n`);
    return `${line}\n${name} ${version}\nLicense: ${license}\n${homepage ? `${homepage}\n` : ''}${line}\n\n${body}\n`;
  });
  return `Packages in this image and their licenses\n\n${parts.join('\n')}`;
}
