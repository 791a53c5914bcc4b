import { createRequire } from 'node:module';
import type { DashboardOptions } from 'riata/manager';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { Operator } from '../config/resolve-operator.js';
import { freePort } from './free-port.js';
import { portOf } from './number-option.js';
import { openBrowser } from './open-browser.js';

/** Options of `riata dev` about the dashboard. */
export interface DevDashboardOptions {
  /** False: none. @default true */
  readonly dashboard?: boolean;
  readonly dashboardPort?: string;
  /** Opens a browser. */
  readonly open?: boolean;
}

const host = '127.0.0.1';
/** The one of `dashboard: true`, so that a page that is open finds the next `riata dev`. */
const usualPort = 8082;

/** The dashboard of the operator that is developed: on this machine alone, at one address as long as `riata dev` runs. */
export class DevDashboard {
  readonly #io: CommandIo;
  readonly #options: DevDashboardOptions;
  #port: number | undefined;

  private constructor(io: CommandIo, options: DevDashboardOptions) {
    this.#io = io;
    this.#options = options;
  }

  /** Undefined if it is turned off, or not installed, which is reported. Rejects if its port is taken. */
  static async of(
    io: CommandIo,
    options: DevDashboardOptions,
    isInstalled: () => boolean = isDashboardInstalled,
  ): Promise<DevDashboard | undefined> {
    if (options.dashboard === false) return undefined;
    if (!isInstalled()) {
      io.note('no dashboard: npm install --save-dev @riata/dashboard (or --no-dashboard)');
      return undefined;
    }
    const dashboard = new DevDashboard(io, options);
    if (options.dashboardPort !== undefined) dashboard.#port = await givenPort(options.dashboardPort);
    return dashboard;
  }

  /** For the manager of an operator. Who may look, and by which certificate, is about clusters: that is left out. */
  async optionFor({ options: { dashboard, health, metrics } }: Operator): Promise<DashboardOptions> {
    this.#port ??= await anyPort([health?.port, metrics?.port]);
    const actions = typeof dashboard === 'object' ? dashboard.actions : undefined;
    return { host, port: this.#port, ...(actions !== undefined && { actions }) };
  }

  /** Shows where it is, once it is served. */
  show(): void {
    if (this.#port === undefined) return;
    const url = `http://${host}:${this.#port}`;
    this.#io.out(`dashboard ${url}`);
    if (this.#options.open) openBrowser(this.#io, url);
  }
}

/** Whether `riata` finds the package: its manager loads it. */
function isDashboardInstalled(): boolean {
  try {
    const riata = createRequire(import.meta.url).resolve('riata/package.json');
    createRequire(riata).resolve('@riata/dashboard/package.json');
    return true;
  } catch {
    return false;
  }
}

async function givenPort(text: string): Promise<number> {
  const port = portOf('--dashboard-port', text);
  try {
    return await freePort({ port, host });
  } catch (error) {
    throw new CommandError(
      `--dashboard-port ${port} cannot be used: ${(error as Error).message}; give another one, or 0`,
      { exitCode: exitCodes.failed, cause: error },
    );
  }
}

async function anyPort(taken: readonly (number | undefined)[]): Promise<number> {
  if (!taken.includes(usualPort)) {
    const usual = await freePort({ port: usualPort, host }).catch(() => undefined);
    if (usual !== undefined) return usual;
  }
  return freePort({ host });
}
