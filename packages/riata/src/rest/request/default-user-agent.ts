import { version } from '../../version.js';

/** What Riata calls itself unless told otherwise (`rest.DefaultKubernetesUserAgent`): `riata/0.1.0 (linux/x64)`. */
export function defaultUserAgent(): string {
  return `riata/${version} (${process.platform}/${process.arch})`;
}
