import { createClient } from 'riata';
import { Namespace } from 'riata/kinds';
import { type MemoryLogger, memoryLogger, seededRandom, VirtualClock } from 'riata/runtime';
import { afterEach, beforeEach, expect } from 'vitest';
import type { ControlledServer } from '../../behaviour/controlled-server.js';
import { ApiServer } from '../api-server.js';

/** A new embedded server for each test, on a virtual clock. Fails the test if a controller of the server fails. */
export function embeddedServer(): () => ControlledServer {
  let server: ApiServer | undefined;
  let controlled: ControlledServer | undefined;
  let log: MemoryLogger;
  beforeEach(async () => {
    const clock = new VirtualClock();
    log = memoryLogger();
    server = await ApiServer.start({ clock, log, random: seededRandom('controllers') });
    controlled = controlledServer(server, clock, log);
  });
  afterEach(async () => {
    await server?.stop();
    expect(log.records.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });
  return () => controlled!;
}

function controlledServer(server: ApiServer, clock: VirtualClock, log: MemoryLogger): ControlledServer {
  const client = createClient(server.config, { runtime: { clock, log } });
  return {
    client,
    async newNamespace() {
      return (await client.create(Namespace({ metadata: { generateName: 't-' } }))).metadata.name;
    },
    async until(what, probe) {
      await server.idle();
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      throw new Error(`the server has nothing left to do, but it is not so that ${what}`);
    },
    calm: () => server.idle(),
  };
}
