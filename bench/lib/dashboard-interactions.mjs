import { chromium } from 'playwright-core';

/** Debian's. */
export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * Opens a dashboard in a browser and uses it: types into the filter of a list, scrolls it, presses keys, opens pages.
 * @param {string} url
 * @param {string} kind `apiVersion=v1&kind=ConfigMap`
 * @returns {Promise<{ durations: number[], longestTaskMs: number }>} how long each took until the page was drawn again, in
 * ms, by the browser's own event timing
 */
export async function useDashboard(url, kind) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${url}/#/search?q=&${kind}`);
    await page.locator('.virtual-row').first().waitFor();
    await page.evaluate(() => {
      globalThis.interactions = new Map();
      globalThis.longest = 0;
      // Shorter ones than 16 ms are not reported: they count as such.
      new PerformanceObserver((list) => {
        for (const { interactionId, startTime, duration } of list.getEntries()) {
          if (!interactionId) continue;
          const known = globalThis.interactions.get(interactionId)?.duration ?? 0;
          globalThis.interactions.set(interactionId, { startTime, duration: Math.max(known, duration) });
        }
      }).observe({ type: 'event', durationThreshold: 16 });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
      }).observe({ type: 'longtask' });
    });
    let count = 0;
    const press = async (key) => {
      await page.keyboard.press(key);
      count += 1;
    };
    await page.locator('main input').click();
    for (const key of '04999') await press(key);
    for (let turn = 0; turn < 5; turn += 1) await press('Backspace');
    await press('Escape');
    await page.locator('.virtual').focus();
    for (const key of ['PageDown', 'End', 'Home', 'PageDown', 'PageDown']) await press(key);
    for (const key of ['o', 'c', 'j', 'o', 'c', 'w', 'l', 'o']) await press(key);
    await page.goto(`${url}/#/controller/maps`);
    await page.locator('.virtual-row').first().waitFor();
    await page.locator('.virtual').focus();
    for (const key of ['PageDown', 'PageDown', 'End', 'Home', 'j', 'j', 'k']) await press(key);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    const [seen, longestTaskMs] = await page.evaluate(() => [
      [...globalThis.interactions.values()].map(({ duration }) => duration),
      globalThis.longest,
    ]);
    const quick = Array.from({ length: Math.max(0, count - seen.length) }, () => 16);
    return { durations: [...seen, ...quick].sort((a, b) => a - b), longestTaskMs };
  } finally {
    await browser.close();
  }
}
