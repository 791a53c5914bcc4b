import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ProcessClock } from '../election/election.fixture.js';
import { RingServer } from './shard.fixture.js';
import { type ShardChange, ShardRing } from './shard-ring.js';
import type { ShardRingOptions } from './shard-ring-options.js';

/** A ring's server, and replicas that are made as needed. */
export function ringWorld() {
  const base = new VirtualClock();
  const server = new RingServer(base);
  const join = (identity: string, options: Partial<ShardRingOptions> = {}) => {
    const clock = new ProcessClock(base);
    const ring = new ShardRing({
      ...{ client: server.client(identity, clock), namespace: 'shop', name: 'carts', identity },
      ...options,
      runtime: { clock, random: seededRandom(identity), log: silentLogger, ...options.runtime },
    });
    const changes: ShardChange[] = [];
    ring.onChange((change) => void changes.push(change));
    const [stop, abandon] = [new AbortController(), new AbortController()];
    const ended = ring.run({ signal: stop.signal, abandon: abandon.signal });
    return { ring, clock, changes, ended, stop, abandon };
  };
  return { base, server, join };
}
