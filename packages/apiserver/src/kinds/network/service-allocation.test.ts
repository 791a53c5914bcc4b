import type { JsonObject, KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import { compileDefaults } from '../defaults-table.js';
import type { PrepareContext } from '../kind-rules.js';
import { serviceRules } from './service.js';

/** What a server would do with Services, one after the other. */
class Services {
  readonly #all = new Map<string, JsonObject>();

  write(name: string, spec: JsonObject, dryRun = false): JsonObject {
    const before = this.#all.get(name);
    const { defaults = {} } = serviceRules;
    const fill = typeof defaults === 'function' ? defaults : compileDefaults(defaults);
    const object = fill({ metadata: { name, namespace: 'n' }, spec, status: { loadBalancer: {} } });
    const made = serviceRules.prepare?.(object, before, this.#context(dryRun)) ?? object;
    expect(serviceRules.validate?.(made, before, '')).toEqual([]);
    if (!dryRun) this.#all.set(name, made);
    return made.spec as JsonObject;
  }

  delete(name: string): void {
    this.#all.delete(name);
  }

  #context(dryRun: boolean): PrepareContext {
    const objects = () => [...this.#all.values()] as unknown as KubeObject[];
    return { now: '2026-01-02T03:04:05Z', subresource: '', dryRun, warn: () => {}, objects };
  }
}

const ports = [{ name: 'a', port: 80 }];

test('each Service has an address of its own, and keeps it', () => {
  const services = new Services();
  const a = services.write('a', { ports });
  const b = services.write('b', { ports });
  expect(a.clusterIP).not.toBe(b.clusterIP);
  expect(services.write('a', { ports, selector: { x: 'y' } }).clusterIP).toBe(a.clusterIP);
});

test('ports of the nodes are kept by name when others come and go', () => {
  const services = new Services();
  const nodePorts = (spec: JsonObject) => (spec.ports as { name: string; nodePort: number }[]).map((p) => p.nodePort);
  const [first] = nodePorts(services.write('a', { type: 'NodePort', ports }));
  const [added, kept] = nodePorts(
    services.write('a', { type: 'NodePort', ports: [{ name: 'b', port: 81 }, ...ports] }),
  );
  expect(kept).toBe(first);
  expect(added).not.toBe(first);
  expect(nodePorts(services.write('b', { type: 'NodePort', ports }))).not.toContain(first);
});

test('what is released can be had again', () => {
  const services = new Services();
  const { clusterIP } = services.write('a', { ports });
  expect(() => services.write('b', { ports, clusterIP })).toThrow('provided IP is already allocated');
  services.delete('a');
  expect(services.write('b', { ports, clusterIP }).clusterIPs).toEqual([clusterIP]);
});

test('an exhausted range is an error; headless Services need no address', () => {
  const services = new Services();
  const given = Array.from({ length: 254 }, (_, i) => services.write(`s${i}`, { ports }).clusterIP);
  expect(new Set(given).size).toBe(254);
  expect(() => services.write('one-more', { ports })).toThrow('range is full');
  expect(services.write('headless', { ports, clusterIP: 'None' }).clusterIPs).toEqual(['None']);
});

test('a dry run takes nothing', () => {
  const services = new Services();
  expect(services.write('a', { type: 'NodePort', ports }, true)).toMatchObject({
    clusterIP: '10.0.0.0',
    ports: [{ nodePort: 32_769 }],
  });
});
