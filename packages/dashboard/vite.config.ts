import { defineConfig } from 'vite';

/** Builds the page to static files: one script, one style sheet, no inline code, no request to another host. */
export default defineConfig({
  root: new URL('./src/page', import.meta.url).pathname,
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: new URL('./dist/site', import.meta.url).pathname,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
