import { CommandError, exitCodes } from '../command/command-error.js';

/** The number of an option that takes a port, 0 for any. */
export function portOf(option: string, text: string): number {
  return numberOf(option, text, 65_535);
}

/** The number of an option, from 0 up. */
export function numberOf(option: string, text: string, most = 99_999): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= most) return number;
  const range = most === 65_535 ? 'a port, 0 to 65535' : 'a number ≥ 0';
  throw new CommandError(`${option} must be ${range}, got "${text}"`, { exitCode: exitCodes.usage });
}
