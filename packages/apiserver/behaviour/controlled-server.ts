import type { ConnectedClient } from 'riata/client';
import { systemClock, systemRandom } from 'riata/runtime';

/** A server together with what kube-controller-manager does: the embedded one, or the real pair. */
export interface ControlledServer {
  readonly client: ConnectedClient;
  /** Makes an empty namespace for one test. */
  newNamespace(): Promise<string>;
  /** The first answer that is neither undefined nor false; an error if it does not come. */
  until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T>;
  /** Resolves when the controllers have dealt with all that was written so far. */
  calm(): Promise<void>;
}

/** Asks again and again, for at most 100 seconds, in real time. */
export async function poll<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = systemClock.monotonic() + 100_000;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (systemClock.monotonic() > deadline) throw new Error(`waited in vain until ${what}`);
    await systemClock.sleep(50);
  }
}

/** A name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
}
