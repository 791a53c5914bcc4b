// @ts-check
import { readFileSync } from 'node:fs';
import { issueCertificate } from './x509.mjs';

/**
 * A client certificate that the API server takes for `user` in `groups`.
 * @param {{ clientCaFile: string, clientCaKeyFile: string }} files
 * @param {string} user
 * @param {string[]} [groups]
 * @param {{ notBefore?: Date, notAfter?: Date }} [validity] Default: a day from now.
 */
export function clientCertificate(files, user, groups = [], validity = {}) {
  const issuer = { cert: readFileSync(files.clientCaFile, 'utf8'), key: readFileSync(files.clientCaKeyFile, 'utf8') };
  return issueCertificate({ commonName: user, organizations: groups, usages: ['client'], issuer, ...validity });
}
