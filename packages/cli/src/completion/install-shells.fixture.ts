import { installPrograms } from '../../../../tools/install-programs.mjs';

/** Installs the shells whose completion is tested, in CI. Elsewhere tests skip a shell that is missing. */
export function setup(): void {
  if (process.env.CI) installPrograms({ zsh: ['zsh'], fish: ['fish'] });
}
