import { thrownAt } from '../../runtime/log/user-frame.js';

/** Where an error of user code was thrown, as `rules.ts:41`: for answers, which leave the folders of the program out. */
export function placeOf(error: unknown): string | undefined {
  return /([^\\/(]+:\d+):\d+\)?$/.exec(thrownAt(error) ?? '')?.[1];
}
