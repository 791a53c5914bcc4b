/** Words that YAML 1.1 takes for something else than a string. */
const words = /^(?:y|n|yes|no|on|off|true|false|null|~)$/i;

/** A scalar, or an empty list or map, as YAML on one line: without quotes where no reader could take it for anything else. */
export function plainYaml(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^[A-Za-z][\w./-]*$/.test(value) && !words.test(value) ? value : JSON.stringify(value);
}
