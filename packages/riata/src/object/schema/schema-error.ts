const brand: unique symbol = Symbol.for('riata.SchemaError');

/** One thing that a schema says and a CustomResourceDefinition cannot, or a name that is not one. */
export interface SchemaProblem {
  /** Where: `spec.ports[].name`, `spec.labels.*` for the values of a map, or the option's name. */
  readonly path: string;
  /** The problem, and the remedy. */
  readonly message: string;
}

/** A kind could not be defined. All problems found are listed, each with its path. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly problems: readonly SchemaProblem[];
  readonly [brand] = true;

  constructor(subject: string, problems: readonly SchemaProblem[]) {
    const lines = problems.map(({ path, message }) => `${path}: ${message}`);
    super(
      lines.length === 1 ? `${subject}: ${lines[0]}` : `${subject}:\n${lines.map((line) => `- ${line}`).join('\n')}`,
    );
    this.problems = Object.freeze([...problems]);
  }
}

/** True for a {@link SchemaError}, whichever copy of the library threw it. */
export function isSchemaError(error: unknown): error is SchemaError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** Collects problems, each once. */
export class Problems {
  readonly #list: SchemaProblem[] = [];

  get count(): number {
    return this.#list.length;
  }

  add(path: string, message: string): void {
    if (!this.#list.some((known) => known.path === path && known.message === message)) {
      this.#list.push({ path, message });
    }
  }

  /** True when something was said about this path or a field below it. */
  concern(path: string): boolean {
    return this.#list.some(
      (known) => known.path === path || known.path.startsWith(`${path}.`) || known.path.startsWith(`${path}[`),
    );
  }

  /** Forgets all but the first `count`. */
  rewind(count: number): void {
    this.#list.length = count;
  }

  list(): readonly SchemaProblem[] {
    return [...this.#list];
  }
}

/** The text for a value that may be of several types. */
export function differentTypes(types: readonly string[]): string {
  const number = types.includes('number') && types.includes('string');
  return (
    `may be ${types.join(' or ')}, and a structural schema has one type per field; ` +
    (number ? 'only an integer can be mixed with a string' : 'split it into several fields') +
    ", or take anything with 'x-kubernetes-preserve-unknown-fields': true"
  );
}
