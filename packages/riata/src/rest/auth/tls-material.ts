import type { TlsMaterial } from '../config/rest-config.js';

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** Material that prints without its content; its fields still spread into TLS options. Undefined ones are left out. */
export function tlsMaterial(fields: TlsMaterial): TlsMaterial {
  const material = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const shown = () => Object.fromEntries(Object.keys(material).map((name) => [name, '[redacted]']));
  Object.defineProperty(material, inspectCustom, { value: shown });
  Object.defineProperty(material, 'toJSON', { value: shown });
  return Object.freeze(material);
}
