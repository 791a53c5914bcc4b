import type { EphemeralContainer } from '../../kinds/generated/groups/core/v1.js';
import { type CallOptions, callOptionNames } from '../options.js';
import type { Input } from './exec-options.js';
import { ExecSession } from './exec-session.js';

/** Options of `client.debug`. */
export interface DebugOptions extends CallOptions {
  /** The image of the debug container. */
  readonly image: string;
  /** The container whose processes it sees, where the node supports that. @default none */
  readonly target?: string;
  /** What it runs. @default the image's own */
  readonly command?: readonly string[];
  /** Its name. One that exists already with the same fields is attached to. @default `debugger-` and five characters */
  readonly name?: string;
  /** As with `client.exec`. @default none */
  readonly stdin?: Input | boolean;
  /** @default false */
  readonly tty?: boolean;
  /** More fields of the container, such as `env` or `securityContext`. */
  readonly container?: Omit<Partial<EphemeralContainer>, 'name' | 'image' | 'command' | 'stdin' | 'tty'>;
}

export const debugOptionNames = callOptionNames.and<DebugOptions>({
  image: true,
  target: true,
  command: true,
  name: true,
  stdin: true,
  tty: true,
  container: true,
});

/** An attached debug container. Disposing it ends the connection; the container stays in the Pod until that is gone. */
export class DebugSession extends ExecSession {
  /** The name of the container, for `client.exec` and `client.logs`. */
  readonly container: string;

  constructor(container: string, ...rest: ConstructorParameters<typeof ExecSession>) {
    super(...rest);
    this.container = container;
  }
}
