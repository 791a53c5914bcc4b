import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A browser whose pages keep what went wrong on them. */
export class WatchedBrowser implements AsyncDisposable {
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Errors in the console, thrown errors, and requests to other hosts. */
  readonly problems: string[] = [];

  static async start(): Promise<WatchedBrowser> {
    const executablePath = process.env.CHROMIUM;
    const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(60_000);
    return new WatchedBrowser(browser, context);
  }

  private constructor(browser: Browser, context: BrowserContext) {
    this.browser = browser;
    this.context = context;
  }

  async open(url: string, path: string, on: BrowserContext = this.context): Promise<Page> {
    const page = await on.newPage();
    page.on('console', (message) => message.type() === 'error' && this.problems.push(message.text()));
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(url) && !asked.startsWith('data:')) this.problems.push(asked);
    });
    await page.goto(`${url}/${path}`);
    return page;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.browser.close();
  }
}

/** What axe-core finds; by the debugger, as the policy of the page lets no other script in. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    type Found = { violations: { id: string; nodes: { html: string }[] }[] };
    const found = await (globalThis as unknown as { axe: { run(): Promise<Found> } }).axe.run();
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}

/** The address of an object's page. */
export function objectPath(kind: { apiVersion: string; kind: string }, namespace: string, name: string): string {
  return `#/object?${new URLSearchParams({ apiVersion: kind.apiVersion, kind: kind.kind, namespace, name })}`;
}
