import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, loadAuthority } from 'riata/runtime';
import { TokenSigner } from '../../authentication/token-signer.js';
import { newAuthority } from '../../server-authority.js';
import { newToken, type ServerIdentity } from '../../server-identity.js';
import { DataDirectoryError, ioProblem } from './data-directory-error.js';
import { replaceFile } from './replace-file.js';

/** Long, since kubeconfigs trust the authority for as long as the data is used. */
const authorityDays = 3650;

/**
 * The identity of the server whose data is in a directory,in files that only the owner can read: `ca.crt`, `ca.key`,
 * `service-account.key`, `admin-token`. Creates missing files. Throws a {@link DataDirectoryError}.
 */
export async function identityIn(directory: string): Promise<ServerIdentity> {
  const path = join(directory, 'identity');
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const token = await fileOf(join(path, 'admin-token'), () => `${newToken()}\n`);
    if (!/^[!-~]{16,}\n$/.test(token)) throw damaged(join(path, 'admin-token'), 'the administrator gets a new token');
    return { token: token.trim(), authority: await authorityIn(path), signer: await signerIn(path) };
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(`${path}: ${ioProblem(error)}`, { cause: error });
  }
}

async function authorityIn(path: string): Promise<Authority> {
  const [certPath, keyPath] = [join(path, 'ca.crt'), join(path, 'ca.key')];
  let made: Authority | undefined;
  const fresh = () => {
    made ??= newAuthority(authorityDays);
    return made;
  };
  const key = await fileOf(keyPath, () => fresh().key);
  const cert = await fileOf(certPath, () => fresh().cert);
  try {
    return loadAuthority({ cert, key });
  } catch (error) {
    throw damaged(`${certPath} and ca.key`, 'clients have to trust a new authority', error);
  }
}

async function signerIn(path: string): Promise<TokenSigner> {
  const keyPath = join(path, 'service-account.key');
  const signer = new TokenSigner(await fileOf(keyPath, () => TokenSigner.newKey()));
  try {
    signer.publicKey();
    return signer;
  } catch (error) {
    throw damaged(keyPath, 'tokens of ServiceAccounts become invalid', error);
  }
}

async function fileOf(path: string, make: () => string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const content = make();
    await replaceFile(path, content);
    return content;
  }
}

function damaged(files: string, consequence: string, cause?: unknown): DataDirectoryError {
  const message = `${files}: damaged; restore from a backup, or delete to get new ones (${consequence})`;
  return new DataDirectoryError(message, { cause });
}
